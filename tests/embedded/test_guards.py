"""For which targets the preprocessor keeps a block."""

from __future__ import annotations

import pytest

from ptx_lsp.embedded.document import HostDocument
from ptx_lsp.embedded.guards import Guards
from ptx_lsp.embedded.languages import language_named
from ptx_lsp.text import Source


def guard(text: str) -> tuple[str, str]:
    """Of sm_80, sm_90, sm_90a and sm_100f, the certain and the possible targets of `@`."""
    found = Guards(text.encode()).at(text.index("@"))
    names = ("sm_80", "sm_90", "sm_90a", "sm_100f")
    if found is None:
        return "all", "all"
    certain = " ".join(name for name in names if name in found.certain)
    return certain, " ".join(name for name in names if name in found.possible)


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ("__CUDA_ARCH__ >= 900", "sm_90 sm_90a sm_100f"),
        ("defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 900)", "sm_80"),
        ("!(__CUDA_ARCH__ / 100 == 9) || 0", "sm_80 sm_100f"),
        ("__CUDA_ARCH_FEAT_SM90_ALL", "sm_90a"),
        ("defined __CUDA_ARCH_FAMILY_SPECIFIC__", "sm_90a sm_100f"),
        ("__CUDA_ARCH_SPECIFIC__ == 900", "sm_90a"),
        ("__CUDA_ARCH__ == 0x384 // comment", "sm_90 sm_90a"),
        ("(__CUDA_ARCH__ \\\n >= 1000)", "sm_100f"),
        ("1 << 2 == 4 && -1 < ~-1", "all"),
        ("defined(__HIP__)", ""),
    ],
)
def test_conditions(condition: str, kept: str) -> None:
    assert guard(f"#if {condition}\n@\n#endif") == (kept, kept)


@pytest.mark.parametrize(
    "condition", ["ENABLED", "defined(ENABLED)", "VERSION(12, 3)", "(", "a ? b : c", ""]
)
def test_unknown(condition: str) -> None:
    assert guard(f"#if {condition}\n@\n#endif") == ("", "sm_80 sm_90 sm_90a sm_100f")


def test_unknown_and_known() -> None:
    assert guard("#if defined(X) && __CUDA_ARCH__ >= 900\n@") == ("", "sm_90 sm_90a sm_100f")
    assert guard("#if defined(X) || __CUDA_ARCH__ >= 1000\n@") == (
        "sm_100f",
        "sm_80 sm_90 sm_90a sm_100f",
    )


def test_branches() -> None:
    branches = (
        "#if __CUDA_ARCH__ >= 1000\n{}\n#elif __CUDA_ARCH__ >= 900\n{}\n#else\n{}\n#endif\n{}"
    )
    found = [
        guard(branches.format(*("@" if number == at else "" for number in range(4))))
        for at in range(4)
    ]
    assert [certain for certain, _ in found] == ["sm_100f", "sm_90 sm_90a", "sm_80", "all"]


def test_nested() -> None:
    text = "#if __CUDA_ARCH__ >= 900\n#ifdef __HIP__\n#else\n@\n#endif\n#endif"
    assert guard(text)[0] == "sm_90 sm_90a sm_100f"


def test_host_only() -> None:
    assert guard("#ifndef __CUDA_ARCH__\n@\n#endif") == ("", "")


def test_include_guard() -> None:
    assert guard("#ifndef A_H\n#define A_H\n@\n#endif") == ("all", "all")


def test_unbalanced() -> None:
    assert guard("#endif\n#else\n@") == ("all", "all")


def test_not_directives() -> None:
    in_comment = '/*\n#if 0\n*/ asm("mov.u32 %%0, %%laneid;" : "=r"(x));'
    in_string = 'auto x = R"(\n#if 0\n)"; asm("mov.u32 %%0, %%laneid;" : "=r"(x));'
    for text in (in_comment, in_string):
        (block,) = HostDocument(Source.of(text), language_named("cuda")).blocks
        assert block.guard is None


@pytest.mark.parametrize("comment", ["// a /* b", "/* a\n#endif */", "// a \\\n#endif"])
def test_comments_behind_conditions(comment: str) -> None:
    kept = ("sm_90 sm_90a sm_100f",) * 2
    assert guard(f"#if __CUDA_ARCH__ >= 900 {comment}\n@\n#endif\n/* c */") == kept
    assert guard(f"#if __CUDA_ARCH__ >= 900 {comment}\n#endif\n/* c */@") == ("all", "all")


@pytest.mark.parametrize(
    "condition", ["X >= 08", "9" * 5000, "!" * 5000 + "1", "(" * 5000, "-" * 5000 + "(" * 5000]
)
def test_hostile_conditions(condition: str) -> None:
    assert guard(f"#if {condition}\n@\n#endif")[1] == "sm_80 sm_90 sm_90a sm_100f"


def test_many_parentheses() -> None:
    condition = " && ".join(["(__CUDA_ARCH__ >= 900)"] * 100)
    assert guard(f"#if {condition}\n@\n#endif")[0] == "sm_90 sm_90a sm_100f"
