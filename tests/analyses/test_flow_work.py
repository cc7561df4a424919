"""How much work the flow analyses do: what a function does not need is not computed."""

from __future__ import annotations

import pytest

from ptx_lsp.analyses._flow import Operands
from ptx_lsp.analyses.control_flow.cfg import STRAIGHT, cfg
from ptx_lsp.analyses.control_flow.dominance import dominance
from ptx_lsp.analyses.dataflow.ambiguous_registers import ambiguous_registers
from ptx_lsp.analyses.dataflow.dead_writes import dead_writes
from ptx_lsp.analyses.dataflow.definite_assignment import uninitialized_reads
from ptx_lsp.analyses.dataflow.phi_placement import phi_placement
from ptx_lsp.analyses.instructions.uses_and_defs import FunctionInstructions
from ptx_lsp.analyses.registers.scheduling import (
    straight_line_regions as straight_line_regions_module,
)
from ptx_lsp.analyses.registers.scheduling.list_scheduling import (
    StraightLineRegion,
    most_registers,
    most_registers_with_hoisting,
)
from ptx_lsp.analyses.registers.scheduling.region_code import RegionCode
from ptx_lsp.analyses.registers.scheduling.straight_line_regions import straight_line_regions
from ptx_lsp.analyses.registers.virtual_registers import VirtualRegisters
from ptx_lsp.analyses.well_formed import is_well_formed
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Source

_HEAD = """.version 8.5
.target sm_90
.address_size 64
.visible .entry kernel(.param .u64 out)
{
    .reg .b32 %r<99>;
    .reg .b64 %rd<9>;
    .reg .pred %p<9>;
"""
_STRAIGHT = """
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    add.s32 %r2, %r1, 1;
    st.global.b32 [%rd1], %r2;
    ret;
}
"""
_LOOP = """
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 0;
again:
    add.s32 %r3, %r1, 1;
    add.s32 %r2, %r2, %r3;
    setp.lt.s32 %p1, %r2, 100;
    @%p1 bra again;
    st.global.b32 [%rd1], %r2;
    ret;
}
"""


def _function(body: str) -> Function:
    return Module(Document.parse(Source((_HEAD + body).encode()))).functions[0]


def test_functions_without_branches_share_one_graph() -> None:
    first, second = _function(_STRAIGHT), _function(_STRAIGHT.replace("add.s32", "sub.s32"))
    assert cfg(first).graph is cfg(second).graph is STRAIGHT
    assert dominance(first) is dominance(second)


def test_only_registers_with_several_definitions_are_ambiguous() -> None:
    function = _function(_LOOP)
    (index,) = ambiguous_registers(function).registers
    assert function.body.registers[0].name + str(index) == "%r2"
    assert phi_placement(function).registers == {1: [index]}
    assert not ambiguous_registers(_function(_STRAIGHT)).registers


@pytest.mark.parametrize("body", [_STRAIGHT, _LOOP])
def test_no_object_is_made_for_an_instruction(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def counted(_: FunctionInstructions, number: int) -> None:
        made.append(number)

    monkeypatch.setattr(FunctionInstructions, "info", counted)
    function = _function(body)
    assert is_well_formed(function)
    assert not dead_writes(function)
    assert not uninitialized_reads(function)
    assert not made


def test_regions_that_cannot_decide_are_not_scheduled(monkeypatch: pytest.MonkeyPatch) -> None:
    small = "".join(f"    add.s32 %r1, %r1, 1;\nlabel{n}:\n" for n in range(20))
    large = "".join(f"    ld.global.b32 %r{n}, [%rd1+{4 * n}];\n" for n in range(2, 30))
    large += "".join(f"    add.s32 %r1, %r1, %r{n};\n" for n in range(2, 30))
    head = "    ld.param.u64 %rd1, [out];\n    mov.u32 %r1, %tid.x;\n"
    function = _function(head + small + large + "    st.global.b32 [%rd1], %r1;\n    ret;\n}\n")
    lowered: list[int] = []
    lower = straight_line_regions_module.region_code

    def noted(left: VirtualRegisters, operands: Operands, live_out: frozenset[int]) -> RegionCode:
        lowered.extend(operands.numbers)
        return lower(left, operands, live_out)

    monkeypatch.setattr(straight_line_regions_module, "region_code", noted)
    regions = straight_line_regions(function)
    assert len(regions) == 22
    assert not lowered
    scheduled: list[StraightLineRegion] = []
    profile = StraightLineRegion.min_registers

    def counted(region: StraightLineRegion, elsewhere: bytes) -> int:
        scheduled.append(region)
        return profile(region, elsewhere)

    monkeypatch.setattr(StraightLineRegion, "min_registers", counted)
    least = most_registers(regions, b"")
    assert most_registers_with_hoisting(regions, 20, b"", least) >= least
    assert len({id(one) for one in scheduled}) == 1
    assert len(lowered) == len(scheduled[0].code.operands.numbers)
    monkeypatch.undo()
    assert least == max(one.min_registers(b"") for one in regions)
    for limit in (3, 10, 20, 99):
        expected = max(one.registers_with_hoisting(limit, b"") for one in regions)
        assert most_registers_with_hoisting(regions, limit, b"", least) == expected
