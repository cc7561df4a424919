"""Descriptors: fields, text, and what is illegal."""

from __future__ import annotations

import pytest

from ptx_lsp.executor.descriptors.field import decoded
from ptx_lsp.executor.descriptors.instruction import Form, InstructionDescriptor, fields
from ptx_lsp.executor.descriptors.legality import layout_problems, problems
from ptx_lsp.executor.descriptors.shared import FIELDS, WARPGROUP_FIELDS, SharedDescriptor
from ptx_lsp.executor.descriptors.zero_columns import FIELDS as ZERO_FIELDS
from ptx_lsp.executor.descriptors.zero_columns import ZeroColumns

KINDS = ("tf32", "f16", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4")


def form(kind: str, *words: str, group: int = 1) -> Form:
    name = ".".join(("tcgen05.mma", *words))
    return Form.of(name, {f".kind::{kind}", f".cta_group::{group}"})


@pytest.mark.parametrize("kind", KINDS)
def test_fields_fill_the_word(kind: str) -> None:
    bits = 0
    for one in fields(form(kind)):
        assert not bits & one.mask
        bits |= one.mask
    assert bits == 0xFFFFFFFF


def test_fields_do_not_overlap() -> None:
    for every in (FIELDS, WARPGROUP_FIELDS, ZERO_FIELDS):
        assert sum(one.mask for one in every) == sum(one.mask for one in set(every))
    assert sum(one.mask for one in ZERO_FIELDS) == (1 << 64) - 1


def test_fields_that_are_known_in_part() -> None:
    found = {one.name: one.text for one in decoded(FIELDS, 0x4000_0000_0000_0010, 0xFFFF_0000_0000_3FFF)}
    assert found["start address"] == "0x100"
    assert found["leading dimension"] == ""
    assert found["swizzling"] == "128-byte swizzling"


@pytest.mark.parametrize(
    ("kind", "words", "modifiers", "descriptor", "message"),
    [
        ("f16", (), (), 0x8020010 | 1 << 6, "bits of the instruction descriptor must be 0, not 0x40"),
        ("f16", (), (), 0x8020010 | 1 << 30, "a maximum shift of 8 requires `.ws`"),
        ("f16", (), (), 0x8020010 | 1 << 2, "says that A is sparse, but the opcode does not have `.sp`"),
        ("f16", (), (), 0x9020010, "requires an M of 64 or 128, not 144"),
        ("i8", (), (), 0x80A0020, "requires an N from 16 to 256 in steps of 16, not 40"),
        ("i8", (), (), 0x8020020 | 1 << 13, "integers cannot be negated"),
        ("f16", ("ws",), (), 0x8020010, "requires an N of 64, 128 or 256, not 8"),
        ("mxf8f6f4", (), (), 0x8020000, "`.kind::mxf8f6f4` requires scales of type .ue8m0"),
        ("mxf4nvf4", (), (".scale_vec::2X",), 0x8020480, "2 scales in a row requires scales of type .ue8m0"),
        ("mxf4nvf4", (), (".scale_vec::4X",), 0x8020480 | 2 << 29, "scale factor ID of A must be 0, not 2"),
        ("mxf4", (), (".block32",), 0x8820480 | 1 << 4, "the scale factor ID of B must be 0 or 2, not 1"),
        ("mxf4", ("sp",), (), 0x8820484 | 1 << 31, "a K of 96 requires a dense A"),
        ("mxf4", (), (), 0x8820480 | 1 << 31, "a K of 96 requires sm_103a, not sm_100a"),
    ],
)
def test_illegal_instruction_descriptors(
    kind: str, words: tuple[str, ...], modifiers: tuple[str, ...], descriptor: int, message: str
) -> None:
    found = InstructionDescriptor.of(descriptor, form(kind, *words))
    assert any(message in one for one in problems(found, modifiers, target="sm_100a"))


def test_legal_instruction_descriptors() -> None:
    f16 = InstructionDescriptor.of(0x8020010, form("f16"))
    assert list(problems(f16, (), target="sm_100a")) == []
    assert list(problems(f16, (), a_in_tensor=True)) == []
    transposed = InstructionDescriptor.of(0x8028010, form("f16"))
    assert list(problems(transposed, (), a_in_tensor=True)) == ["A in Tensor Memory cannot be transposed"]
    packed = InstructionDescriptor.of(0x8820480 | 1 << 31, form("mxf4", group=1))
    assert list(problems(packed, (), target="sm_103a")) == []


@pytest.mark.parametrize(
    ("word", "message"),
    [
        (3 << 61 | 1 << 46, "the swizzling mode (bits 61 to 63) is 3"), (0, "bits 46 to 48"),
        (1 << 46 | 1 << 53, "bits 53 to 60"), (1 << 46 | 1 << 52, "requires 128-byte swizzling"),
        (2 << 61 | 1 << 46 | 1 << 52, "requires sm_103a, not sm_100a"),
    ],
)
def test_illegal_descriptors_of_matrices(word: int, message: str) -> None:
    found = InstructionDescriptor.of(0x8020010, form("f16"))
    assert message in "".join(layout_problems(found, "A", SharedDescriptor.of(word), "sm_100a"))


@pytest.mark.parametrize(("code", "start", "base", "is_odd"), [
    (2, 0x400, 0, False), (2, 0x420, 0, False), (2, 0x480, 0, True), (2, 0x480, 1, False),
    (4, 0x200, 0, False), (4, 0x280, 0, True), (6, 0x100, 0, False), (6, 0x80, 0, True), (0, 0x90, 0, False),
])
def test_patterns_that_do_not_begin_with_the_matrix(code: int, start: int, base: int, is_odd: bool) -> None:
    matrix = SharedDescriptor.of(start >> 4 | 1 << 46 | base << 49 | code << 61)
    assert bool(matrix.remark()) == is_odd


def zero_columns(starts: str, firsts: str, *, skip: int = 2, use: int = 3) -> ZeroColumns:
    """Written as in the manual's examples, the first part last."""
    word = 1 << 39 | skip << 40 | use << 48
    for at, (start, first) in enumerate(zip(reversed(starts), reversed(firsts), strict=True)):
        word |= int(start) << 8 * at | int(first) << 32 + at
    return ZeroColumns.of(word)


def masks(found: ZeroColumns, m: int, n: int) -> list[str]:
    """The masks of the parts, the last column first."""
    zero, each = found.zero(m, n), n * m // 128
    return ["".join("01"[one] for one in reversed(zero[at : at + each])) for at in range(0, n, each)]


def test_the_examples_of_zero_column_masks() -> None:
    """Examples 2 to 4 of PTX ISA, "Zero-Column Mask Descriptor"."""
    assert masks(zero_columns("0", "0"), 128, 14) == ["11100001110000"]
    assert masks(zero_columns("00", "01"), 64, 34)[0].endswith("11100001110000111")
    assert masks(zero_columns("00", "01"), 64, 28)[1] == "11100001110000"
    ends = ("00001110000111", "0000111000011", "111000011100", "1110000111000")
    for found, end in zip(masks(zero_columns("1210", "0011"), 32, 128), ends, strict=True):
        assert found.endswith(end)
    assert not any(ZeroColumns.of(4 << 40 | 3 << 48).zero(128, 64))


def test_illegal_zero_column_masks() -> None:
    assert list(ZeroColumns.of(2 << 56).problems(128, 8)) == []
    assert "at most by 0" in "".join(ZeroColumns.of(2 << 56).problems(128, 0))
    assert "at most by 16" in "".join(ZeroColumns.of(20 << 56).problems(32, 32))
    assert "reserved bits" in "".join(ZeroColumns.of(1 << 36).problems(128, 0))
