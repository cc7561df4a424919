"""Estimates for code that is damaged, or that no compiler writes."""

from __future__ import annotations

import pytest

from ptx_lsp.analyses.registers.estimated_registers import estimated_registers
from ptx_lsp.analyses.registers.virtual_registers import virtual_registers
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module

_HEAD = ".version 8.5\n.target sm_90\n.address_size 64\n"
_REGISTERS = ".reg .pred %p<9>; .reg .b32 %r<2000>; .reg .b64 %d<2000>;\n"
_COPIES = 900
"""Far more than Python's recursion limit allows to follow."""


def _kernel(body: str) -> Function:
    return Module.parse(f"{_HEAD}.visible .entry k()\n{{\n{_REGISTERS}{body}\n}}\n").definitions["k"]


@pytest.mark.parametrize(
    "damaged", ["add;", "add.s32;", "add.s32 ;", "setp;", "mov.b32;", "ld.global.u32;", "shl.b32;"]
)
def test_an_unrolled_loop_with_an_instruction_without_operands(damaged: str) -> None:
    turn = "add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, 4; @%p1 bra L; ret;"
    damaged_loop = _kernel(f"mov.u32 %r1, 0;\nL: {damaged}\n{turn}")
    whole = _kernel(f"mov.u32 %r1, 0;\nL: {turn}")
    found = estimated_registers(damaged_loop)
    assert found is not None and found == estimated_registers(whole)


@pytest.mark.parametrize(
    "copy",
    [
        "mov.b64 %d{to}, %d{of};",
        "neg.s64 %d{to}, %d{of};",
        "add.s64 %d{to}, %d{of}, 8;",
        "mov.b64 {{%r{to}, _}}, %d{of}; mov.b64 %d{to}, {{%r{to}, 0}};",
    ],
)
def test_a_chain_of_copies_in_any_order(copy: str) -> None:
    def chain(name: int, step: int) -> Function:
        copies = "\n".join(
            copy.format(of=name + at * step, to=name + (at + 1) * step) for at in range(_COPIES)
        )
        return _kernel(f"mov.u64 %d{name}, %clock64;\n{copies}\nret;")

    rising, falling = chain(1, 1), chain(_COPIES + 1, -1)
    assert virtual_registers(rising).blocks and virtual_registers(falling).blocks
    assert estimated_registers(rising) is not None
    assert estimated_registers(falling) is not None
