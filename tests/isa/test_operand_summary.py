"""Operands in words."""

from __future__ import annotations

import pytest

from ptx_lsp.isa.description.operand_summary import summarize
from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.isa.schema.operand import (
    Operand,
    address,
    immediate,
    name,
    only,
    predicate,
    reads,
    reads_and_writes,
    writes,
)
from ptx_lsp.isa.schema.table import all_entries


@pytest.mark.parametrize(
    ("operand", "text"),
    [
        (reads(".u32"), ".u32 register or constant"),
        (reads(".f16", immediate=False), ".f16 register"),
        (reads(".u16|.f16", wider=True), ".u16 or .f16 register, or a wider one or constant"),
        (writes(".e4m3x2"), ".e4m3x2 in a .b16 register, written"),
        (writes(".f32", count=4), "vector of 4 .f32 registers, written"),
        (writes(".b32", count=-1), "vector of .b32 registers, written"),
        (writes(".b32", sink=True), ".b32 register or _, written"),
        (reads_and_writes(".f64"), ".f64 register, read and written"),
        (predicate(), "predicate register or constant"),
        (immediate(), "constant"),
        (immediate(0, 15), "constant (0 to 15)"),
        (immediate(values=(1, -1)), "constant (1, -1)"),
        (immediate(values=tuple(range(24, 257, 8))), "constant (24, 32, 40, ..., 256)"),
        (address(".global"), "address in .global"),
        (address(".shared", access="both"), "address in .shared, read and written"),
        (address(), "address"),
        (name("label", what="a label"), "a label"),
        (only("special"), "special register"),
        (only("register", "single", type=".b32"), ".b32 register or float constant"),
    ],
)
def test_summary(operand: Operand, text: str) -> None:
    assert summarize(operand) == text


def test_every_operand_of_a_row_has_words() -> None:
    for entry in all_entries():
        for candidate in resolve(entry.example.partition(" ")[0].rstrip(";")).candidates:
            for place in candidate.form.places:
                assert summarize(candidate.operand(place)).strip(), (entry, place)
