"""Approximate functions within the bounds of the manual, against MPFR; its tables of special values."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module

import pytest

from tests.executor.arithmetic.instruction import run
from tests.executor.arithmetic.mpfr import bits, inputs, number

MPFR = import_module("gmpy2")  # it has no types

Bound = Callable[[float, float], float]
"""From the operand and the exact result to the greatest error."""


def ulps(count: float, precision: int = 24, least: int = -149) -> Bound:
    def bound(value: float, exact: float) -> float:
        exponent = math.frexp(exact)[1] - precision if exact else least
        return count * 2.0 ** max(exponent, least)

    return bound


def relative(size: float, least: int = -150) -> Bound:
    """Of the result; half of the least subnormal number where it is that small."""
    return lambda value, exact: max(size * abs(exact), 2.0**least)


def trigonometric(value: float, exact: float) -> float:
    return 2.0**-20.5 if abs(value) <= 2 * math.pi else 2.0**-14.7


def logarithm(value: float, exact: float) -> float:
    return 2.0**-22 if 0.5 < value < 2 else 2.0**-22 * abs(exact)


def absolute(size: float) -> Bound:
    return lambda value, exact: size


EXACT = {
    "sin": "sin", "cos": "cos", "lg2": "log2", "ex2": "exp2", "tanh": "tanh", "sqrt": "sqrt",
    "rsqrt": "rec_sqrt",
}
SINGLE: dict[str, tuple[float, float, Bound]] = {
    "sin": (-100 * math.pi, 100 * math.pi, trigonometric),
    "cos": (-100 * math.pi, 100 * math.pi, trigonometric),
    "lg2": (0, math.inf, logarithm), "ex2": (-math.inf, math.inf, ulps(2.5)),
    "tanh": (-math.inf, math.inf, relative(2.0**-11)), "sqrt": (0, math.inf, relative(2.0**-23)),
    "rsqrt": (0, math.inf, relative(2.0**-22.9)), "rcp": (-math.inf, math.inf, ulps(1)),
}


def exact_of(name: str, value: float) -> float:
    with MPFR.context(precision=80):
        if name == "rcp":
            return float(1 / MPFR.mpfr(value))
        return float(getattr(MPFR, EXACT[name])(MPFR.mpfr(value)))


def check(name: str, value: float, got: float, bound: Bound, most: float) -> None:
    exact = exact_of(name, value)
    if abs(exact) > most:
        assert math.isinf(got) or abs(got) > most * 0.99, value
    else:
        assert abs(got - exact) <= bound(value, exact), (value, got, exact)


@pytest.mark.parametrize("name", SINGLE)
def test_single_precision(name: str) -> None:
    low, high, bound = SINGLE[name]
    raws = [raw for raw in inputs(32, 4000, 12) if low <= number(raw, 32) <= high]
    raws = [raw for raw in raws if math.isfinite(number(raw, 32)) and number(raw, 32) != 0]
    found = run(f"{name}.approx.f32", [[raw] for raw in raws], [".f32"], [".f32"])
    assert len(raws) > 900
    for raw, (got,) in zip(raws, found, strict=True):
        check(name, number(raw, 32), number(got, 32), bound, 3.4e38)


HALVES: dict[tuple[str, str], Bound] = {
    ("tanh", "f16"): absolute(2.0**-10.987), ("tanh", "bf16"): absolute(2.0**-8),
    ("ex2", "f16"): relative(2.0**-9.9, -25), ("ex2.ftz", "bf16"): relative(2.0**-7, -126),
}


@pytest.mark.parametrize(("spelling", "type"), HALVES)
def test_half_precision(spelling: str, type: str) -> None:
    name, _, flush = spelling.partition(".")

    def value(raw: int) -> float:
        return number(raw, 16) if type == "f16" else number(raw << 16, 32)

    raws = [raw for raw in range(0, 1 << 16, 7) if math.isfinite(value(raw)) and value(raw) != 0]
    form = f"{name}.approx{'.ftz' if flush else ''}.{type}"
    found = run(form, [[raw] for raw in raws], [".b16"], [".b16"])
    bound = HALVES[spelling, type]
    for raw, (got,) in zip(raws, found, strict=True):
        check(name, value(raw), value(got), bound, 65504.0 if type == "f16" else 3.3e38)


@pytest.mark.parametrize("form", ["approx", "full"])
def test_division(form: str) -> None:
    raws = [[a, b] for a, b in zip(inputs(32, 3000, 13), inputs(32, 3000, 14), strict=True)]
    raws = [row for row in raws if all(math.isfinite(number(raw, 32)) for raw in row)]
    raws = [row for row in raws if 2.0**-126 <= abs(number(row[1], 32)) <= 2.0**126]
    found = run(f"div.{form}.f32", raws, [".f32", ".f32"], [".f32"])
    bound = ulps(2)
    for (a, b), (got,) in zip(raws, found, strict=True):
        with MPFR.context(precision=80):
            exact = float(MPFR.mpfr(number(a, 32)) / MPFR.mpfr(number(b, 32)))
        if abs(exact) < 3.4e38:
            assert abs(number(got, 32) - exact) <= bound(0, exact)


SPECIAL = {
    # name: -inf, -0, 0, inf; a NaN gives NaN
    "sin": ("nan", "-0.0", "0.0", "nan"), "cos": ("nan", "1.0", "1.0", "nan"),
    "lg2": ("nan", "-inf", "-inf", "inf"), "ex2": ("0.0", "1.0", "1.0", "inf"),
    "tanh": ("-1.0", "-0.0", "0.0", "1.0"), "sqrt": ("nan", "-0.0", "0.0", "inf"),
    "rsqrt": ("nan", "-inf", "inf", "0.0"), "rcp": ("-0.0", "-inf", "inf", "0.0"),
}


@pytest.mark.parametrize("flush", ["", ".ftz"])
@pytest.mark.parametrize("name", SPECIAL)
def test_special_values(name: str, flush: str) -> None:
    if name == "tanh" and flush:
        flush = ""  # it has no such modifier
    rows = [[bits(one, 32)] for one in (-math.inf, -0.0, 0.0, math.inf, math.nan)]
    found = run(f"{name}.approx{flush}.f32", rows, [".f32"], [".f32"])
    want = [bits(float(one), 32) if one != "nan" else 0x7FFFFFFF for one in (*SPECIAL[name], "nan")]
    assert [got for (got,) in found] == want


def test_gross_approximations() -> None:
    """Of the upper halves of doubles; the lower half of the result is 0."""
    raws = [raw for raw in inputs(64, 2000, 15) if number(raw, 64) == number(raw, 64)]
    found = run("rcp.approx.ftz.f64", [[raw] for raw in raws], [".f64"], [".f64"])
    for raw, (got,) in zip(raws, found, strict=True):
        value = number(raw >> 32 << 32, 64)
        assert got & 0xFFFFFFFF == 0
        if math.isinf(value) or abs(value) < 2.0**-1022:
            want = math.copysign(0.0 if math.isinf(value) else math.inf, value)
            assert got == bits(want, 64)
        elif abs(value) < 2.0**1022:
            assert abs(number(got, 64) * value - 1) < 2.0**-19
    special = [[bits(one, 64)] for one in (-math.inf, -0.0, 1e-310, math.inf, math.nan)]
    wide = 0x7FFFFFFF00000000
    infinite, negative = bits(math.inf, 64), bits(-math.inf, 64)
    found = run("rsqrt.approx.ftz.f64", special, [".f64"], [".f64"])
    assert [got for (got,) in found] == [wide, negative, infinite, 0, wide]
    found = run("rcp.approx.ftz.f64", special, [".f64"], [".f64"])
    assert [got for (got,) in found] == [1 << 63, negative, infinite, 0, wide]
