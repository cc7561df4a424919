"""Floating point on arrays, each operation exact and rounded once, in every direction.

A sum or product of doubles is kept as what NumPy rounds it to and the error of that, which is a double
as well (error-free transformations; Muller et al., "Handbook of Floating-Point Arithmetic", chapter 4).
Rounded to odd, the pair is one double that rounds to any narrower format as the exact value would. The
directed modes move the nearest result by one place where the error says so. Lanes at the ends of the
exponent range, where an error would underflow, are done apart (`exact`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic import exact
from ptx_lsp.executor.arithmetic.exact import Mode

Doubles: TypeAlias = npt.NDArray[np.float64]
Floats: TypeAlias = npt.NDArray[np.floating]
Whole: TypeAlias = npt.NDArray[np.integer]
Bools: TypeAlias = npt.NDArray[np.bool_]

_SPLITTER = 134217729.0  # 2**27 + 1
_SAFE = 2.0**400
_TINY = 2.0**-400
_LEAST_SINGLE = np.float32(2.0**-126)
_LEAST_HALF = np.float16(2.0**-14)
_DISCARDED = np.int64((1 << 29) - 1)
_HALFWAY = np.int64(1 << 28)
_QUIET = np.uint64(1 << 51)
_INVALID = np.uint64(0xFFF8_0000_0000_0000)


def two_sum(a: Doubles, b: Doubles) -> tuple[Doubles, Doubles]:
    """The sum as rounded, and its error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: Doubles, b: Doubles) -> tuple[Doubles, Doubles]:
    """The product as rounded, and its error; for operands whose exponents are not extreme."""
    product = a * b
    high_a, high_b = _upper(a), _upper(b)
    low_a, low_b = a - high_a, b - high_b
    error = ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b
    return product, error


def odd(value: Doubles, error: Doubles) -> Doubles:
    """value + error, rounded to odd: if it is not a double, the odd one of the two doubles around it."""
    bits = value.view(np.int64)
    inexact = (error != 0) & np.isfinite(error) & np.isfinite(value)
    away = np.where((error > 0) == (value > 0), np.int64(1), np.int64(-1))
    return np.where(inexact & (bits & 1 == 0), bits + away, bits).view(np.float64)


def directed(value: Floats, error: Floats, mode: Mode) -> Floats:
    """`value`, the nearest float, moved to where `mode` rounds; `error` has the sign of the exact result
    less `value`.
    """
    match mode:
        case ".rn":
            return value
        case ".rz":
            move, to = ((error < 0) & (value > 0)) | ((error > 0) & (value < 0)), 0.0
        case ".rm":
            move, to = error < 0, -np.inf
        case ".rp":
            move, to = error > 0, np.inf
    if not move.any():
        return value
    return np.where(move, np.nextafter(value, value.dtype.type(to)), value)


def narrowed(value: Doubles, dtype: np.dtype[np.floating], mode: Mode) -> Floats:
    """A double (perhaps rounded to odd) rounded to a type."""
    nearest: Floats = value.astype(dtype)
    if mode == ".rn" or dtype == np.float64:
        return nearest
    return directed(nearest, value - nearest.astype(np.float64), mode)


# -- operations: operands of one type, the result of the same ---------------------------------------


def add(a: Floats, b: Floats, mode: Mode) -> Floats:
    if mode == ".rn":
        return a + b
    x, y = doubled(a), doubled(b)
    total, error = two_sum(x, y)
    if a.dtype == np.float64:
        lost = np.isinf(total) & np.isfinite(x) & np.isfinite(y)
        result = directed(total, np.where(lost, -total, error), mode)
    else:
        result = narrowed(odd(total, error), a.dtype, mode)
    return _signed_zero(result, total, x, y, mode)


def multiply(a: Floats, b: Floats, mode: Mode) -> Floats:
    if mode == ".rn":
        return a * b
    if a.dtype != np.float64:
        return narrowed(doubled(a) * doubled(b), a.dtype, mode)
    x, y = doubled(a), doubled(b)
    product, error = two_product(x, y)
    hard = (x != 0) & (y != 0) & np.isfinite(x) & np.isfinite(y) & ~(_easy(x) & _easy(y))
    result = directed(product, error, mode)
    return _apart(result, hard, exact.product, mode, x, y)


def fused(a: Floats, b: Floats, c: Floats, mode: Mode) -> Floats:
    """a * b + c"""
    x, y, z = doubled(a), doubled(b), doubled(c)
    if a.dtype == np.float64:
        return _fused_doubles(x, y, z, mode)
    product = x * y  # exact
    if mode == ".rn" and a.dtype == np.float32:
        return _fused_singles(product, z)
    total, error = two_sum(product, z)
    return _signed_zero(narrowed(odd(total, error), a.dtype, mode), total, product, z, mode)


def divide(a: Floats, b: Floats, mode: Mode) -> Floats:
    nearest = a / b
    if mode == ".rn" and a.dtype != np.float16:
        return nearest
    x, y = doubled(a), doubled(b)
    if a.dtype != np.float64:
        nearest = (x / y).astype(a.dtype) if a.dtype == np.float16 else nearest
        return directed(nearest, (x - doubled(nearest) * y) * np.copysign(1.0, y), mode)
    product, error = two_product(doubled(nearest), y)
    rest = ((x - product) - error) * np.copysign(1.0, y)
    hard = (x != 0) & (y != 0) & np.isfinite(x) & np.isfinite(y) & ~(_easy(x) & _easy(y))
    return _apart(directed(nearest, rest, mode), hard, exact.quotient, mode, x, y)


def root(a: Floats, mode: Mode) -> Floats:
    """The square root."""
    if mode == ".rn" and a.dtype != np.float16:
        return np.sqrt(a)
    x = doubled(a)
    if a.dtype != np.float64:
        nearest = np.sqrt(x).astype(a.dtype)
        return directed(nearest, x - doubled(nearest) ** 2, mode)
    scale = np.where(x < _TINY, 2.0**300, np.where(x > _SAFE, 2.0**-300, 1.0))
    scaled = x * scale * scale
    nearest = np.sqrt(scaled)
    product, error = two_product(nearest, nearest)
    return directed(nearest, (scaled - product) - error, mode) / scale


def of_integers(value: npt.NDArray[np.integer], dtype: np.dtype[np.floating], mode: Mode) -> Floats:
    """Integers rounded to a type."""
    if value.dtype.itemsize < 8 or value.dtype == np.bool_:
        return narrowed(value.astype(np.float64), dtype, mode)
    total, error = _halves(value)
    if dtype == np.float64:
        return directed(total, error, mode)
    return narrowed(odd(total, error), dtype, mode)


def whole(a: Floats, mode: Mode) -> Floats:
    """Rounded to an integer, which stays a float."""
    functions = {".rn": np.rint, ".rz": np.trunc, ".rm": np.floor, ".rp": np.ceil}
    return functions[mode](a)


def to_integers(
    a: Floats, mode: Mode, low: int, high: int, of_nan: int
) -> npt.NDArray[np.integer]:
    """Rounded to integers and limited to `low` to `high`, which are those of a type."""
    rounded = whole(doubled(a), mode)
    dtype = np.dtype(np.uint64 if high >> 63 else np.int64)
    inside = (rounded >= float(low)) & (rounded < float(high + 1))
    found = np.where(inside, rounded, 0.0).astype(dtype)
    limit = np.where(rounded < 0, dtype.type(low), dtype.type(high))
    found = np.where(inside, found, limit)
    return np.where(np.isnan(rounded), dtype.type(of_nan), found)


def least(a: Floats, b: Floats) -> Floats:
    """The smaller; -0 is smaller than 0, and a NaN loses.

    Not by `np.fmin`: what that gives for a signalling NaN depends on how many elements there are.
    """
    return _chosen((a < b) | (a == b) & np.signbit(a), a, b)


def greatest(a: Floats, b: Floats) -> Floats:
    """The larger; 0 is larger than -0, and a NaN loses."""
    return _chosen((a > b) | (a == b) & np.signbit(b), a, b)


def propagated(result: Floats, *operands: Floats) -> Floats:
    """The result with NaNs according to the manual, independent of the host. In `.f64` it is the first NaN
    operand, made quiet, or the NaN of an invalid operation; otherwise the canonical NaN.
    """
    nan = np.isnan(result)
    if not nan.any():
        return result
    if result.dtype != np.float64:
        return canonical(result)
    bits = np.full(np.broadcast_shapes(*(one.shape for one in operands)), _INVALID)
    for operand in reversed(operands):
        bits = np.where(np.isnan(operand), doubled(operand).view(np.uint64) | _QUIET, bits)
    return np.where(nan, bits.view(np.float64), result)


def canonical(a: Floats) -> Floats:
    """With the canonical NaN for each."""
    nan = np.isnan(a)
    if not nan.any():
        return a
    width = 8 * a.dtype.itemsize
    unsigned = np.dtype(f"u{width // 8}")
    bits = np.where(nan, np.array((1 << width - 1) - 1, unsigned), a.view(unsigned))
    return bits.view(a.dtype)


def odd_sum(a: Floats, b: Floats) -> Doubles:
    """The sum as a double, rounded to odd; so are the next."""
    return odd(*two_sum(doubled(a), doubled(b)))


def odd_product(a: Floats, b: Floats) -> Doubles:
    """For factors of at most 26 bits."""
    return doubled(a) * doubled(b)


def odd_fused(a: Floats, b: Floats, c: Floats) -> Doubles:
    return odd(*two_sum(doubled(a) * doubled(b), doubled(c)))


def odd_quotient(a: Floats, b: Floats) -> Doubles:
    """For operands of at most 26 bits."""
    x, y = doubled(a), doubled(b)
    quotient = x / y
    product, error = two_product(quotient, y)
    return odd(quotient, ((x - product) - error) * np.copysign(1.0, y))


def odd_integers(value: Whole) -> Doubles:
    if value.dtype.itemsize < 8:
        return value.astype(np.float64)
    return odd(*_halves(value))


def chopped(value: Doubles, dropped: int, mode: Mode | Literal[".rna"]) -> Floats:
    """A double (perhaps rounded to odd) rounded to `.f32` without its last bits: `.bf16` drops 16 of them,
    `.tf32` 13. `.rna` rounds to the nearest, halves away from zero.
    """
    nearest = value.astype(np.float32)
    error = value - nearest
    bits = nearest.view(np.int32)
    inexact = (error != 0) & ~np.isnan(error) & (bits & 1 == 0)
    away = np.where((error > 0) != np.signbit(nearest), np.int32(1), np.int32(-1))
    raw = np.where(inexact, bits + away, bits).view(np.uint32)
    negative = np.signbit(nearest)
    unit, rest = np.uint32(1 << dropped), raw & np.uint32((1 << dropped) - 1)
    half = np.uint32(1 << dropped - 1)
    match mode:
        case ".rn":
            up = (rest > half) | (rest == half) & (raw & unit != 0)
        case ".rna":
            up = rest >= half
        case ".rz":
            up = np.zeros(rest.shape, np.bool_)
        case ".rm":
            up = negative & (rest != 0)
        case ".rp":
            up = ~negative & (rest != 0)
    rounded = raw - rest + np.where(up, unit, np.uint32(0))
    return np.where(np.isnan(value), np.float32(np.nan), rounded.view(np.float32))


def flushed(a: Floats) -> Floats:
    """With subnormal numbers as zeros of their sign."""
    subnormal = np.abs(a) < (_LEAST_HALF if a.dtype == np.float16 else _LEAST_SINGLE)
    return np.where(subnormal, np.copysign(a.dtype.type(0), a), a) if subnormal.any() else a


def saturated(a: Floats) -> Floats:
    """Limited to 0 to 1; a NaN becomes 0."""
    return np.where(a > 0, np.minimum(a, a.dtype.type(1)), a.dtype.type(0))


# -- parts of these ---------------------------------------------------------------------------------


def _chosen(first: Bools, a: Floats, b: Floats) -> Floats:
    """a where it comes `first` or b is a NaN, else b."""
    return propagated(np.where(first | np.isnan(b), a, b), a, b)


def _halves(value: Whole) -> tuple[Doubles, Doubles]:
    """An integer of 64 bits as a double and its error."""
    low = (value & value.dtype.type(0xFFFFFFFF)).astype(np.float64)
    return two_sum((value >> value.dtype.type(32)).astype(np.float64) * 2.0**32, low)


def _fused_singles(product: Doubles, z: Doubles) -> Floats:
    """The sum rounded to `.f32`. Rounded to a double first, it is wrong only if that lies halfway between two
    `.f32`, or where these are subnormal; such lanes are done again.
    """
    total = product + z
    nearest = total.astype(np.float32)
    doubtful = (total.view(np.int64) & _DISCARDED) == _HALFWAY
    small = np.abs(nearest) <= _LEAST_SINGLE
    if small.any():
        doubtful |= small & (total != 0)
    where = np.flatnonzero(doubtful)
    if where.size:
        a, b = (np.broadcast_to(one, total.shape).reshape(-1).take(where) for one in (product, z))
        nearest.reshape(-1)[where] = odd(*two_sum(a, b)).astype(np.float32)
    return nearest


def _fused_doubles(x: Doubles, y: Doubles, z: Doubles, mode: Mode) -> Doubles:
    """Boldo and Melquiond, "Emulation of FMA and correctly rounded sums" (2008)."""
    product, below = two_product(x, y)
    middle, low = two_sum(z, below)
    high, rest = two_sum(product, middle)
    total, error = two_sum(high, odd(*two_sum(low, rest)))
    finite = np.isfinite(x) & np.isfinite(y) & np.isfinite(z)
    plain = ~finite | (x == 0) | (y == 0)
    special = np.where(np.isinf(z) & np.isfinite(x) & np.isfinite(y), z, x * y + z)
    hard = ~plain & ~(_easy(x) & _easy(y) & (_easy(z) | (z == 0)))
    result = np.where(plain, special, directed(total, error, mode))
    result = _signed_zero(result, np.where(plain, special, total), product, z, mode)
    return doubled(_apart(result, hard, exact.fused, mode, x, y, z))


def _signed_zero(result: Floats, total: Doubles, a: Doubles, b: Doubles, mode: Mode) -> Floats:
    """Rounded down, numbers of different signs that cancel out give -0."""
    if mode != ".rm":
        return result
    cancelled = (total == 0) & (np.signbit(a) != np.signbit(b)) & (a == -b)
    return np.where(cancelled, result.dtype.type(-0.0), result)


def _apart(
    result: Floats, hard: Bools, function: Callable[..., float], mode: Mode, *operands: Doubles
) -> Floats:
    """The results, with those of the hard lanes computed one by one."""
    if not hard.any():
        return result
    result = np.array(np.broadcast_to(result, hard.shape))
    columns = [np.broadcast_to(operand, hard.shape)[hard].tolist() for operand in operands]
    result[hard] = [function(*numbers, mode) for numbers in zip(*columns, strict=True)]
    return result


def _easy(a: Doubles) -> Bools:
    size = np.abs(a)
    return (size >= _TINY) & (size <= _SAFE)


def _upper(a: Doubles) -> Doubles:
    """The upper 26 bits of the significand (Veltkamp)."""
    scaled = a * _SPLITTER
    return scaled - (scaled - a)


def doubled(a: Floats) -> Doubles:
    """As doubles, which hold every value."""
    return a.astype(np.float64, copy=False)
