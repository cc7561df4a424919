"""The fixes of `narrow-pointer`, beside the one in its own documentation."""

from __future__ import annotations

import pytest

from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.module import Module

HEAD = ".version 8.5\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p) {\n"


def _fixes(body: str) -> list[tuple[str, str]]:
    """What is replaced by what."""
    module = Module.parse(f"{HEAD}{body}\nret;\n}}\n")
    data = module.document.source.data
    return [
        (data[edit.start : edit.end].decode(), edit.replacement.decode())
        for found in LintSession(module).diagnostics
        if found.rule == "narrow-pointer" and found.fix is not None
        for edit in found.fix.edits
    ]


@pytest.mark.parametrize(
    "body",
    [
        ".reg .b32 %a; .reg .f32 %f; ld.param.u64 %a, [p]; ld.global.f32 %f, [%a+4];",
        ".reg .u32 %a; .reg .b64 %d; cvta.to.global.u64 %a, %d; st.global.u32 [%a], 1;",
        ".reg .s32 %a; .reg .b64 %d; add.s64 %a, %d, 8; st.u32 [%a], 1; st.shared.u32 [%a], 1;",
    ],
)
def test_a_register_that_is_only_declared_too_narrow(body: str) -> None:
    found = _fixes(body)
    assert [new for _, new in found] == [".b64"]
    assert body.startswith(f".reg {found[0][0]} %a;")


@pytest.mark.parametrize(
    "body",
    [
        ".reg .b32 %a<2>; ld.param.u64 %a1, [p]; st.global.u32 [%a1], 1;",  # a range
        ".reg .b32 %a, %b; ld.param.u64 %a, [p]; st.global.u32 [%a], 1;",  # declared with another
        ".reg .b32 %a; mov.u32 %a, %tid.x; st.global.u32 [%a], 1;",  # a number of 32 bits
        ".reg .b32 %a; ld.param.u32 %a, [p]; st.global.u32 [%a], 1;",  # a parameter of 32 bits
        ".reg .b32 %a; .reg .b64 %d; mov.b64 %d, {%a, %a}; st.global.u32 [%a], 1;",
    ],
)
def test_where_the_pointer_is_not_known(body: str) -> None:
    assert _fixes(body) == []


@pytest.mark.parametrize(
    ("body", "fixed"),
    [
        ("cvt.u32.u64 %a, %d; st.global.u32 [%a+4], 1;", True),
        ("cvt.s32.s64 %a, %d; st.global.u32 [%a], 1;", True),
        ("@%p cvt.u32.u64 %a, %d; st.global.u32 [%a], 1;", False),
        ("cvt.u32.u64 %a, %d; add.s32 %a, %a, 4; st.global.u32 [%a], 1;", False),
        ("cvt.u32.u64 %a, %d; add.s64 %d, %d, 8; st.global.u32 [%a], 1;", False),
        ("st.global.u32 [%a], 1; cvt.u32.u64 %a, %d;", False),
    ],
)
def test_a_pointer_cut_off(body: str, fixed: bool) -> None:
    head = ".reg .b32 %a; .reg .b64 %d; .reg .pred %p; setp.eq.b64 %p, 0, 0; ld.param.u64 %d, [p];"
    assert _fixes(f"{head} {body}") == ([("%a", "%d")] if fixed else [])
