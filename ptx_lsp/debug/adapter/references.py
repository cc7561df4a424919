"""Numbers by which the client asks for frames and variables. They are valid until the kernel goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ptx_lsp.debug.adapter.messages import Object
from ptx_lsp.debug.groups import Frame, Group
from ptx_lsp.debug.request_error import OutdatedError, RequestError

Children: TypeAlias = Callable[[], list[Object]]
Setter: TypeAlias = Callable[[str, str], str]
"""Gives a variable with a name a value; its new text. Raises RequestError."""


class References:
    """The numbers that were given out since the kernel stopped."""

    def __init__(self) -> None:
        self._frames: list[tuple[Group, Frame]] = []
        self._variables: list[tuple[Children, Setter | None]] = []

    def clear(self) -> None:
        self._frames.clear()
        self._variables.clear()

    def frame(self, group: Group, frame: Frame) -> int:
        """The number of a frame of a group."""
        self._frames.append((group, frame))
        return len(self._frames)

    def framed(self, number: int) -> tuple[Group, Frame]:
        """The frame with a number. Raises RequestError."""
        if not 0 < number <= len(self._frames):
            raise OutdatedError(f"there is no frame {number}: the kernel has gone on")
        return self._frames[number - 1]

    def variables(self, children: Children, setter: Setter | None = None) -> int:
        """The number of a variable with children."""
        self._variables.append((children, setter))
        return len(self._variables)

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
        if not 0 < number <= len(self._variables):
            raise OutdatedError(f"there are no variables {number}: the kernel has gone on")
        return self._variables[number - 1]
