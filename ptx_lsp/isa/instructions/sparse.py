"""Compression of structured sparse vectors (PTX ISA, "Data Movement and Conversion Instructions:
spcompress" and "spdecompress").

The lengths of the operands follow from the modifiers (tables of both pages), so they are computed here.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.operand import only, reads, writes

_ELEMENTS, _INDICES, _NUMBERS = (8, 16), (2, 4), (1, 2, 4, 8, 16, 32, 64)
_FACTORS = ((1, 2), (1, 4), (1, 8), (1, 16), (2, 4), (2, 8), (2, 16), (4, 8), (4, 16))
_REGISTER, _MOST_REGISTERS, _MOST_DATA = 32, 253, 128


def _words(bits: int) -> int:
    return -(-bits // _REGISTER)


instruction(
    "spcompress",
    section="data-movement-and-conversion-instructions-spcompress",
    summary="Picks two of every four elements of a dense vector and writes them and their indices.",
    syntax="""
        spcompress.elemsize.idxsize.spfactor.num m, c, d, spdesc;
        .elemsize = { .b8, .b16 };
        .idxsize  = { .b2, .b4 };
        .spfactor = { .sp::2:4 };
        .num      = { .x1, .x2, .x4, .x8, .x16, .x32, .x64 };
    """,
    operands={
        "m": writes(
            ".b32",
            count={
                f"elemsize=.b{element} idxsize=.b{index} .x{number}": -(-number * index // element)
                for element, index, number in product(_ELEMENTS, _INDICES, _NUMBERS)
            },
        ),
        "c": writes(".b32", count={f".x{number}": number for number in _NUMBERS}),
        "d": reads(".b32", count={f".x{number}": 2 * number for number in _NUMBERS}),
        "spdesc": only("register", "single", type=".b32"),
    },
    since=[("", "9.4", "sm_107a")],
    notes=["ptxas also takes a 0f literal for the descriptor, but no integer."],
    example="spcompress.b8.b2.sp::2:4.x4 {%r0}, {%r1, %r2, %r3, %r4},"
    " {%r5, %r6, %r7, %r8, %r5, %r6, %r7, %r8}, %r9;",
)


def _lengths(part: int, bits: str) -> dict[str, int]:
    """Registers of an operand that has `part` (0 or 1) of a factor's elements, each with `bits` bits:
    those of an element, or of an index.
    """
    found: dict[str, int] = {}
    for factor, size, number in product(_FACTORS, _ELEMENTS if bits == "elemsize" else _INDICES, _NUMBERS):
        selector = f".sp::{factor[0]}:{factor[1]} {bits}=.b{size} .x{number}"
        found[selector] = _words(factor[part] * size * number)
    return found


def _impossible() -> Iterator[tuple[str, str]]:
    for (source, target), element in product(_FACTORS, _ELEMENTS):
        if source * element > _REGISTER:
            yield (
                f".sp::{source}:{target} elemsize=.b{element}",
                f"{source} elements of {element} bits do not fit into one register",
            )
    for source, target in _FACTORS:
        if target > 4:
            yield f".sp::{source}:{target} .b2", f"an index below {target} requires `.b4`"
    for (source, target), element, number in product(_FACTORS, _ELEMENTS, _NUMBERS):
        selector = f".sp::{source}:{target} elemsize=.b{element} .x{number}"
        bits = target * element * number
        if bits < _REGISTER:
            yield selector, "the dense vector must fill a register: repeat it more often"
        elif _words(bits) > _MOST_DATA:
            yield selector, f"the dense vector may have {_MOST_DATA} registers"


instruction(
    "spdecompress",
    section="data-movement-and-conversion-instructions-spdecompress",
    summary="Puts the elements of a sparse vector where their indices say, and zeros elsewhere.",
    syntax="""
        spdecompress.elemsize.idxsize.spfactor.num d, m, c;
        .elemsize = { .b8, .b16 };
        .idxsize  = { .b2, .b4 };
        .spfactor = { .sp::1:2, .sp::1:4, .sp::1:8, .sp::1:16, .sp::2:4, .sp::2:8, .sp::2:16, .sp::4:8,
                      .sp::4:16 };
        .num      = { .x1, .x2, .x4, .x8, .x16, .x32, .x64 };
    """,
    operands={
        "d": writes(".b32", count=_lengths(1, "elemsize")),
        "m": reads(".b32", count=_lengths(0, "idxsize")),
        "c": reads(".b32", count=_lengths(0, "elemsize")),
    },
    unless=list(_impossible()),
    since=[("", "9.4", "sm_107a")],
    example="spdecompress.b16.b2.sp::1:2.x2 {%r0, %r1}, {%r4}, {%r5};",
)
