"""Memory access, by hand: `memory_access.md` says of each access what must be known."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx_lsp.analyses.divergence.memory_access import WarpAccess, memory_access
from ptx_lsp.analyses.instructions.uses_and_defs import instructions
from ptx_lsp.model.module import Module
from tests.analyses.blocks import HEADER, Block, blocks, line_of
from tests.oracle import corpus

HERE = Path(__file__).parent


@pytest.mark.parametrize("block", blocks(HERE / "memory_access.md"), ids=lambda block: block.title)
def test_what_the_lines_say(block: Block) -> None:
    source = HEADER + block.source
    found: list[str] = []
    for function in Module.parse(source).functions:
        known = memory_access(function)
        for step in instructions(function).instructions:
            line = line_of(function, step.node, source)
            expected = line.partition("//")[2].strip()
            actual = "; ".join(map(_described, known.of_instruction(step.number)))
            if actual != expected:
                found.append(f"{line.strip()}: is {actual}")
    assert not found


def _described(access: WarpAccess) -> str:
    stride = "" if access.stride is None else f" {access.stride}"
    conflict = access.bank_conflict
    if conflict is not None:
        return f"{access.pattern}{stride}, conflict {conflict}"
    cost = "" if access.sectors is None else f", {access.sectors} sectors"
    return f"{access.pattern}{stride}{cost}"


VECTORS = """
.entry kernel(.param .u64 .ptr .align 16 a)
{
  .reg .u64 d;
  .reg .u32 q;
  .reg .f32 f<12>;
  .shared .align 16 .f32 s[64];
  mov.u32 q, s;
  ld.shared.f32 f0, [q+4];
  ld.shared.f32 f1, [q];
  ld.shared.f32 f2, [q+8];
  ld.shared.f32 f3, [q+12];
  ld.param.u64 d, [a];
  st.global.f32 [d+4], f0;
  st.global.f32 [d+8], f1;
  st.global.f32 [d+12], f1;
  bar.sync 0;
  ld.global.f32 f4, [d];
  bar.sync 0;
  ld.global.f32 f5, [d+4];
  ld.volatile.global.f32 f6, [d+16];
  ld.volatile.global.f32 f7, [d+20];
  ld.global.f32 f8, [d+24];
  add.u64 d, d, 4;
  ld.global.f32 f9, [d+24];
}
"""


def test_neighbours() -> None:
    """The four loads are one of 16 bytes; of the stores, those at 8 and 12 are one, whose alignment is not
    known; a barrier, `.volatile` and a new value of the base keep the others apart.
    """
    function = Module.parse(HEADER + VECTORS).functions[0]
    found = [
        ([access.offset for access in one.accesses], one.size, one.is_aligned)
        for one in memory_access(function).neighbours
    ]
    assert found == [([0, 4, 8, 12], 16, True), ([8, 12], 8, False)]


@pytest.mark.parametrize("path", corpus.files(), ids=lambda path: path.name)
def test_real_code(path: Path) -> None:
    """No access costs less than its bytes need, nor more than each lane alone would."""
    for function in Module.parse(path.read_text(errors="replace")).functions:
        for access in memory_access(function).accesses:
            if access.pattern == "unknown":
                assert access.sectors is None
            if access.sectors is not None:
                assert 1 <= access.sectors <= 32 * (access.size // 32 + 2)
            if access.bank_conflict is not None:
                assert 1 <= access.bank_conflict <= 32
