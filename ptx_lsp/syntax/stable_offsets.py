"""Where the nodes of a statement are, though the text before some of them has changed.

The `start` and `end` of a node are *marks*. In a statement that was read as a whole a mark is the byte
offset from where the statement begins. An edit inside a function gives the statements that it touches new
marks, above all that were used before; the others keep theirs, and so can be kept themselves.
Within one statement of a body, marks grow by one with each byte; of two statements, either may have the
larger ones.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Protocol

MOST_PIECES = 1_000
"""With more, a function is read as a whole again."""


class Located(Protocol):
    """Anything with marks, as nodes have them."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


class OffsetMap:
    """The marks of one top-level statement. Never changes; `spliced` gives new ones.

    `pieces` are in the order of the text: the offset where each begins, and the mark there.
    """

    __slots__ = ("_marks", "_offsets", "_shifts", "limit", "pieces")

    def __init__(self, pieces: Iterable[tuple[int, int]], limit: int) -> None:
        self.pieces = tuple(pieces)
        self.limit = limit
        """All marks are below it."""
        ordered = sorted((mark, offset - mark) for offset, mark in self.pieces)
        self._offsets = [offset for offset, _ in self.pieces]
        self._marks = [mark for mark, _ in ordered]
        self._shifts = [shift for _, shift in ordered]

    @classmethod
    def identity(cls, size: int) -> OffsetMap:
        """The map of a statement of `size` bytes that was read as a whole."""
        return cls([(0, 0)], size + 1)

    def offset(self, mark: int) -> int:
        """The byte offset of a mark, from the start of the statement."""
        return mark + self._shifts[bisect_right(self._marks, mark) - 1]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The byte offsets of a node's `start` and `end`."""
        if start == end:
            at = self.offset(start)
            return at, at
        return self.offset(start), self.offset(end - 1) + 1

    def mark(self, offset: int) -> int:
        """The mark at a byte offset."""
        piece, mark = self.pieces[bisect_right(self._offsets, offset) - 1]
        return mark + offset - piece

    def spliced(self, start: int, end: int, size: int, mark: int) -> OffsetMap:
        """The marks after the bytes `start` to `end` were replaced by `size` others, whose marks begin at
        `mark`, which none is above so far.
        """
        growth = size - (end - start)
        before = [piece for piece in self.pieces if piece[0] < start]
        after = [(at + growth, mark) for at, mark in self.pieces if at > end]
        rest = (end + growth, self.mark(end))
        return OffsetMap([*before, (start, mark), rest, *after], mark + size + 1)
