"""The approximate functions (`.approx`), computed in double precision: within the manual's error bounds, not
bit-identical to any particular GPU.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ptx_lsp.executor.arithmetic.floats import Floats


def reciprocal(a: Floats) -> Floats:
    return _through_double(np.reciprocal, a)


def reciprocal_root(a: Floats) -> Floats:
    """1 / sqrt(a); that of -0 is negative."""

    def compute(x: Floats) -> Floats:
        return np.reciprocal(np.sqrt(x))

    return _through_double(compute, a)


def quotient(a: Floats, b: Floats) -> Floats:
    """a / b; 0, or NaN for an infinite a, where b is beyond 2**126."""
    found = a.astype(np.float64) / b.astype(np.float64)
    beyond = np.isfinite(b) & (np.abs(b) > 2.0**126)
    return np.where(beyond, np.copysign(np.where(np.isinf(a), np.nan, 0.0), found), found).astype(a.dtype)


def gross(function: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
    """A function of the upper halves of doubles, with a result that has no lower half; subnormal numbers are
    zeros (`rcp.approx.ftz.f64`, `rsqrt.approx.ftz.f64`).
    """

    def compute(a: Floats) -> Floats:
        found = _flushed(function(_flushed(_upper(a))))
        return np.where(np.isnan(found), _NAN, _upper(found))

    return compute


_NAN = np.array(0x7FFFFFFF00000000, np.uint64).view(np.float64)


def _upper(a: Floats) -> Floats:
    return (a.view(np.uint64) & np.uint64(0xFFFFFFFF00000000)).view(np.float64)


def _flushed(a: Floats) -> Floats:
    return np.where(np.abs(a) < np.finfo(np.float64).smallest_normal, np.copysign(0.0, a), a)


def _through_double(function: Callable[..., Floats], a: Floats) -> Floats:
    return function(a.astype(np.float64)).astype(a.dtype)


def _function(ufunc: np.ufunc) -> Callable[[Floats], Floats]:
    def compute(a: Floats) -> Floats:
        return _through_double(ufunc, a)

    return compute


FUNCTIONS: dict[str, Callable[..., Floats]] = {
    "div": quotient,
    "gross rcp": gross(reciprocal),
    "gross rsqrt": gross(reciprocal_root),
    "rsqrt": reciprocal_root,
    "sqrt": _function(np.sqrt),
    "sin": _function(np.sin),
    "cos": _function(np.cos),
    "lg2": _function(np.log2),
    "ex2": _function(np.exp2),
    "tanh": _function(np.tanh),
}
