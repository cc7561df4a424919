"""Products of matrices, every sum exact and rounded once.

PTX leaves the order and the rounding of float sums undefined; GPU results are close to those computed here.
Sums are computed in doubles with an error bound. Only if the bound leaves the result undecided, they are
computed again exactly, from slices of all terms that add up without error (Rump, Ogita and Oishi, "Accurate
floating-point summation", 2008).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic import floats
from ptx_lsp.executor.arithmetic.exact import Mode
from ptx_lsp.executor.arithmetic.floats import Doubles, Floats

Integers = npt.NDArray[np.int64]
_UNIT = 2.0**-53


def of_floats(a: Doubles, b: Doubles, c: Doubles, dtype: np.dtype[np.floating]) -> Floats:
    """a @ b + c; products of elements must be exact as doubles."""
    near = np.matmul(a, b) + c
    bound = (np.matmul(np.abs(a), np.abs(b)) + np.abs(c)) * (a.shape[-1] + 3) * _UNIT
    low, high = (near - bound).astype(dtype), (near + bound).astype(dtype)
    found = near.astype(dtype)
    doubtful = np.nonzero((low != high) | ~np.isfinite(bound))
    if doubtful[0].size:
        *matrix, row, column = doubtful
        terms = a[(*matrix, row)] * np.swapaxes(b, -1, -2)[(*matrix, column)]
        found[doubtful] = summed(np.concatenate([terms, c[doubtful][..., None]], axis=-1)).astype(dtype)
    return found


def of_doubles(a: Doubles, b: Doubles, c: Doubles, mode: Mode) -> Doubles:
    """a @ b + c of `.f64`: multiplied and added sequentially, each operation rounded once."""
    total = c
    for at in range(a.shape[-1]):
        total = floats.doubled(floats.fused(a[..., at, None], b[..., at, None, :], total, mode))
    return total


def of_integers(a: Doubles, b: Doubles, c: Integers, *, saturates: bool) -> Integers:
    """a @ b + c of integers of 8 bits and less whose sums fit doubles, and of 32 bits, which wrap around."""
    total = np.matmul(a, b).astype(np.int64) + c
    limit = 1 << 31
    return np.clip(total, -limit, limit - 1) if saturates else (total + limit) % (2 * limit) - limit


def of_bits(
    a: npt.NDArray[np.uint32], b: npt.NDArray[np.uint32], c: Integers, operation: np.ufunc
) -> Integers:
    """How many bits of a row of A and a column of B, 32 to an element, are one together."""
    both = operation(a[..., :, :, None], b[..., None, :, :])
    total = np.bitwise_count(both).sum(axis=-2, dtype=np.int64) + c
    limit = 1 << 31
    return (total + limit) % (2 * limit) - limit


def summed(terms: Doubles) -> Doubles:
    """The sums along the last axis, rounded to odd."""
    plain = terms.sum(axis=-1)
    rest = np.where(np.isfinite(plain)[..., None], terms, 0.0)
    count = (terms.shape[-1] + 2).bit_length()
    parts: list[Doubles] = []
    while rest.any():
        _, exponent = np.frexp(np.abs(rest).max(axis=-1, keepdims=True))
        border = np.ldexp(1.0, exponent + count)
        upper = (border + rest) - border
        parts.append(upper.sum(axis=-1))
        rest = rest - upper
    if not parts:
        return plain
    for _ in parts[1:]:
        for at in range(len(parts) - 1, 0, -1):
            parts[at - 1], parts[at] = floats.two_sum(parts[at - 1], parts[at])
    error = np.zeros_like(plain)
    for part in reversed(parts[1:]):
        error = np.where(part != 0, part, error)
    return np.where(np.isfinite(plain), floats.odd(parts[0], error), plain)
