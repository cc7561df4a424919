"""PTX source text: bytes, lines, columns and edits.

Every offset in this project is a byte offset into the UTF-8 text, counted from 0. Lines and columns count
from 0 here; users see them counted from 1. No LSP types.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import accumulate

from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import Literal

ColumnUnit = Literal["utf-8", "utf-16", "utf-32"]


class Span(NamedTuple):
    """The half-open range of byte offsets from `start` to `end`."""

    start: int
    end: int

    def shifted(self, by: int) -> Span:
        return Span(self.start + by, self.end + by)


class Position(NamedTuple):
    """A line and a column, both from 0; the column counts the requested unit."""

    line: int
    column: int


class Edit(NamedTuple):
    """Replaces the bytes from `start` to `end` with `replacement`."""

    start: int
    end: int
    replacement: bytes

    @property
    def growth(self) -> int:
        """The number of bytes by which the text becomes longer."""
        return len(self.replacement) - (self.end - self.start)


class Source:
    """A PTX text and the index of its lines, immutable; `edited` returns a new one.

    Lines end as in the Language Server Protocol: only at LF, CR LF or CR.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data

    @classmethod
    def of(cls, text: str) -> Source:
        return cls(text.encode())

    @cached_property
    def text(self) -> str:
        """One character per byte (Latin-1), so that byte offsets index it. PTX names are ASCII."""
        return self.data.decode("latin-1")

    def part(self, start: int, end: int) -> str:
        """`text` from `start` to `end`, without the cost of converting all of a large file."""
        return self.data[start:end].decode("latin-1")

    @cached_property
    def is_ascii(self) -> bool:
        return self.data.isascii()

    @cached_property
    def has_returns(self) -> bool:
        """Whether the text contains a CR."""
        return b"\r" in self.data

    @cached_property
    def lines(self) -> Lines:
        return Lines.of(self.data)

    @property
    def line_starts(self) -> list[int]:
        """The offset at which each line begins."""
        return list(self.lines)

    @property
    def line_count(self) -> int:
        return self.lines.count

    def line_start(self, line: int) -> int:
        """The offset of the start of `line`, from 0; the end of the text for the line after the last."""
        return self.lines.start(line) if line < self.line_count else len(self.data)

    def line_of(self, offset: int) -> int:
        """The line, from 0, that contains `offset`."""
        return self.lines.at(offset)[0]

    def row_of(self, offset: int) -> int:
        """The number of LF before `offset`."""
        if self.has_returns:
            return self.data.count(b"\n", 0, offset)
        line, start = self.lines.at(min(offset, len(self.data)))
        return line + self.data.count(b"\n", start, offset)

    def line_span(self, line: int) -> Span:
        """The span of `line` without its line end."""
        start, end = self.lines.start(line), self.line_start(line + 1)
        while end > start and self.data[end - 1] in b"\r\n":
            end -= 1
        return Span(start, end)

    def line_end(self, offset: int = 0) -> str:
        """CR LF or LF, as in the line that contains `offset`, or in the line before if it has no line end."""
        end = self.data.find(b"\n", offset)
        if end < 0:
            end = self.data.rfind(b"\n", 0, offset)
        return "\r\n" if self.data[max(0, end - 1) : end] == b"\r" else "\n"

    def decoded(self, start: int, end: int) -> str:
        """The text between two offsets; bytes that are not UTF-8 become U+FFFD."""
        return self.data[start:end].decode("utf-8", "replace")

    def position(self, offset: int, unit: ColumnUnit = "utf-32") -> Position:
        """The line and column of `offset`; an offset beyond the text counts as its end."""
        offset = min(offset, len(self.data))
        line, start = self.lines.at(offset)
        if unit == "utf-8" or self.is_ascii:
            return Position(line, offset - start)
        return Position(line, _length(self.decoded(start, offset), unit))

    def positions(
        self, offsets: Iterable[int], unit: ColumnUnit = "utf-32"
    ) -> Iterator[tuple[int, int]]:
        """The lines and columns of offsets in ascending order, none beyond the text. Each line is looked at
        once.
        """
        is_bytes = unit == "utf-8" or self.is_ascii
        line = start = column = before = end = 0
        """`before` is the last offset, in `line`, which goes from `start` to `end`."""
        for offset in offsets:
            if offset >= end:
                line, start, end = self.lines.around(offset)
                column, before = 0, start
            if is_bytes:
                yield line, offset - start
            else:
                column += _length(self.decoded(before, offset), unit)
                before = offset
                yield line, column

    def offset(self, position: Position, unit: ColumnUnit = "utf-32") -> int:
        """The offset of a line and column; a column beyond the line counts as the line's end."""
        if position.line >= self.line_count:
            return len(self.data)
        start, end = self.line_span(position.line)
        if unit == "utf-8" or self.is_ascii:
            return min(start + position.column, end)
        length = 0
        offset = start
        for character in self.decoded(start, end):
            if length >= position.column:
                break
            length += _length(character, unit)
            offset += len(character.encode("utf-8"))
        return min(offset, end)

    def edited(self, edit: Edit) -> Source:
        """The text after an edit. The line index outside the edit is reused."""
        data = memoryview(self.data)
        edited = Source(b"".join((data[: edit.start], edit.replacement, data[edit.end :])))
        known, new = self.__dict__, edited.__dict__
        if known.get("is_ascii") and edit.replacement.isascii():
            new["is_ascii"] = True
        if known.get("has_returns") is False and b"\r" not in edit.replacement:
            new["has_returns"] = False
        if "lines" in known:
            new["lines"] = self.lines.edited(edit, edited.data)
        return edited


class Lines:
    """The starts of the lines of a text, in blocks of many lines, immutable. An edit changes a few blocks and
    moves the others.
    """

    def __init__(self, blocks: list[array[int]], offsets: list[int]) -> None:
        self._blocks = blocks
        """The starts of lines, relative to the first line of the block."""
        self._offsets = offsets
        """The start of each block."""
        self._numbers = [0, *accumulate(map(len, blocks))]
        """The first line of each block, and how many lines there are."""

    @classmethod
    def of(cls, data: bytes) -> Lines:
        return cls(*_blocks(data, 0, None))

    @property
    def count(self) -> int:
        return self._numbers[-1]

    def __iter__(self) -> Iterator[int]:
        for offset, block in zip(self._offsets, self._blocks, strict=True):
            yield from [offset + one for one in block]

    def start(self, line: int) -> int:
        """The offset of the start of a line."""
        block = bisect_right(self._numbers, line) - 1
        return self._offsets[block] + self._blocks[block][line - self._numbers[block]]

    def at(self, offset: int) -> tuple[int, int]:
        """The line that contains `offset`, and its start."""
        block = bisect_right(self._offsets, offset) - 1
        begin, starts = self._offsets[block], self._blocks[block]
        index = bisect_right(starts, offset - begin) - 1
        return self._numbers[block] + index, begin + starts[index]

    def around(self, offset: int) -> tuple[int, int, int]:
        """The line that contains `offset`, its start, and the start of the next one, or the offset itself if
        that is unknown.
        """
        block = bisect_right(self._offsets, offset) - 1
        begin, starts = self._offsets[block], self._blocks[block]
        index = bisect_right(starts, offset - begin)
        end = begin + starts[index] if index < len(starts) else offset
        return self._numbers[block] + index - 1, begin + starts[index - 1], end

    def edited(self, edit: Edit, data: bytes) -> Lines:
        """The lines of `data`, the text after an edit. The scan begins at the line before the edit, whose CR
        may now have a LF. It ends after the line that follows the edit, where a LF may have lost its CR.
        """
        offsets, growth = self._offsets, edit.growth
        before = self.start(max(0, self.at(edit.start)[0] - 1))
        first = bisect_right(offsets, before) - 1
        last = bisect_right(offsets, edit.end + 1)
        end = offsets[last] + growth if last < len(offsets) else None
        blocks, begins = _blocks(data, offsets[first], end)
        after = [one + growth for one in offsets[last:]]
        return Lines(
            [*self._blocks[:first], *blocks, *self._blocks[last:]], [*offsets[:first], *begins, *after]
        )


_MOST_LINES = 512
"""The maximum number of lines in a block."""


def _blocks(
    data: bytes, start: int, end: int | None
) -> tuple[list[array[int]], list[int]]:
    """The blocks of the lines from `start` to the start of the line at `end`, and the start of each block."""
    lines = data[start:end].splitlines(keepends=True)
    if not lines or (end is None and data.endswith((b"\n", b"\r"))):
        lines.append(b"")
    blocks: list[array[int]] = []
    begins: list[int] = []
    for first in range(0, len(lines), _MOST_LINES):
        begins.append(start)
        starts = list(accumulate(map(len, lines[first : first + _MOST_LINES]), initial=0))
        start += starts.pop()
        blocks.append(array("I", starts))
    return blocks, begins


def _length(text: str, unit: ColumnUnit) -> int:
    """Code points (`utf-32`) or UTF-16 code units."""
    return len(text) if unit == "utf-32" else len(text.encode("utf-16-le")) // 2
