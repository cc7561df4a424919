"""Scaled indices that addresses include, also of registers with several definitions, and after edits."""

from __future__ import annotations

import pytest

from ptx_lsp.analyses.registers.simulated_registers import simulated_registers
from ptx_lsp.analyses.registers.virtual_registers import virtual_registers
from ptx_lsp.isa.target import parse_target
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.text import Edit

_HEAD = ".version 8.5\n.target sm_90\n.address_size 64\n"
_REGISTERS = ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %d<9>;\n"
_LOOP = """mov.u32 %r1, %tid.x;
L: mul.wide.s32 %d1, %r1, 4;
{between}
add.s64 %d2, %d3, %d1;
ld.global.u32 %r2, [%d2];
{end}
add.s32 %r1, %r1, 32;
setp.lt.s32 %p1, %r1, %r2;
@%p1 bra L;
ret;
"""


def _text(between: str = "", end: str = "") -> str:
    body = _LOOP.replace("{between}", between).replace("{end}", end)
    return f"{_HEAD}.visible .entry k()\n{{\n{_REGISTERS}{body}}}\n"


def _left(function: Function) -> list[str]:
    code = virtual_registers(function).code
    return [
        kind.opcode
        for kind, is_eliminated in zip(code.flow.kinds, code.is_eliminated, strict=True)
        if not is_eliminated
    ]


@pytest.mark.parametrize(
    ("between", "end", "is_index"),
    [
        ("", "", True),
        ("setp.eq.s32 %p2, %r3, 0;", "", True),
        ("add.s32 %r1, %r1, 1;", "", False),  # the index has changed
        ("add.s32 %r3, %r4, 1;", "st.global.u64 [%d3], %d1;", False),  # the product is stored
        ("", "add.s32 %r1, %r1, 1; add.s64 %d4, %d3, %d1;", False),
        ("@%p2 bra M; M:", "", False),  # the sum is in another block
        ("M:", "", False),
    ],
)
def test_an_index_with_several_definitions(between: str, end: str, is_index: bool) -> None:
    assert ("mul" not in _left(Module.parse(_text(between, end)).definitions["k"])) == is_index


def test_an_edit_makes_and_ends_scaled_indices() -> None:
    before = _text()
    module = Module.parse(before)
    assert "mul" not in _left(module.definitions["k"])
    changed = "add.s32 %r1, %r1, 1;"
    for between, end in [("", "M:"), ("M:", ""), ("", ""), (changed, ""), ("bra M; M:", ""), ("", "")]:
        text = _text(between, end)
        module = Module(module.document.edited(_difference(before, text)), module)
        found, fresh = (one.definitions["k"] for one in (module, Module.parse(text)))
        assert _left(found) == _left(fresh)
        assert virtual_registers(found).code.of_registers == virtual_registers(fresh).code.of_registers
        before = text


def _difference(old: str, new: str) -> Edit:
    first = next((n for n, pair in enumerate(zip(old, new, strict=False)) if len(set(pair)) > 1), len(new))
    behind = 0
    while behind < min(len(old), len(new)) - first and old[-1 - behind] == new[-1 - behind]:
        behind += 1
    return Edit(first, len(old) - behind, new[first : len(new) - behind].encode())


def _sum(pointers: int) -> Function:
    """A loop that stores the sum of what it loads from many arrays."""
    numbers = range(pointers)
    parameters = ", ".join(f".param .u64 p{n}" for n in numbers)
    body = f".reg .pred %p<3>; .reg .b32 %r<9>; .reg .f32 %f<{2 * pointers}>; .reg .b64 %d<{3 * pointers}>;\n"
    body += "".join(f"ld.param.u64 %d{n}, [p{n}];\n" for n in numbers)
    index = f"%d{3 * pointers - 1}"
    body += f"mov.u32 %r1, %tid.x; mov.f32 %f0, 0f00000000;\nL: mul.wide.s32 {index}, %r1, 4;\n"
    for n in numbers:
        body += f"add.s64 %d{pointers + n}, %d{n}, {index};\n"
        body += f"ld.global.f32 %f{n + 1}, [%d{pointers + n}]; add.f32 %f0, %f0, %f{n + 1};\n"
    body += "add.s32 %r1, %r1, 32; setp.lt.s32 %p1, %r1, 999; @%p1 bra L;\nst.global.f32 [%d0], %f0; ret;\n"
    return Module.parse(f"{_HEAD}.visible .entry k({parameters})\n{{\n{body}}}\n").definitions["k"]


@pytest.mark.parametrize(("pointers", "are_held"), [(3, True), (6, True), (14, False)])
def test_a_loop_holds_as_many_pointers_as_there_are_registers(pointers: int, are_held: bool) -> None:
    found = simulated_registers(_sum(pointers), parse_target("sm_90"))
    assert found is not None
    assert (found.without_hoisting > 2 * pointers) == are_held
