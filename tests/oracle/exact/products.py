"""Products of matrices in whole numbers, for matrix.py.

Every element is a whole number of units of 2^-24, so a product is one of units of 2^-48. Floats must come
out exactly whatever the order of the sum: what would have to be rounded is refused here.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from math import gcd

from tests.oracle.exact.floats import FORMATS, Number, decode, encode

Matrix = Sequence[Sequence[int]]
_UNITS = 24
_PRECISIONS = {"f16": 11, "f32": 24, "f64": 53}
_LIMIT = 1 << 31


def bits_of(type: str) -> int:
    """The bits of an element in a register; formats of less than a byte lie in bytes, but `e2m1x2`."""
    if type == "e2m1x2":
        return 4
    if type[0] in "sub" and type[1:].isdigit():
        return int(type[1:])
    return {19: 32, 6: 8, 4: 8}.get(FORMATS[type].width, FORMATS[type].width)


@cache
def units(bits: int, type: str) -> int:
    """What an element stands for, in units."""
    if type in ("s8", "s4", "s32"):
        size = int(type[1:])
        return (bits ^ 1 << size - 1) - (1 << size - 1) << _UNITS
    if type in ("u8", "u4", "b1"):
        return bits << _UNITS
    if type == "e2m1":  # in the middle of a byte
        bits = bits >> 2 & 15
    if type == "tf32":  # its lower 13 bits do not count
        bits = bits >> 13 << 13
    number = decode(bits, {"e2m1x2": "e2m1", "ue4m3": "e4m3"}.get(type, type))
    assert number is not None
    found = number.value * (1 << _UNITS)
    assert found.denominator == 1
    return int(found)


def multiplied(a: Matrix, b: Matrix, c: Matrix, type: str, *, limited: bool = False) -> list[list[str]]:
    """a @ b + c as text, of matrices of units; `limited` is `.satfinite`."""
    return [[text(one, type) for one in row] for row in totals(a, b, c, type, limited=limited)]


def totals(a: Matrix, b: Matrix, c: Matrix, type: str, *, limited: bool = False) -> list[list[Fraction]]:
    """The same as numbers."""
    columns = list(zip(*b, strict=True))
    return [
        [_total([x * y for x, y in zip(row, column, strict=True)], one, type, limited)
         for column, one in zip(columns, above, strict=True)]
        for row, above in zip(a, c, strict=True)
    ]


def _total(terms: list[int], start: int, type: str, limited: bool) -> Fraction:
    terms.append(start << _UNITS)
    total = sum(terms)
    if type == "s32":
        whole = total >> 2 * _UNITS
        return Fraction(min(max(whole, -_LIMIT), _LIMIT - 1) if limited else wrapped(whole))
    assert_exact(terms, type)
    return Fraction(total, 1 << 2 * _UNITS)


def wrapped(whole: int) -> int:
    """A whole number as `.s32` has it."""
    return (whole + _LIMIT) % (2 * _LIMIT) - _LIMIT


def assert_exact(terms: Sequence[int], type: str) -> None:
    """That no order of the sum of terms rounds."""
    assert not any(terms) or sum(map(abs, terms)) < gcd(*terms) << _PRECISIONS[type], "a sum would be rounded"


def text(value: Fraction, type: str) -> str:
    """A number that the type has, as expectations write it."""
    if type == "s32":
        return str(int(value))
    number = Number(value < 0, abs(value))
    again = decode(encode(number, type), type)
    assert again is not None and again.value == value
    return str(int(value)) if value.denominator == 1 else repr(float(value))


def of_bits(a: Matrix, b: Matrix, c: Matrix, operation: str) -> list[list[str]]:
    """How many bits of a row of A and a column of B are one after the operation, and C."""
    rows = [sum(bit << at for at, bit in enumerate(row)) for row in a]
    columns = [sum(bit << at for at, bit in enumerate(column)) for column in zip(*b, strict=True)]
    return [
        [str((x ^ y if operation == "xor" else x & y).bit_count() + one)
         for y, one in zip(columns, above, strict=True)]
        for x, above in zip(rows, c, strict=True)
    ]


def scaled(matrix: Matrix, scales: Matrix) -> list[list[int]]:
    """Each row with its blocks multiplied by the scales of the row; all in units."""
    found: list[list[int]] = []
    for row, factors in zip(matrix, scales, strict=True):
        length = len(row) // len(factors)
        products = [one * factors[at // length] for at, one in enumerate(row)]
        assert all(one % (1 << _UNITS) == 0 for one in products)
        found.append([one >> _UNITS for one in products])
    return found
