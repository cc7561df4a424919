"""`mma` for matrix.py: every shape and type, with the fragments that the manual gives formulas for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tests.oracle.exact.fragments import LEFT, RIGHT, SUM, collected, quarter
from tests.oracle.exact.kernel import Field, Kernel, split, vector
from tests.oracle.exact.products import bits_of, multiplied, of_bits, units

FIELDS = {
    "f16": Field("f16", 0x83008300, 0x3C003C00), "bf16": Field("bf16", 0x80E080E0, 0x3F003F00),
    "tf32": Field("tf32", 0x80E00000, 0x3F000000), "f32": Field("f32", 0x80F00000, 0x40000000),
    "e4m3": Field("e4m3", 0x86868686, 0x38383838), "e5m2": Field("e5m2", 0x83838383, 0x3C3C3C3C),
    "e3m2": Field("e3m2", 0x23232323, 0x0C0C0C0C), "e2m3": Field("e2m3", 0x26262626, 0x08080808),
    "e2m1": Field("e2m1", 0x2C2C2C2C), "e2m1x2": Field("e2m1x2"),
    **{type: Field(type) for type in ("s8", "u8", "s4", "u4")},
    "b1": Field("b1"),
}
"""Few values of each sign, not only powers of two, so that sums stay exact; integers have all bits."""
NEAR_THE_ENDS = {
    8: Field("s32", 0xFFFF, 0x7FFF8000), 4: Field("s32", 0xFF, 0x7FFFFF80), 1: Field("s32", 0xFFFFF),
}
"""C of integers, by the bits of the factors: near the largest and near the least, so some sums overflow."""
A, B, C = 0, 4, 8
"""The words of a thread that are those operands."""


class Opcode(NamedTuple):
    """What an opcode says: its shape and the types of D, A, B and C."""

    text: str
    shape: str
    m: int
    k: int
    types: tuple[str, str, str, str]

    @classmethod
    def of(cls, text: str) -> Opcode:
        shape = re.search(r"m(\d+)n8k(\d+)", text)
        assert shape is not None
        d, a, b, c = re.findall(r"\.(f64|f32|f16|bf16|tf32|s32|[su]8|[su]4|b1|e\dm\d)\b", text)[:4]
        if "mxf4" in text:
            a = b = "e2m1x2"
        return cls(text, shape[0], int(shape[1]), int(shape[2]), (d, a, b, c))

    @property
    def label(self) -> str:
        """The modifiers that tell it from its neighbours."""
        extra = re.findall(r"\.(satfinite|r[nzmp]|xor|and|kind::f8f6f4|sp::ordered_metadata)\b", self.text)
        return "_".join([self.shape, *extra]).replace("kind::", "").replace("sp::", "")


def counts(opcode: Opcode, *, sparse: bool = False) -> tuple[int, int, int, int]:
    """The registers of D, A, B and C."""
    d, a, b, c = (bits_of(type) for type in opcode.types)
    left = opcode.m * (opcode.k // 2 if sparse else opcode.k) * a
    right, sides = opcode.k * 8 * b, opcode.m * 8
    products = 4 if opcode.shape == "m8n8k4" and a == 16 else 1
    register = 64 if a == 64 else 32
    found = (products * one // (32 * register) for one in (sides * d, left, right, sides * c))
    of_d, of_a, of_b, of_c = found
    return of_d, of_a, of_b, of_c


def floats() -> Iterator[Kernel]:
    half = [f"m16n8k{k}.row.col" for k in (8, 16)]
    quarters = [f"m8n8k4.{a}.{b}" for a in ("row", "col") for b in ("row", "col")]
    yield group("f16_f32", "f16", "f16", "f32", [f"{one}.f32.f16.f16.f32" for one in (*half, *quarters)])
    yield group("f16_f16", "f16", "f16", "f16", [
        *(f"{one}.f16.f16.f16.f16" for one in half), "m8n8k4.col.row.f16.f16.f16.f16",
        "m8n8k4.row.col.f32.f16.f16.f16",
    ])
    yield group("bf16", "bf16", "bf16", "f32", [f"{one}.f32.bf16.bf16.f32" for one in half])
    yield group("tf32", "tf32", "tf32", "f32", [f"m16n8k{k}.row.col.f32.tf32.tf32.f32" for k in (4, 8)])


def bytes_of_floats() -> Iterator[Kernel]:
    for a, b in (("e4m3", "e5m2"), ("e5m2", "e4m3")):
        for sum in ("f32", "f16"):
            yield group(f"{a}_{b}_{sum}", a, b, sum, [
                f"m16n8k{k}.row.col.{sum}.{a}.{b}.{sum}" for k in (16, 32)
            ])


def integers(bits: int) -> Iterator[Kernel]:
    """Of 8 or 4 bits, every mix of signs."""
    least = 16 if bits == 8 else 32
    shapes = [f"m8n8k{least}", f"m16n8k{least}", f"m16n8k{2 * least}"]
    for a, b in ((f"{x}{bits}", f"{y}{bits}") for x in "us" for y in "us"):
        yield group(f"{a}_{b}", a, b, "s32", [
            f"{shape}.row.col{limit}.s32.{a}.{b}.s32" for shape in shapes for limit in ("", ".satfinite")
        ])


def single_bits() -> Iterator[Kernel]:
    yield group("b1", "b1", "b1", "s32", [
        f"{shape}.row.col.s32.b1.b1.s32.{operation}.popc"
        for shape in ("m8n8k128", "m16n8k128", "m16n8k256") for operation in ("xor", "and")
    ])


def group(name: str, a: str, b: str, c: str, spellings: Sequence[str]) -> Kernel:
    """A kernel whose products have the same operands."""
    kernel = Kernel(name, 16, sum(map(ord, name)))
    opcodes = [Opcode.of(f"mma.sync.aligned.{one}") for one in spellings]
    most = [max(counts(one)[at] for one in opcodes) for at in range(4)]
    of_c = NEAR_THE_ENDS[bits_of(a)] if c == "s32" else FIELDS[c]
    held = [
        kernel.operand(operand, field, count, first)
        for operand, field, count, first in zip(
            "abc", (FIELDS[a], FIELDS[b], of_c), most[1:], (A, B, C), strict=True
        )
    ]
    for opcode in opcodes:
        read = counts(opcode)[1:]
        parts = [[one[:count] for one in part] for part, count in zip(held, read, strict=True)]
        values, label = _whole, opcode.label
        if opcode.shape == "m8n8k4":
            values, label = _quarters, "_".join([label, *re.findall(r"\.(row|col)", opcode.text)])
        kernel.result(label, opcode.types[0], issue(kernel, opcode), values(opcode, parts))
    return kernel


def issue(kernel: Kernel, opcode: Opcode, tail: str = "", *, sparse: bool = False) -> list[str]:
    """Writes the instruction, with more operands behind C; the registers of D."""
    d, *read = counts(opcode, sparse=sparse)
    type = opcode.types[0]
    prefix = {"f16": "dh", "f32": "df", "f64": "dd", "s32": "di"}[type]
    kernel.declare(prefix, {"f16": ".b32"}.get(type, f".{type}"), d)
    operands = ", ".join(vector(one, count) for one, count in zip("abc", read, strict=True))
    kernel.line(f"{opcode.text} {vector(prefix, d)}, {operands}{tail};")
    return [f"%{prefix}{at}" for at in range(d)]


def elements(held: Sequence[Sequence[int]], type: str) -> list[list[int]]:
    """What the elements of each thread stand for, in units."""
    bits = bits_of(type)
    return [[units(one, type) for one in split(words, bits)] for words in held]


def _whole(opcode: Opcode, held: Sequence[Sequence[Sequence[int]]]) -> list[str]:
    d, a, b, c = opcode.types
    if a == "b1":
        bits = [[split(words, 1) for words in part] for part in held[:2]]
        left, right = bits
    else:
        left, right = elements(held[0], a), elements(held[1], b)
    x = collected(LEFT[opcode.shape, bits_of(a)], left, opcode.m, opcode.k)
    y = collected(RIGHT[opcode.shape, bits_of(b)], right, opcode.k, 8)
    if a == "b1":
        z = collected(SUM[opcode.m], held[2], opcode.m, 8)
        return spread(of_bits(x, y, z, "xor" if ".xor" in opcode.text else "and"), opcode.m)
    z = collected(SUM[opcode.m], elements(held[2], c), opcode.m, 8)
    return spread(multiplied(x, y, z, d, limited=".satfinite" in opcode.text), opcode.m)


def spread(matrix: Sequence[Sequence[str]], m: int) -> list[str]:
    """D as the threads hold it, one after the other."""
    places = [SUM[m](lane >> 2, lane % 4, i) for lane in range(32) for i in range(m // 4)]
    return [matrix[row][column] for row, column in places]


def _quarters(opcode: Opcode, held: Sequence[Sequence[Sequence[int]]]) -> list[str]:
    """Four products of 8x4 and 4x8 matrices."""
    layouts = re.findall(r"\.(row|col)", opcode.text)
    matrices: list[list[list[list[int]]]] = []
    d, *types = opcode.types
    for name, layout, type, words in zip("abc", (*layouts, ""), types, held, strict=True):
        place = quarter(name, layout, bits_of(type))
        rows, columns = {"a": (8, 4), "b": (4, 8), "c": (8, 8)}[name]
        found = {
            place(lane, i): one
            for lane, ones in enumerate(elements(words, type)) for i, one in enumerate(ones)
        }
        matrices.append([
            [[found[number, row, column] for column in range(columns)] for row in range(rows)]
            for number in range(4)
        ])
    products = [multiplied(a, b, c, d) for a, b, c in zip(*matrices, strict=True)]
    place = quarter("c", "", bits_of(d))
    places = [place(lane, i) for lane in range(32) for i in range(8)]
    return [products[number][row][column] for number, row, column in places]
