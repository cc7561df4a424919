"""Numbers by which the client asks for frames and variables. They are valid until the kernel goes on, and are
not given out again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeAlias, TypeVar

from ptx_lsp.debug.adapter.messages import Object
from ptx_lsp.debug.groups import Frame, Group
from ptx_lsp.debug.request_error import OutdatedError, RequestError

Children: TypeAlias = Callable[[], list[Object]]
Setter: TypeAlias = Callable[[str, str], str]
"""Gives a variable with a name a value; its new text. Raises RequestError."""
_One = TypeVar("_One")


class References:
    """The numbers that were given out since the kernel stopped."""

    def __init__(self) -> None:
        self._frames = _Numbered[tuple[Group, Frame]]()
        self._variables = _Numbered[tuple[Children, Setter | None]]()

    def clear(self) -> None:
        self._frames.clear()
        self._variables.clear()

    def frame(self, group: Group, depth: int, frame: Frame) -> int:
        """The number of a frame of a group. The innermost one has the depth 0."""
        return self._frames.number((group.number, depth), (group, frame))

    def framed(self, number: int) -> tuple[Group, Frame]:
        """The frame with a number. Raises RequestError."""
        found = self._frames.get(number)
        if found is None:
            raise OutdatedError(f"there is no frame {number}: the kernel has gone on")
        return found

    def variables(self, key: Hashable, children: Children, setter: Setter | None = None) -> int:
        """The number of a variable with children. A variable with the same key has the same number."""
        return self._variables.number(key, (children, setter))

    def children(self, number: int) -> list[Object]:
        """The children of the variable with a number. Raises RequestError."""
        return self._of(number)[0]()

    def setter(self, number: int) -> Setter:
        """The function that changes those children. Raises RequestError."""
        found = self._of(number)[1]
        if found is None:
            raise RequestError("these values cannot be changed")
        return found

    def _of(self, number: int) -> tuple[Children, Setter | None]:
        found = self._variables.get(number)
        if found is None:
            raise OutdatedError(f"there are no variables {number}: the kernel has gone on")
        return found


class _Numbered(Generic[_One]):
    """Things with consecutive numbers, from 1. Numbers of things that are gone are not used again."""

    def __init__(self) -> None:
        self._first = 1
        self._numbers: dict[Hashable, int] = {}
        self._kept: list[_One] = []

    def clear(self) -> None:
        self._first += len(self._kept)
        self._numbers.clear()
        self._kept.clear()

    def number(self, key: Hashable, one: _One) -> int:
        found = self._numbers.setdefault(key, self._first + len(self._kept))
        at = found - self._first
        self._kept[at : at + 1] = [one]
        return found

    def get(self, number: int) -> _One | None:
        at = number - self._first
        return self._kept[at] if 0 <= at < len(self._kept) else None
