"""Findings: seeded kernels are caught at the line, their fixed twins and the whole kernels are silent."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from ptx_lsp import ptxas
from ptx_lsp.executor import ExecutionError, Finding, launch
from ptx_lsp.executor.launching.launch_comment import LaunchComment, launch_comments
from ptx_lsp.executor.launching.object_specs import argument
from ptx_lsp.model.module import Module

SEEDED = Path(__file__).parents[1] / "seeded"
_EXPECTED = re.compile(r"// finding: ([\w.\- ]+)$")


def seeded() -> list[tuple[Path, LaunchComment]]:
    return [
        (path, one)
        for path in sorted(SEEDED.glob("*.ptx"))
        for one in launch_comments(Module.parse(path.read_text(encoding="utf-8")))
    ]


def findings(path: Path, comment: LaunchComment, seed: int = 0) -> tuple[Finding, ...]:
    assert comment.problem == ""
    try:
        return launch(
            path, entry=comment.entry, grid=comment.grid, block=comment.block, check=True,
            args=[argument(spec) for spec in comment.specs], limit=100_000, seed=seed,
        )
    except ExecutionError as error:
        return error.findings


def wanted(path: Path, comment: LaunchComment) -> list[tuple[int, str]]:
    """What the comments of a kernel expect; of a deadlock the line is not told."""
    module = Module.parse(path.read_text(encoding="utf-8"))
    function = module.definitions[comment.entry]
    source = module.document.source
    span = module.span(function.place(function.node))
    first = source.data.count(b"\n", 0, span.start) + 1
    lines = source.data[span.start : span.end].decode().splitlines()
    return sorted(
        (number, kind)
        for number, line in enumerate(lines, first)
        if (found := _EXPECTED.search(line))
        for kind in found[1].split()
    )


@pytest.mark.parametrize(
    ("path", "comment"), seeded(), ids=[f"{path.stem}-{one.entry}" for path, one in seeded()]
)
def test_seeded(path: Path, comment: LaunchComment) -> None:
    found = [(one.line, one.kind) for one in findings(path, comment)]
    if "deadlock" in comment.entry:
        kinds = ["deadlock"] if comment.entry.startswith("broken") else []
        assert [kind for _, kind in found] == kinds
        return
    assert sorted(set(found)) == wanted(path, comment)
    assert bool(found) == comment.entry.startswith("broken")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_fixed_twins_are_silent_in_any_order(seed: int) -> None:
    for path, comment in seeded():
        if comment.entry.startswith("fixed"):
            assert findings(path, comment, seed) == (), (path.stem, comment.entry)


def test_seeded_kernels_are_legal() -> None:
    judge = ptxas.find()
    if judge is None:
        pytest.skip("no ptxas")
    for path in sorted(SEEDED.glob("*.ptx")):
        report = ptxas.judge(path.read_bytes(), ptxas=judge)
        assert report.accepted, (path.name, report.messages)


def finding(text: str, *, block: int = 32) -> Finding:
    found = launch(text, entry="k", grid=2, block=block, args=[np.zeros(64, np.uint32)], check=True)
    assert len(found) == 1
    return found[0]


HEAD = """.version 8.0
.target sm_80
.address_size 64
.file 1 "/src/kernel.cu"
.entry k(.param .u64 out) {
.reg .u64 %rd<4>; .reg .u32 %r<8>; .reg .pred %p<3>;
.shared .align 4 .u32 first[8];
.shared .align 4 .u32 second[64];
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
mov.u32 %r2, first;
mad.lo.u32 %r2, %r1, 4, %r2;
.loc 1 17 3
"""


def test_all_that_a_finding_says() -> None:
    found = finding(HEAD + "st.shared.u32 [%r2], 1;\n.loc 1 18 3\nret;\n}\n")
    assert found.kind == "out-of-bounds"
    assert found.line == 14
    assert found.source == "/src/kernel.cu:17"
    assert found.lanes[0] == ((0, 0, 0), (8, 0, 0))
    assert (len(found.lanes), found.count) == (32, 48)
    assert (found.space, found.address, found.variable) == (".shared", 32, "first")
    assert found.message == "offset 32 is outside `first`, which has 32 bytes, but inside `second`"
    assert found.severity == "error"


def test_the_other_side_of_a_race() -> None:
    body = "mov.u32 %r3, second;\n@%p1 bra away;\nst.shared.u32 [%r3], %r1;\naway: ret;\n}\n"
    text = HEAD.replace(".loc 1 17 3\n", "setp.ne.u32 %p1, %r1, 0;\n") + body
    text = text.replace("away: ret", "away: ld.shared.u32 %r4, [%r3];\nret")
    found = finding(text, block=2)
    assert (found.kind, found.line, found.other_line) == ("race", 17, 16)
    assert found.lanes == (((0, 0, 0), (1, 0, 0)), ((1, 0, 0), (1, 0, 0)))
    assert found.other_lane == ((0, 0, 0), (0, 0, 0))
    assert "`second` at address 0x20, written at line 16 by block (0, 0, 0)" in found.message


RETURNING = """.func returning() {
.reg .u32 %r<2>; .reg .pred %p<2>;
mov.u32 %r1, %tid.x;
setp.gt.u32 %p1, %r1, 20;
@%p1 ret;
bar.sync 0;
ret;
}
"""


@pytest.mark.parametrize(
    ("after", "kinds"), [("ret;", []), ("st.global.u32 [%rd1], 1;\nret;", ["divergent-barrier"])]
)
def test_threads_that_return_from_a_function_have_left_if_the_kernel_does_nothing_more(
    after: str, kinds: list[str]
) -> None:
    text = HEAD.replace(".entry", RETURNING + ".entry") + f"call returning, ();\n{after}\n}}\n"
    args = [np.zeros(1, np.uint32)]
    found = launch(text, entry="k", grid=1, block=32, args=args, check=True)
    assert [one.kind for one in found if one.kind != "race"] == kinds


def test_what_stops_a_kernel_comes_last() -> None:
    body = "add.u32 %r3, %r4, 1;\nst.global.u32 [%rd1+2], %r3;\nret;\n}\n"
    with pytest.raises(ExecutionError) as caught:
        launch(HEAD + body, entry="k", grid=1, block=1, args=[np.zeros(4, np.uint32)], check=True)
    assert [one.kind for one in caught.value.findings] == ["uninitialized-register", "misaligned"]
    assert [one.source for one in caught.value.findings] == ["/src/kernel.cu:17"] * 2


def test_atomics_of_a_block_are_no_atomics_for_others() -> None:
    text = HEAD + "atom.cta.global.add.u32 %r3, [%rd1], 1;\nret;\n}\n"
    assert finding(text, block=1).kind == "race"
    assert launch(
        text.replace(".cta", ".gpu"), entry="k", grid=2, block=1, args=[np.zeros(1, np.uint32)], check=True
    ) == ()


def test_bytes_of_a_word_are_no_race() -> None:
    body = """and.b32 %r3, %r1, 255; cvt.u64.u32 %rd2, %r1; add.u64 %rd2, %rd1, %rd2;
ld.global.u32 %r4, [%rd1+64]; st.global.u8 [%rd2], %r3; bar.sync 0; ld.global.u32 %r5, [%rd1];\nret;\n}\n"""
    args = [np.zeros(64, np.uint32)]
    assert launch(HEAD + body, entry="k", grid=1, block=32, args=args, check=True) == ()


def test_large_launches_know_of_blocks_only() -> None:
    """Past the limit of exact knowledge an order may be taken for granted, but never denied."""
    body = """mov.u32 %r3, %ctaid.x; setp.ne.u32 %p1, %r3, 0; @%p1 bra read;
st.global.u32 [%rd1], 5; st.release.gpu.global.u32 [%rd1+4], 1; ret;
read: ld.acquire.gpu.global.u32 %r4, [%rd1+4]; setp.eq.u32 %p2, %r4, 0; @%p2 bra read;
ld.global.u32 %r5, [%rd1];\nret;\n}\n"""
    args = [np.zeros(64, np.uint32)]
    assert launch(HEAD + body, entry="k", grid=8192, block=1, args=args, check=True) == ()


def test_writes_of_equal_values_are_noted_on_request() -> None:
    """The fixed kernels write the same values; the notes come with the other findings."""
    path = SEEDED / "race_equal.ptx"
    fixed = [one for file, one in seeded() if file == path and one.entry.startswith("fixed")]
    for comment in fixed:
        args = [argument(spec) for spec in comment.specs]
        found = launch(
            path, entry=comment.entry, grid=comment.grid, block=comment.block, args=args, benign=True
        )
        assert {(one.kind, one.severity) for one in found} == {("benign-race", "note")}, comment.entry
    own = launch(HEAD_ALONE, entry="k", grid=1, block=1, args=[np.zeros(4, np.uint32)], benign=True)
    assert own == ()


HEAD_ALONE = """.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out) {
.reg .b64 %rd1;
ld.param.u64 %rd1, [out];
st.global.u32 [%rd1], 5;
st.global.u32 [%rd1], 5;
ret;
}
"""
