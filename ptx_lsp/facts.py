"""Facts about functions: computed when first asked for, shared, and kept while they stay true.

A fact is a function of a `Function`. Its value lives as long as neither that function nor what it uses
of its module changes; a new version of the file takes it over (`Module`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar, cast

from ptx_lsp.model.function import Function

_T = TypeVar("_T")


def fact(compute: Callable[[Function], _T]) -> Callable[[Function], _T]:
    """Makes `compute` run once for each function."""

    @wraps(compute)
    def known(function: Function) -> _T:
        try:
            return cast(_T, function.facts[compute])
        except KeyError:
            value = function.facts[compute] = compute(function)
            return value

    return known


def is_known(known: Callable[[Function], object], function: Function) -> bool:
    """Whether a fact of `function` has been computed already."""
    return getattr(known, "__wrapped__", None) in function.facts
