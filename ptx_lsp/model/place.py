"""Places that stay true while other statements change."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ptx_lsp.syntax import nodes


class Located(Protocol):
    """Anything with byte offsets."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


class Place(NamedTuple):
    """Bytes `start` to `end` of the top-level statement `owner`, counted from where that begins.

    `owner` None: of the file itself.
    """

    owner: nodes.Statement | None
    start: int
    end: int

    @classmethod
    def of(cls, owner: nodes.Statement | None, part: Located) -> Place:
        return cls(owner, part.start, part.end)
