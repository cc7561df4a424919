"""Stable offsets: the positions of a statement's nodes after edits of the text before them.

The `start` and `end` of a node are *marks*. In a statement that was parsed completely, a mark is the byte
offset from the start of the statement. An edit inside a function gives the changed statements new marks,
above all marks used before. The other statements keep their marks, and so their nodes can be kept. Within one
statement of a body, marks increase by one per byte. Marks of different statements are not ordered.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from ptx_lsp.static_typing import Protocol

MOST_PIECES = 1_000
"""With more pieces, a function is parsed completely again."""


class Located(Protocol):
    """Any object with marks, as nodes have."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


class OffsetMap:
    """The marks of one top-level statement, immutable; `spliced` returns a new map.

    `pieces` are in text order: the offset at which each begins, and the mark there.
    """

    __slots__ = ("_marks", "_offsets", "_shifts", "limit", "pieces")

    def __init__(self, pieces: Iterable[tuple[int, int]], limit: int) -> None:
        self.pieces = tuple(pieces)
        self.limit = limit
        """An upper bound of all marks."""
        ordered = sorted((mark, offset - mark) for offset, mark in self.pieces)
        self._offsets = [offset for offset, _ in self.pieces]
        self._marks = [mark for mark, _ in ordered]
        self._shifts = [shift for _, shift in ordered]

    @classmethod
    def identity(cls, size: int) -> OffsetMap:
        """The map of a statement of `size` bytes that was parsed completely."""
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
        """The marks after the bytes `start` to `end` were replaced by `size` bytes whose marks begin at
        `mark`, which is above all previous marks.
        """
        growth = size - (end - start)
        before = [piece for piece in self.pieces if piece[0] < start]
        after = [(at + growth, mark) for at, mark in self.pieces if at > end]
        rest = (end + growth, self.mark(end))
        return OffsetMap([*before, (start, mark), rest, *after], mark + size + 1)
