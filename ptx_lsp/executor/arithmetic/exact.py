"""Arithmetic of single numbers in exact fractions, rounded once to `.f64`.

For lanes with extreme exponents, where the error of a floating-point operation is not a float itself;
`floats` handles all others. All numbers here are finite, and results are not zero.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

Mode = Literal[".rn", ".rz", ".rm", ".rp"]
_PRECISION = 53
_LEAST = -1074  # the exponent of the smallest subnormal


def fused(a: float, b: float, c: float, mode: Mode) -> float:
    """a * b + c"""
    total = Fraction(a) * Fraction(b) + Fraction(c)
    if total:
        return rounded(total, mode)
    return -0.0 if mode == ".rm" else 0.0


def product(a: float, b: float, mode: Mode) -> float:
    return rounded(Fraction(a) * Fraction(b), mode)


def quotient(a: float, b: float, mode: Mode) -> float:
    return rounded(Fraction(a) / Fraction(b), mode)


def rounded(value: Fraction, mode: Mode) -> float:
    """The `.f64` to which `value`, which is not 0, is rounded; infinite if it is too large."""
    negative = value < 0
    numerator, denominator = abs(value.numerator), value.denominator
    exponent = numerator.bit_length() - denominator.bit_length() - _PRECISION
    exponent = max(exponent, _LEAST)
    whole, rest, unit = _scaled(numerator, denominator, exponent)
    if whole >> _PRECISION:
        exponent += 1
        whole, rest, unit = _scaled(numerator, denominator, exponent)
    up = {
        ".rn": 2 * rest > unit or (2 * rest == unit and whole & 1 == 1),
        ".rz": False,
        ".rm": negative and rest > 0,
        ".rp": not negative and rest > 0,
    }[mode]
    try:
        result = math.ldexp(whole + up, exponent)
    except OverflowError:
        away = mode == ".rn" or mode == (".rm" if negative else ".rp")
        result = math.inf if away else math.ldexp((1 << _PRECISION) - 1, 1024 - _PRECISION)
    return -result if negative else result


def _scaled(numerator: int, denominator: int, exponent: int) -> tuple[int, int, int]:
    """The quotient in units of 2**exponent, what is left, and the divisor of what is left."""
    if exponent >= 0:
        denominator <<= exponent
    else:
        numerator <<= -exponent
    whole, rest = divmod(numerator, denominator)
    return whole, rest, denominator
