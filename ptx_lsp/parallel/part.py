"""Parts of the work and their results as bytes.

Pickled here rather than by the executor, so that a worker with other code refuses it before it is unpickled,
and that no exception fails to arrive.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn, TypeVar, cast

from ptx_lsp.parallel.same_code import Code, refuse_other_code

_Item = TypeVar("_Item")


class Raised(NamedTuple):
    """In place of a result: what `function` raised, pickled."""

    error: bytes

    @classmethod
    def of(cls, error: Exception) -> Raised:
        """The error, or its words in a RuntimeError if it is not the same after a journey."""
        try:
            data = pickle.dumps(error)
            pickle.loads(data)
        except Exception:
            data = pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
        return cls(data)

    def reraise(self) -> NoReturn:
        """Raises it."""
        error: object = pickle.loads(self.error)
        assert isinstance(error, Exception)
        raise error


def packed(function: Callable[[_Item], object], items: Sequence[_Item]) -> bytes:
    """The argument of `run_part`."""
    return pickle.dumps((function, items), protocol=5)


def run_part(part: bytes, code: Code | None) -> bytes:
    """Applies the function to the items, up to the first that raises; in a worker. With `code`, the worker
    must have the same.
    """
    try:
        if code is not None:
            refuse_other_code(code)
        function, items = cast(
            "tuple[Callable[[object], object], list[object]]", pickle.loads(part)
        )
    except Exception as error:
        return pickle.dumps([Raised.of(error)])
    results: list[object] = []
    for item in items:
        try:
            results.append(function(item))
        except Exception as error:
            results.append(Raised.of(error))
            break
    try:
        return pickle.dumps(results, protocol=5)
    except Exception as error:  # a result that cannot be sent
        return pickle.dumps([Raised.of(error)])


def unpacked(answer: bytes) -> list[object]:
    """The results of `run_part`, each perhaps a `Raised`."""
    return cast("list[object]", pickle.loads(answer))
