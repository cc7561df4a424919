"""Conversions from and to floats, comparisons and extremes, against exact arithmetic in Python."""

from __future__ import annotations

import math
import operator
from fractions import Fraction

import pytest

from tests.executor.arithmetic.instruction import run
from tests.executor.arithmetic.mpfr import MODES, bits, inputs, number, rounded

INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")


def limits(type: str) -> tuple[int, int]:
    width = int(type[1:])
    return (0, (1 << width) - 1) if type[0] == "u" else (-(1 << width - 1), (1 << width - 1) - 1)


def whole(value: float, mode: str) -> int:
    exact = Fraction(value)
    match mode:
        case "rni":
            return round(exact)
        case "rzi":
            return math.trunc(exact)
        case "rmi":
            return math.floor(exact)
        case _:
            return math.ceil(exact)


@pytest.mark.parametrize("mode", ["rni", "rzi", "rmi", "rpi"])
@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("width", [16, 32, 64])
def test_to_integers(width: int, target: str, mode: str) -> None:
    low, high = limits(target)
    size = int(target[1:])

    def want(raw: int) -> int:
        value = number(raw, width)
        if math.isnan(value):
            return 1 << size - 1 if width == 64 or size == 64 else 0
        if math.isinf(value):
            return high if value > 0 else low
        return min(max(whole(value, mode), low), high)

    numbers = (0.5, 1.5, -0.5, -1.5, 127.5, 128.0, -128.5, 255.5, 2.0**15)
    edges = [bits(one, width) for one in numbers]
    rows = [[raw] for raw in inputs(width, 400, 3) + edges]
    found = run(f"cvt.{mode}.{target}.f{width}", rows, [f".f{width}"], [f".{target}"])
    mask = (1 << size) - 1
    assert [row[0] for row in found] == [want(raw) & mask for (raw,) in rows]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("width", [16, 32, 64])
def test_of_integers(width: int, source: str, mode: str) -> None:
    size = int(source[1:])
    rows = [[raw & ((1 << size) - 1)] for raw in inputs(64, 400, 4)]
    rows += [[(1 << size) - 1], [1 << size - 1], [(1 << size - 1) - 1], [0], [1]]
    found = run(f"cvt{mode}.f{width}.{source}", rows, [f".{source}"], [f".f{width}"])
    for (raw,), (got,) in zip(rows, found, strict=True):
        value = raw - (1 << size) if source[0] == "s" and raw >> size - 1 else raw
        assert got == rounded("cvt", [value], width, mode), value


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("source", "target"), [(64, 32), (64, 16), (32, 16)])
def test_to_smaller_formats(source: int, target: int, mode: str) -> None:
    near = [
        bits(number(raw, target), source) + step for raw in inputs(target, 300, 5) for step in (-1, 0, 1)
    ]
    rows = [[raw] for raw in inputs(source, 500, 6) + [one for one in near if 0 <= one < 1 << source]]
    found = run(f"cvt{mode}.f{target}.f{source}", rows, [f".f{source}"], [f".f{target}"])
    canonical = (1 << target - 1) - 1
    for (raw,), (got,) in zip(rows, found, strict=True):
        want = rounded("cvt", [number(raw, source)], target, mode)
        assert got == (canonical if want is None else want), hex(raw)


@pytest.mark.parametrize(("source", "target"), [(16, 32), (32, 64), (16, 64)])
def test_to_larger_formats(source: int, target: int) -> None:
    rows = [[raw] for raw in inputs(source, 500, 7) if not math.isnan(number(raw, source))]
    found = run(f"cvt.f{target}.f{source}", rows, [f".f{source}"], [f".f{target}"])
    assert [got for (got,) in found] == [bits(number(raw, source), target) for (raw,) in rows]


ORDERED = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt,
    "ge": operator.ge,
}


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("order", [*ORDERED, *(f"{name}u" for name in ORDERED), "num", "nan"])
def test_comparisons(order: str, width: int) -> None:
    first = inputs(width, 300, 8)
    rows = [list(row) for row in zip(first, first[150:] + inputs(width, 150, 9), strict=True)]
    rows += [[raw, raw] for raw in first[:100]]
    type = f".f{width}"
    found = run(f"setp.{order}{type}", rows, [type, type], [".pred", ".pred"])
    for row, got in zip(rows, found, strict=True):
        a, b = (number(raw, width) for raw in row)
        unordered = math.isnan(a) or math.isnan(b)
        if order in ("num", "nan"):
            want = unordered == (order == "nan")
        elif unordered:
            want = order.endswith("u")
        else:
            want = ORDERED[order.removesuffix("u")](a, b)
        assert got == [int(want), int(not want)], f"{a} {order} {b}"


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("name", ["min", "max"])
def test_extremes(name: str, width: int) -> None:
    rows = [list(row) for row in zip(inputs(width, 400, 10), inputs(width, 400, 11), strict=True)]
    zeros = [0, 1 << width - 1]
    rows += [[a, b] for a in zeros for b in zeros]
    type = f".f{width}"
    found = run(f"{name}{type}", rows, [type, type], [type])
    for row, (got,) in zip(rows, found, strict=True):
        numbers = [(number(raw, width), math.copysign(1, number(raw, width)), raw) for raw in row]
        ordered = sorted(one for one in numbers if not math.isnan(one[0]))
        if not ordered:
            assert math.isnan(number(got, width))
        else:
            assert got == ordered[0 if name == "min" else -1][2]
