"""Integers of 128 bits as two unsigned arrays of 64 bits, `low` and `high`, in two's complement.

The low limb of a sum, difference or product is that of the low limbs; here is what the high one is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Array

Limb = npt.NDArray[np.uint64]

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_FULL = np.uint64(64)
_TOP = np.uint64(1 << 63)


def product_high(a: Limb, b: Limb) -> Limb:
    """The upper 64 bits of the product of two unsigned integers."""
    a0, a1, b0, b1 = a & _LOW, a >> _HALF, b & _LOW, b >> _HALF
    middle = a1 * b0 + (a0 * b0 >> _HALF)
    other = a0 * b1 + (middle & _LOW)
    return a1 * b1 + (middle >> _HALF) + (other >> _HALF)


def sign(value: Array) -> Array:
    """The high limb of signed integers: all ones where negative."""
    return np.where(np.less(value, value.dtype.type(0)), ~np.uint64(0), np.uint64(0))


def right(low: Limb, high: Limb, by: Limb) -> Limb:
    """The low limb of the value shifted right, filled with zeros."""
    return np.where(by < _FULL, low >> by | _carried(high, by), high >> (by - _FULL))


def right_signed(low: Limb, high: Limb, by: Limb) -> Limb:
    """The high limb of the value shifted right, filled with the sign."""
    shifted = _signed_right(high, by - _FULL)
    return np.where(by < _FULL, low >> by | _carried(high, by), shifted)


def high_right(low: Limb, high: Limb, by: Limb) -> Limb:
    """The high limb of the value shifted right, filled with zeros."""
    return high >> by


def high_right_signed(low: Limb, high: Limb, by: Limb) -> Limb:
    """The high limb of the value shifted right, filled with the sign."""
    return _signed_right(high, by)


def high_left(low: Limb, high: Limb, by: Limb) -> Limb:
    """The high limb of the value shifted left."""
    up = np.where(by == 0, np.uint64(0), low >> (_FULL - by))
    return np.where(by < _FULL, high << by | up, low << (by - _FULL))


def comparison(function: np.ufunc) -> Callable[[Limb, Limb, Limb, Limb], Array]:
    """`less`, `less_equal` or `not_equal` of two values as signed integers."""

    def compare(a: Limb, a_high: Limb, b: Limb, b_high: Limb) -> Array:
        left, right = a_high ^ _TOP, b_high ^ _TOP
        if function is np.not_equal:
            return np.logical_or(left != right, a != b)
        return np.logical_or(left < right, np.logical_and(left == right, function(a, b)))

    return compare


def _signed_right(value: Limb, by: Limb) -> Limb:
    limited = np.minimum(by, np.uint64(63)).view(np.int64)
    return (value.view(np.int64) >> limited).view(np.uint64)


def _carried(high: Limb, by: Limb) -> Limb:
    return np.where(by == 0, np.uint64(0), high << (_FULL - by))


def _add(a: Limb, a_high: Limb, b: Limb, b_high: Limb) -> Limb:
    return a_high + b_high + (a + b < a)


def _subtract(a: Limb, a_high: Limb, b: Limb, b_high: Limb) -> Limb:
    return a_high - b_high - (a < b)


def _multiply(a: Limb, a_high: Limb, b: Limb, b_high: Limb) -> Limb:
    return product_high(a, b) + a * b_high + a_high * b


def _and(a: Limb, a_high: Limb, b: Limb, b_high: Limb) -> Limb:
    return a_high & b_high


def _or(a: Limb, a_high: Limb, b: Limb, b_high: Limb) -> Limb:
    return a_high | b_high


def _xor(a: Limb, a_high: Limb, b: Limb, b_high: Limb) -> Limb:
    return a_high ^ b_high


HIGH: dict[str, Callable[[Limb, Limb, Limb, Limb], Limb]] = {
    "+": _add, "-": _subtract, "*": _multiply, "&": _and, "|": _or, "^": _xor,
}
