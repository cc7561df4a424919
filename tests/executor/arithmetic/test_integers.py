"""Integer instructions against Python's integers, at the edges and at random."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TypeAlias, cast

import pytest

from tests.executor.arithmetic.instruction import run

Reference: TypeAlias = (
    Callable[[int], int] | Callable[[int, int], int] | Callable[[int, int, int], int]
    | Callable[[int, int, int, int], int]
)
ALL = (".u16", ".s16", ".u32", ".s32", ".u64", ".s64")
WIDE = (".u32", ".s32", ".u64", ".s64")
SIGNED = (".s16", ".s32", ".s64")
BITS = (".b16", ".b32", ".b64")


def width(type: str) -> int:
    return int(type[2:])


def wrapped(value: int, type: str) -> int:
    """Modulo the size of the type, read with its sign."""
    low = value & ((1 << width(type)) - 1)
    return low - (1 << width(type)) if type[1] == "s" and low >> (width(type) - 1) else low


def limited(value: int, type: str) -> int:
    bits = width(type)
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if type[1] == "s" else (0, (1 << bits) - 1)
    return min(max(value, low), high)


def quotient(a: int, b: int) -> int:
    return -1 if b == 0 else abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)


def field(a: int, start: int, length: int, type: str) -> int:
    """`bfe` as the manual's loop has it."""
    top = width(type) - 1
    start, length = start & 255, length & 255
    sign = 0 if type[1] == "u" or length == 0 else a >> min(start + length - 1, top) & 1
    return sum(
        (a >> (at + start) & 1 if at < length and at + start <= top else sign) << at
        for at in range(top + 1)
    )


def inserted(a: int, b: int, start: int, length: int, type: str) -> int:
    """`bfi` as the manual's loop has it."""
    start, length = start & 255, length & 255
    result = b
    for at in range(length):
        if at + start < width(type):
            bit = 1 << (at + start)
            result = result & ~bit | (bit if a >> at & 1 else 0)
    return result


def highest(a: int) -> int:
    return (~a if a < 0 else a).bit_length() - 1


def clmul(a: int, b: int) -> int:
    product = 0
    for bit in range(64):
        if b >> bit & 1:
            product ^= (a & (1 << 64) - 1) << bit
    return product


CASES: list[tuple[str, tuple[str, ...], int, Callable[[str], Reference]]] = [
    ("add", ALL, 2, lambda t: lambda a, b: a + b),
    ("add.sat", (".s32", ".u32"), 2, lambda t: lambda a, b: limited(a + b, t)),
    ("sub", ALL, 2, lambda t: lambda a, b: a - b),
    ("sub.sat", (".s32",), 2, lambda t: lambda a, b: limited(a - b, t)),
    ("mul.lo", ALL, 2, lambda t: lambda a, b: a * b),
    ("mul.hi", ALL, 2, lambda t: lambda a, b: a * b >> width(t)),
    ("mad.lo", ALL, 3, lambda t: lambda a, b, c: a * b + c),
    ("mad.hi", ALL, 3, lambda t: lambda a, b, c: (a * b >> width(t)) + c),
    ("mad.hi.sat", (".s32",), 3, lambda t: lambda a, b, c: limited((a * b >> 32) + c, t)),
    ("clmad.lo", (".u64",), 3, lambda t: lambda a, b, c: clmul(a, b) ^ c),
    ("clmad.hi", (".u64",), 3, lambda t: lambda a, b, c: clmul(a, b) >> 64 ^ c),
    ("sad", ALL, 3, lambda t: lambda a, b, c: c + abs(a - b)),
    ("div", ALL, 2, lambda t: quotient),
    ("rem", ALL, 2, lambda t: lambda a, b: a if b == 0 else a - b * quotient(a, b)),
    ("abs", SIGNED, 1, lambda t: abs),
    ("neg", SIGNED, 1, lambda t: lambda a: -a),
    ("min", ALL, 2, lambda t: min),
    ("max", ALL, 2, lambda t: max),
    ("min.relu", (".s32",), 2, lambda t: lambda a, b: max(min(a, b), 0)),
    ("and", BITS, 2, lambda t: lambda a, b: a & b),
    ("or", BITS, 2, lambda t: lambda a, b: a | b),
    ("xor", BITS, 2, lambda t: lambda a, b: a ^ b),
    ("not", BITS, 1, lambda t: lambda a: ~a),
    ("cnot", BITS, 1, lambda t: lambda a: int(a == 0)),
]


def values(type: str, count: int, seed: int) -> list[int]:
    bits = width(type)
    chosen = random.Random(seed)
    edges = [0, 1, 2, 3, -1, -2, 1 << bits - 1, (1 << bits - 1) - 1, 5, 31, 32, 33, 63, 64, 255]
    found = [edge & ((1 << bits) - 1) for edge in edges]
    while len(found) < count:
        found.append(chosen.getrandbits(bits) >> chosen.choice([0, 0, bits // 2, bits - 4]))
    chosen.shuffle(found)
    return found


def check(spelling: str, types: list[str], result: str, function: Reference) -> None:
    """Compares what the executor gives with `function` of the operands as integers of their types."""
    columns = [values(type, 400, seed) for seed, type in enumerate(types)]
    rows = [list(row) for row in zip(*columns, strict=True)]
    found = run(spelling, rows, types, [result])
    mask = (1 << width(result)) - 1
    exact = cast("Callable[..., int]", function)
    wrong = [
        f"{[hex(raw) for raw in row]} -> {got:#x}"
        for row, (got,) in zip(rows, found, strict=True)
        if got != exact(*(wrapped(raw, type) for raw, type in zip(row, types, strict=True))) & mask
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("opcode", "type", "arity", "reference"),
    [(name, type, arity, make(type)) for name, types, arity, make in CASES for type in types],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_arithmetic(opcode: str, type: str, arity: int, reference: Reference) -> None:
    check(opcode + type, [type] * arity, type, reference)


@pytest.mark.parametrize("type", [".u16", ".s16", ".u32", ".s32"])
def test_wide(type: str) -> None:
    twice = f"{type[:2]}{2 * width(type)}"
    check(f"mul.wide{type}", [type, type], twice, lambda a, b: a * b)
    check(f"mad.wide{type}", [type, type, twice], twice, lambda a, b, c: a * b + c)


@pytest.mark.parametrize("type", [".u32", ".s32"])
def test_products_of_24_bits(type: str) -> None:
    def low(a: int) -> int:
        return (a & 0xFFFFFF ^ 0x800000) - 0x800000 if type == ".s32" else a & 0xFFFFFF

    check(f"mul24.lo{type}", [type] * 2, type, lambda a, b: low(a) * low(b))
    check(f"mul24.hi{type}", [type] * 2, type, lambda a, b: low(a) * low(b) >> 16)
    check(f"mad24.hi{type}", [type] * 3, type, lambda a, b, c: (low(a) * low(b) >> 16) + c)


@pytest.mark.parametrize("type", WIDE)
def test_bit_fields(type: str) -> None:
    check(f"bfe{type}", [type, ".u32", ".u32"], type, lambda a, b, c: field(a, b, c, type))
    check(f"bfind{type}", [type], ".u32", highest)
    check(
        f"bfind.shiftamt{type}", [type], ".u32",
        lambda a: -1 if highest(a) < 0 else width(type) - 1 - highest(a),
    )


@pytest.mark.parametrize("type", [".b32", ".b64"])
def test_bits(type: str) -> None:
    bits = width(type)
    check(
        f"bfi{type}", [type, type, ".u32", ".u32"], type,
        lambda a, b, c, d: inserted(a, b, c, d, type),
    )
    check(f"popc{type}", [type], ".u32", int.bit_count)
    check(f"clz{type}", [type], ".u32", lambda a: bits - a.bit_length())
    check(f"brev{type}", [type], type, lambda a: int(f"{a:0{bits}b}"[::-1], 2))


@pytest.mark.parametrize("type", ALL + BITS)
def test_shifts(type: str) -> None:
    bits = width(type)
    check(f"shr{type}", [type, ".u32"], type, lambda a, b: a >> min(b, bits))
    if type in BITS:
        check(f"shl{type}", [type, ".u32"], type, lambda a, b: a << min(b, bits))


@pytest.mark.parametrize("direction", ["l", "r"])
@pytest.mark.parametrize("mode", ["clamp", "wrap"])
def test_funnel_shifts(direction: str, mode: str) -> None:
    def shifted(a: int, b: int, c: int) -> int:
        amount = c & 31 if mode == "wrap" else min(c, 32)
        both = b << 32 | a
        return both << amount >> 32 if direction == "l" else both >> amount

    check(f"shf.{direction}.{mode}.b32", [".b32", ".b32", ".u32"], ".b32", shifted)


@pytest.mark.parametrize("source", ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"])
@pytest.mark.parametrize("target", ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"])
def test_conversions(source: str, target: str) -> None:
    check(f"cvt.{target}.{source}", [f".{source}"], f".{target}", lambda a: a)
    low, high = (0, 1 << width(f".{target}")) if target[0] == "u" else (
        -(1 << width(f".{target}") - 1), 1 << width(f".{target}") - 1
    )
    own = width(f".{source}")
    least, most = (0, 1 << own) if source[0] == "u" else (-(1 << own - 1), 1 << own - 1)
    if least < low or most > high:
        check(
            f"cvt.sat.{target}.{source}", [f".{source}"], f".{target}",
            lambda a: limited(a, f".{target}"),
        )


@pytest.mark.parametrize("type", [".u16x2", ".s16x2"])
def test_packed(type: str) -> None:
    functions: list[tuple[str, Callable[[int, int], int]]] = [
        ("add", lambda a, b: a + b), ("min", min), ("max", max),
    ]
    for name, function in functions:
        columns = [values(".b32", 300, seed) for seed in (0, 1)]
        rows = [list(row) for row in zip(*columns, strict=True)]
        found = run(f"{name}{type}", rows, [".b32", ".b32"], [".b32"])
        for (a, b), (got,) in zip(rows, found, strict=True):
            halves = [
                function(wrapped(a >> at, type[:4]), wrapped(b >> at, type[:4])) & 0xFFFF
                for at in (0, 16)
            ]
            assert got == halves[0] | halves[1] << 16
