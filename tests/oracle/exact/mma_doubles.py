"""`mma` of `.f64` for matrix.py: exact sums, and each rounding where one product is added to C."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from tests.oracle.exact.floats import Number, decode, encode
from tests.oracle.exact.fragments import LEFT, RIGHT, SUM, collected
from tests.oracle.exact.kernel import Field, Kernel
from tests.oracle.exact.mma import Opcode, counts, issue, spread
from tests.oracle.exact.products import multiplied, units

_NOTHING, _ALL = Field("f64", 0), Field("f64")
_FEW, _MANY = Field("f64", 0x800C0000, 0x3FF00000), Field("f64", 0x801FFFFF, 0x3FE00000)
_SHAPES = ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16")
_A, _B, _C = 0, 16, 24
"""The words of a thread that are those operands."""


def doubles() -> Iterator[Kernel]:
    kernel, held = _begun("f64", _NOTHING, _FEW)
    for shape in _SHAPES:
        opcode = _opcode(shape, "")
        a, b, c = ([[units(one, "f64") for one in words] for words in part] for part in _used(opcode, held))
        x = collected(LEFT[shape, 64], a, opcode.m, opcode.k)
        y = collected(RIGHT[shape, 64], b, opcode.k, 8)
        z = collected(SUM[opcode.m], c, opcode.m, 8)
        kernel.result(shape, "f64", issue(kernel, opcode), spread(multiplied(x, y, z, "f64"), opcode.m))
    yield kernel
    yield _rounded()


def _begun(name: str, low: Field, high: Field) -> tuple[Kernel, list[list[list[int]]]]:
    """A kernel with A, B and C of the largest shape."""
    kernel = Kernel(name, 32, 64)
    return kernel, [
        kernel.doubles(operand, low, high, count, first)
        for operand, count, first in (("a", 8, _A), ("b", 4, _B), ("c", 4, _C))
    ]


def _opcode(shape: str, mode: str) -> Opcode:
    return Opcode.of(f"mma.sync.aligned.{shape}.row.col{mode}.f64.f64.f64.f64")


def _used(opcode: Opcode, held: Sequence[Sequence[Sequence[int]]]) -> list[list[Sequence[int]]]:
    return [
        [words[:count] for words in part] for part, count in zip(held, counts(opcode)[1:], strict=True)
    ]


def _rounded() -> Kernel:
    """Row r of A has one element that is not 0, in column r % 4, so that each sum is rounded once."""
    kernel, (a, b, c) = _begun("f64_rounded", _ALL, _MANY)
    kernel.line("and.b32 %h, %id, 3;  shr.u32 %s, %id, 2;  and.b32 %s, %s, 3;")
    kernel.line("setp.ne.u32 %p, %h, %s;")
    for at in range(8):
        kernel.line(f"{'@%p ' if at < 2 else ''}mov.f64 %a{at}, 0d0000000000000000;")
    a = [
        [word if at < 2 and lane % 4 == lane // 4 % 4 else 0 for at, word in enumerate(words)]
        for lane, words in enumerate(a)
    ]
    modes = [("m8n8k4", mode) for mode in ("", ".rn", ".rz", ".rm", ".rp")]
    for shape, mode in [*modes, ("m16n8k4", ".rp"), ("m16n8k8", ".rz"), ("m16n8k16", ".rm")]:
        opcode = _opcode(shape, mode)
        left, right, sums = _used(opcode, [a, b, c])
        x = collected(LEFT[shape, 64], left, opcode.m, opcode.k)
        y = collected(RIGHT[shape, 64], right, opcode.k, 8)
        z = collected(SUM[opcode.m], sums, opcode.m, 8)
        found = [
            [fused(x[row][row % 4], y[row % 4][column], z[row][column], mode) for column in range(8)]
            for row in range(opcode.m)
        ]
        kernel.result(opcode.label, "f64", issue(kernel, opcode), spread(found, opcode.m))
    return kernel


def fused(a: int, b: int, c: int, mode: str) -> str:
    """The bits of a * b + c, of bits, rounded once; `mode` is such as `.rz`, or nothing."""
    x, y, z = (_value(bits) for bits in (a, b, c))
    total = x * y + z
    return hex(encode(Number(total < 0, abs(total)), "f64", mode.removeprefix(".") or "rn"))


def _value(bits: int) -> Fraction:
    number = decode(bits, "f64")
    assert number is not None
    return number.value
