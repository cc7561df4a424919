"""A call as bytes, for executors that unpickle what they pass on: Dask's scheduler, for example, may not have
the modules of the function.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial
from typing import ParamSpec

_P = ParamSpec("_P")


def call_bytes(function: Callable[_P, object], /, *args: _P.args, **kwargs: _P.kwargs) -> bytes:
    """The bytes for which `pickle.loads` calls the function and returns its result."""
    return pickle.dumps(_Call(partial(function, *args, **kwargs)), protocol=5)


class _Call:
    def __init__(self, function: Callable[[], object]) -> None:
        self._function = function

    def __reduce__(self) -> tuple[Callable[[], object], tuple[()]]:
        return self._function, ()
