"""Formats a text: one statement per line, indented blocks, operands and comments in columns.

Only blanks and line ends between tokens change; tokens do not. Line breaks within a statement are preserved,
and so are empty lines (at most one). The columns are the same for every line, so formatting a part gives the
same result as formatting the whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ptx_lsp.ide.cursor.tokens import Token, tokens
from ptx_lsp.ide.editing.layout_units import LayoutUnit, layout_units
from ptx_lsp.model.module import Module
from ptx_lsp.text import Edit, Span


class Style(NamedTuple):
    """`indent` is the width of one step, in columns. Operands begin `operand_column` columns after the start
    of the opcode. Trailing comments begin at `comment_column` or a multiple of `_COMMENT_STEP` further.
    """

    indent: int = 4
    use_tabs: bool = False
    operand_column: int = 20
    comment_column: int = 48


ON_TYPE = (";", "}", "\n")
"""Characters after which an editor can request formatting of the line."""

_COMMENT_STEP = 16


def formatting(
    module: Module, style: Style | None = None, span: Span | None = None
) -> tuple[Edit, ...]:
    """The edits that format a file, or the lines that `span` touches."""
    source = module.document.source
    whole = Span(0, len(source.data))
    layout = _Layout(module, style or Style())
    if span is None:
        return tuple(layout.edits(whole))
    size = len(source.data)
    first = source.line_span(source.line_of(min(span.start, size)))
    last = source.line_span(source.line_of(max(first.start, min(span.end, size) - 1)))
    return tuple(
        edit for edit in layout.edits(Span(first.start, last.end))
        if first.start <= edit.end and edit.start < last.end
    )


def formatting_on_type(
    module: Module, offset: int, style: Style | None = None
) -> tuple[Edit, ...]:
    """The edits for the line completed by the character before `offset`."""
    source = module.document.source
    at = max(0, offset - 1)
    line = source.line_span(source.line_of(at))
    end = min(offset, line.end)
    return tuple(edit for edit in formatting(module, style, line) if edit.end <= end)


class _Layout:
    def __init__(self, module: Module, style: Style) -> None:
        self.module = module
        self.text = module.document.source.text
        self.style = style
        self.line_end = module.document.source.line_end()
        self.column = 0
        """The current column of the output line."""

    def edits(self, span: Span) -> Iterator[Edit]:
        """The edits of all units that touch `span`, and of the gaps before them."""
        position = 0
        for piece in layout_units(self.module, span):
            if piece.end >= span.start and piece.start <= span.end:
                yield from self._piece(position, piece)
            position = piece.end
        if span.end == len(self.text):
            yield from self._end(position)

    def _piece(self, position: int, piece: LayoutUnit) -> Iterator[Edit]:
        """The comments from `position` on, then the piece."""
        text = self.text
        before = list(tokens(text, position, piece.start)) if text[position : piece.start].strip() else []
        if any(token.kind not in ("comment", "preprocessor", "dwarf") for token in before):
            self._pass(position, piece.end)
            return  # a separate statement, which is not a layout unit
        depth = piece.depth + (1 if piece.kind == "brace" and text[piece.start] == "}" else 0)
        for index, token in enumerate(before):
            is_last = index == len(before) - 1 and piece.kind != "verbatim"
            yield from self._comment(position, _trimmed(text, token), depth, is_last)
            position = _trimmed(text, token).end
        if piece.kind == "verbatim":
            yield from self._line(position, piece.start, piece.depth, stays=True)
            self._pass(piece.start, piece.end)
            return
        yield from self._first(position, piece)
        yield from self._inside(piece)

    def _first(self, position: int, piece: LayoutUnit) -> Iterator[Edit]:
        """The gap before a unit. Target lists and prototypes stay after their labels."""
        gap = self.text[position : piece.start]
        is_list = self.text.startswith((".branchtargets", ".calltargets", ".callprototype"), piece.start)
        if is_list and "\n" not in gap and self.text[position - 1 : position] == ":":
            yield from self._gap(position, piece.start, " ")
            return
        depth = max(0, piece.depth - 1) if piece.kind == "label" else piece.depth
        yield from self._line(position, piece.start, depth)

    def _line(self, start: int, end: int, depth: int, stays: bool = False) -> Iterator[Edit]:
        """A new line, or two where there was an empty one."""
        gap = self.text[start:end]
        if stays and "\n" not in gap:
            self._pass(start, end)
            return
        if start == 0:
            lines = 0
        else:
            lines = min(max(gap.count("\n"), 1), 2)
            if self.text[start - 1] == "{" or self.text[end : end + 1] == "}":
                lines = 1
        yield from self._gap(start, end, self.line_end * lines + self._indent(depth))

    def _inside(self, piece: LayoutUnit) -> Iterator[Edit]:
        """The gaps between the tokens of a piece."""
        text = self.text
        found = [_trimmed(text, token) for token in tokens(text, piece.start, piece.end)]
        begin = self.column
        open_brackets = 0
        for index, token in enumerate(found):
            if index:
                before = found[index - 1]
                gap = text[before.end : token.start]
                if "\n" in gap:
                    closes = text[token.start] in ")" and piece.kind == "head"
                    inner = (open_brackets and not closes) or piece.kind != "head"
                    depth = piece.depth + (1 if inner else 0)
                    yield from self._gap(before.end, token.start, self.line_end + self._indent(depth))
                elif before.end == piece.opcode_end and text[token.start] != ";":
                    column = begin + self.style.operand_column
                    blanks = " " * max(1, column - self.column)
                    yield from self._gap(before.end, token.start, blanks)
                else:
                    yield from self._gap(before.end, token.start, _blank(text, before, token, gap))
            open_brackets += _OPEN.get(text[token.start], 0) if token.kind == "mark" else 0
            self._pass(token.start, token.end)

    def _comment(
        self, start: int, token: Token, depth: int, is_last: bool = False
    ) -> Iterator[Edit]:
        """Moves a trailing comment to its column and any other comment to its own line. `is_last`: the next
        unit starts a new line.
        """
        gap = self.text[start : token.start]
        is_behind = start > 0 and "\n" not in gap
        if token.kind != "comment":
            if "\n" in gap or start == 0:
                yield from self._gap(start, token.start, _lines(gap, self.line_end) if start else "")
        elif is_behind:
            column = self.style.comment_column
            while column < self.column + 2:
                column += _COMMENT_STEP
            blanks = " " * (column - self.column)
            ends_line = is_last or _LINE_END.match(self.text, token.end) is not None
            yield from self._gap(start, token.start, blanks if ends_line else " ")
        else:
            yield from self._line(start, token.start, depth)
        self._pass(token.start, token.end)

    def _end(self, position: int) -> Iterator[Edit]:
        """The text after the last unit: comments, then one line end."""
        text = self.text
        found = [_trimmed(text, token) for token in tokens(text, position)]
        if any(token.kind not in ("comment", "preprocessor", "dwarf") for token in found):
            return
        for token in found:
            yield from self._comment(position, token, 0)
            position = token.end
        if text and position:
            ends_line = text[position - 1] == "\n"
            yield from self._gap(position, len(text), "" if ends_line else self.line_end)

    def _gap(self, start: int, end: int, wanted: str) -> Iterator[Edit]:
        if self.text[start:end] != wanted:
            yield Edit(start, end, wanted.encode())
        lines = wanted.rpartition("\n")
        width = self._width(lines[2])
        self.column = width if lines[1] or start == 0 else self.column + width

    def _pass(self, start: int, end: int) -> None:
        """Advances past unchanged text."""
        _, new_line, last = self.text[start:end].rpartition("\n")
        self.column = self._width(last) + (0 if new_line else self.column)

    def _width(self, text: str) -> int:
        """In columns, of what has one character for each byte."""
        further = 0 if text.isascii() else len(_FURTHER_BYTES.findall(text))
        return len(text) - further + text.count("\t") * (self.style.indent - 1)

    def _indent(self, depth: int) -> str:
        return "\t" * depth if self.style.use_tabs else " " * (self.style.indent * depth)


_FURTHER_BYTES = re.compile("[\x80-\xbf]")
"""The continuation bytes of a UTF-8 character."""
_OPEN = {"(": 1, ")": -1}
_LINE_END = re.compile(r"[ \t\f\r\x1a]*(?:\n|\Z)")


def _lines(gap: str, line_end: str) -> str:
    return line_end * min(max(gap.count("\n"), 1), 2)


def _trimmed(text: str, token: Token) -> Token:
    """A one-line comment without trailing blanks."""
    if token.kind not in ("comment", "preprocessor", "dwarf"):
        return token
    end = token.end
    while end > token.start and text[end - 1] in " \t\r\f\x1a":
        end -= 1
    return token._replace(end=end)


def _blank(text: str, before: Token, token: Token, gap: str) -> str:
    """The gap between two tokens of a line. A gap is inserted only after commas."""
    first, last = text[before.start], text[token.start]
    is_mark, was_mark = token.kind == "mark", before.kind == "mark"
    if is_mark and last in ",;)]":
        return ""
    if was_mark and first in "@([":
        return ""
    if was_mark and first == ",":
        return " "
    if is_mark and last == "(" and before.kind == "word":
        return ""
    if was_mark and first == "!":
        return ""
    return " " if gap else ""
