"""PTX source text: bytes, lines, columns and edits.

Every offset in this project is a byte offset into the UTF-8 text, counted from 0. Lines and columns
count from 0 here; what is shown to users counts from 1. No LSP types.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from typing import Literal, NamedTuple

ColumnUnit = Literal["utf-8", "utf-16", "utf-32"]


class Span(NamedTuple):
    """The half-open range of byte offsets from `start` to `end`."""

    start: int
    end: int

    def shifted(self, by: int) -> Span:
        return Span(self.start + by, self.end + by)


class Position(NamedTuple):
    """A line and a column, both from 0; the column counts the unit asked for."""

    line: int
    column: int


class Edit(NamedTuple):
    """Replaces the bytes from `start` to `end` by `replacement`."""

    start: int
    end: int
    replacement: bytes

    @property
    def growth(self) -> int:
        """By how many bytes the text becomes longer."""
        return len(self.replacement) - (self.end - self.start)


class Source:
    """A PTX text and the index of its lines. Never changes; `edited` gives a new one.

    Lines end as the Language Server Protocol has it: at LF, CR LF or CR, and at nothing else.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data

    @classmethod
    def of(cls, text: str) -> Source:
        return cls(text.encode())

    @cached_property
    def text(self) -> str:
        """One character a byte (Latin-1), so that byte offsets index it. PTX names are ASCII."""
        return self.data.decode("latin-1")

    @cached_property
    def is_ascii(self) -> bool:
        return self.data.isascii()

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset at which each line begins."""
        starts = [0, *accumulate(map(len, self.data.splitlines(keepends=True)))]
        if len(starts) > 1 and not self.data.endswith((b"\n", b"\r")):
            starts.pop()  # the last line has no end
        return starts

    @property
    def line_count(self) -> int:
        return len(self.line_starts)

    def line_of(self, offset: int) -> int:
        """The line, from 0, that holds `offset`."""
        return bisect_right(self.line_starts, offset) - 1

    def line_span(self, line: int) -> Span:
        """Where `line` lies, its line end left out."""
        starts = self.line_starts
        end = starts[line + 1] if line + 1 < len(starts) else len(self.data)
        while end > starts[line] and self.data[end - 1] in b"\r\n":
            end -= 1
        return Span(starts[line], end)

    def decoded(self, start: int, end: int) -> str:
        """The text between two offsets; bytes that are not UTF-8 become U+FFFD."""
        return self.data[start:end].decode("utf-8", "replace")

    def position(self, offset: int, unit: ColumnUnit = "utf-32") -> Position:
        """The line and column of `offset`; an offset beyond the text is that of its end."""
        offset = min(offset, len(self.data))
        line = self.line_of(offset)
        start = self.line_starts[line]
        if unit == "utf-8" or self.is_ascii:
            return Position(line, offset - start)
        return Position(line, _length(self.decoded(start, offset), unit))

    def offset(self, position: Position, unit: ColumnUnit = "utf-32") -> int:
        """The offset of a line and column; a column past the line's end is the line's end."""
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
        """The text after an edit. What is known of the lines outside of it is taken over."""
        data = memoryview(self.data)
        edited = Source(b"".join((data[: edit.start], edit.replacement, data[edit.end :])))
        if "line_starts" in self.__dict__:
            edited.__dict__["line_starts"] = self._line_starts_after(edit, edited.data)
        return edited

    def _line_starts_after(self, edit: Edit, data: bytes) -> list[int]:
        """Only lines that the edit touches are looked at, and the one before, whose CR may have a LF now."""
        starts = self.line_starts
        first = max(0, bisect_right(starts, edit.start) - 2)
        last = bisect_right(starts, edit.end + 1)  # a LF there may have lost its CR
        begin, growth = starts[first], edit.growth
        if last >= len(starts):
            return starts[:first] + [begin + one for one in Source(data[begin:]).line_starts]
        end = starts[last] + growth
        within = Source(data[begin:end]).line_starts
        if end > begin and data[end - 1] in b"\r\n":
            within = within[:-1]  # the start of the line behind
        after = [one + growth for one in starts[last:]] if growth else starts[last:]
        return starts[:first] + [begin + one for one in within] + after


def _length(text: str, unit: ColumnUnit) -> int:
    """Code points (`utf-32`) or UTF-16 code units."""
    return len(text) if unit == "utf-32" else len(text.encode("utf-16-le")) // 2
