"""The approximate functions (`.approx`), computed in double precision: within the manual's bounds, and not
what any one GPU gives to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ptx_lsp.executor.floats import Floats


def reciprocal(a: Floats) -> Floats:
    return _through_double(np.reciprocal, a)


def reciprocal_root(a: Floats) -> Floats:
    """1 / sqrt(a); that of -0 is negative."""

    def compute(x: Floats) -> Floats:
        return np.reciprocal(np.sqrt(x))

    return _through_double(compute, a)


def _through_double(function: Callable[..., Floats], a: Floats) -> Floats:
    return function(a.astype(np.float64)).astype(a.dtype)


def _function(ufunc: np.ufunc) -> Callable[[Floats], Floats]:
    def compute(a: Floats) -> Floats:
        return _through_double(ufunc, a)

    return compute


FUNCTIONS: dict[str, Callable[[Floats], Floats]] = {
    "rcp": reciprocal,
    "rsqrt": reciprocal_root,
    "sqrt": _function(np.sqrt),
    "sin": _function(np.sin),
    "cos": _function(np.cos),
    "lg2": _function(np.log2),
    "ex2": _function(np.exp2),
    "tanh": _function(np.tanh),
}
