"""Packed integers and floats, and mixed precision: each element as the scalar instruction has it."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from tests.executor.arithmetic.instruction import run
from tests.executor.arithmetic.mpfr import MODES, Operation, inputs, number, rounded


def elements(word: int, type: str) -> list[int]:
    width = int(type[1:])
    parts = [word >> at & (1 << width) - 1 for at in range(0, 32, width)]
    return [part - (1 << width) if type[0] == "s" and part >> width - 1 else part for part in parts]


def limited(value: int, type: str, *, saturates: bool) -> int:
    width = int(type[1:])
    if saturates:
        low = -(1 << width - 1) if type[0] == "s" else 0
        value = min(max(value, low), low + (1 << width) - 1)
    return value & (1 << width) - 1


OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "add": int.__add__, "sub": int.__sub__, "min": min, "max": max, "neg": lambda a, _: -a,
}
PACKED = [("u8", "x4"), ("s8", "x4"), ("u16", "x2"), ("s16", "x2")]
INTEGERS = [
    *((f"add{sat}", type, lanes) for sat in ("", ".sat") for type, lanes in PACKED),
    *((f"sub{sat}", type, lanes) for sat in ("", ".sat") for type, lanes in PACKED[:2]),
    *((name, type, lanes) for name in ("min", "max") for type, lanes in PACKED),
    *((f"{name}.relu", type, lanes) for name in ("min", "max") for type, lanes in PACKED if type[0] == "s"),
    ("neg", "s8", "x4"),
]


@pytest.mark.parametrize(("name", "type", "lanes"), INTEGERS)
def test_integers(name: str, type: str, lanes: str) -> None:
    some = random.Random(name + type)
    unary = name == "neg"
    edges = [0, 0x80808080, 0x7F7F7F7F, 0xFFFFFFFF, 0x80007FFF, 0x01FF01FF]
    words = edges + [some.getrandbits(32) for _ in range(300)]
    rows = [[a] if unary else [a, some.choice(words)] for a in words]
    found = run(f"{name}.{type}{lanes}", rows, [".b32"] * len(rows[0]), [".b32"])
    opcode, *modifiers = name.split(".")
    operation = OPERATIONS[opcode]
    width = int(type[1:])
    for row, (got,) in zip(rows, found, strict=True):
        want = 0
        pairs = zip(elements(row[0], type), elements(row[-1], type), strict=True)
        for at, (a, b) in enumerate(pairs):
            value = operation(a, b)
            if "relu" in modifiers:
                value = max(value, 0)
            want |= limited(value, type, saturates="sat" in modifiers) << at * width
        assert got == want, [hex(word) for word in row]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("operation", "count"), [("add", 2), ("sub", 2), ("mul", 2), ("fma", 3)])
def test_pairs_of_singles(operation: Operation, count: int, mode: str) -> None:
    columns = [[inputs(32, 300, seed + 10 * half) for half in (0, 1)] for seed in range(count)]
    rows = [list(row) for row in zip(*(
        [low | high << 32 for low, high in zip(*column, strict=True)] for column in columns
    ), strict=True)]
    found = run(f"{operation}{mode}.f32x2", rows, [".b64"] * count, [".b64"])
    for row, (got,) in zip(rows, found, strict=True):
        for shift in (0, 32):
            want = rounded(operation, [number(raw >> shift & 0xFFFFFFFF, 32) for raw in row], 32, mode)
            assert got >> shift & 0xFFFFFFFF == (0x7FFFFFFF if want is None else want)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("type", ["f16", "bf16"])
@pytest.mark.parametrize(("operation", "count"), [("add", 2), ("sub", 2), ("fma", 3)])
def test_mixed_precision(operation: Operation, count: int, type: str, mode: str) -> None:
    columns = [inputs(16, 400, seed) for seed in range(count - 1)] + [inputs(32, 400, 9)]
    rows = [list(row) for row in zip(*columns, strict=True)]
    types = [".b16"] * (count - 1) + [".f32"]
    found = run(f"{operation}{mode}.f32.{type}", rows, types, [".f32"])
    for row, (got,) in zip(rows, found, strict=True):
        small = [number(raw, 16) if type == "f16" else number(raw << 16, 32) for raw in row[:-1]]
        want = rounded(operation, [*small, number(row[-1], 32)], 32, mode)
        assert got == (0x7FFFFFFF if want is None else want), [hex(raw) for raw in row]


def test_carryless_products() -> None:
    some = random.Random(3)
    rows = [[some.getrandbits(64) for _ in range(3)] for _ in range(40)] + [[(1 << 64) - 1] * 3, [0, 1, 2]]
    for mode in ("lo", "hi"):
        found = run(f"clmad.{mode}.u64", rows, [".u64"] * 3, [".u64"])
        for (a, b, c), (got,) in zip(rows, found, strict=True):
            product = 0
            for bit in range(64):
                product ^= (a << bit) * (b >> bit & 1)
            assert got == (product >> 64 if mode == "hi" else product & (1 << 64) - 1) ^ c


@pytest.mark.parametrize("type", ["f16", "bf16"])
def test_out_of_bounds(type: str) -> None:
    """`.oob`: an operand that is the marker gives 0, any other NaN a NaN."""
    one, marker, nan = (0x3C00 if type == "f16" else 0x3F80), 0x7FF7, 0x7FFF
    rows = [[a, b, c] for a in (one, marker, nan) for b in (one, marker) for c in (one, marker, nan)]
    found = run(f"fma.rn.oob.{type}", rows, [".b16"] * 3, [".b16"])
    for row, (got,) in zip(rows, found, strict=True):
        if marker in row:
            assert got == 0
        else:
            value = number(got, 16) if type == "f16" else number(got << 16, 32)
            assert math.isnan(value) if nan in row else value == 2
