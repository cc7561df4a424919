"""Formats a text: one statement per line, indented blocks, operands and comments in columns.

Only blanks and line ends between tokens change; tokens do not. Line breaks within a statement are preserved,
and so are empty lines (at most one). The columns are the same for every line, so formatting a part gives the
same result as formatting the whole.
"""

from __future__ import annotations

import re

from ptx_lsp.ide.cursor.tokens import Token, tokens
from ptx_lsp.ide.editing.layout_units import LayoutUnit, layout_units
from ptx_lsp.model.module import Module
from ptx_lsp.named_tuple import NamedTuple
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
_MOST_INDENTED = 100
"""Blocks inside more blocks than these are not indented further: the blanks would grow with the square of the
depth.
"""


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
        self.found: list[Edit] = []
        self._gaps: dict[str, tuple[bytes, int, bool]] = {}
        """Gaps as bytes, the width of their last line, and whether they have several lines."""
        self._opcodes: set[str] = set()
        """Those with the wanted gaps, with their guards."""
        self._indents: list[str] = []
        """The blanks of each depth."""

    def edits(self, span: Span) -> list[Edit]:
        """The edits of all units that touch `span`, and of the gaps that do."""
        position = 0
        for unit in layout_units(self.module, span.start):
            if unit.end >= span.start:
                self._unit(position, unit)
            position = unit.end
            if position > span.end:
                return self.found
        self._end(position)
        return self.found

    def _unit(self, position: int, unit: LayoutUnit) -> None:
        """The comments from `position` on, then the unit."""
        text = self.text
        before = list(tokens(text, position, unit.start)) if text[position : unit.start].strip() else ()
        if before:
            if any(token.kind not in ("comment", "preprocessor", "dwarf") for token in before):
                self._pass(position, unit.end)
                return  # a separate statement, which is not a layout unit
            depth = unit.depth + (1 if unit.kind == "brace" and text[unit.start] == "}" else 0)
            for index, token in enumerate(before):
                is_last = index == len(before) - 1 and unit.kind != "verbatim"
                self._comment(position, _trimmed(text, token), depth, is_last)
                position = _trimmed(text, token).end
        if unit.kind == "verbatim":
            self._line(position, unit.start, unit.depth, stays=True)
            self._pass(unit.start, unit.end)
            return
        self._first(position, unit)
        if not self._tidy(unit):
            self._inside(unit)

    def _first(self, position: int, unit: LayoutUnit) -> None:
        """The gap before a unit. Target lists and prototypes stay after their labels."""
        text, start, depth = self.text, unit.start, unit.depth
        is_list = text[start] == "." and text.startswith(_LISTS, start)
        if is_list and "\n" not in text[position:start] and text[position - 1 : position] == ":":
            self._gap(position, start, " ")
            return
        if unit.kind == "label" and depth:
            depth -= 1
        self._line(position, start, depth)

    def _line(self, start: int, end: int, depth: int, stays: bool = False) -> None:
        """A new line, or two where there was an empty one."""
        text = self.text
        count = text.count("\n", start, end)
        if stays and not count:
            self._pass(start, end)
            return
        if start == 0:
            lines = 0
        elif count < 2 or text[start - 1] == "{" or text[end : end + 1] == "}":
            lines = 1
        else:
            lines = 2
        self._gap(start, end, self.line_end * lines + self._indent(depth))

    def _tidy(self, unit: LayoutUnit) -> bool:
        """Lays out a unit in which at most the gap before the operands changes, as in most; else False."""
        text, start, end, opcode_end = self.text, unit.start, unit.end, unit.opcode_end
        if opcode_end < 0 or text.startswith(";", opcode_end):
            if _TIDY.fullmatch(text, start, end) is None:
                return False
            self.column += end - start
            return True
        opcode = text[start:opcode_end]
        if opcode not in self._opcodes:
            if _TIDY.fullmatch(opcode) is None:
                return False
            self._opcodes.add(opcode)
        found = _OPERANDS.fullmatch(text, opcode_end, end)
        if found is None:
            return False
        operands = found.start(1)
        width = max(opcode_end - start + 1, self.style.operand_column)
        self._gap(opcode_end, operands, " " * (width - opcode_end + start))
        self.column += opcode_end - start + end - operands
        return True

    def _inside(self, unit: LayoutUnit) -> None:
        """The gaps between the tokens of a unit."""
        text = self.text
        found = [_trimmed(text, token) for token in tokens(text, unit.start, unit.end)]
        begin = self.column
        open_brackets = 0
        for index, token in enumerate(found):
            if index:
                before = found[index - 1]
                gap = text[before.end : token.start]
                if "\n" in gap:
                    closes = text[token.start] in ")" and unit.kind == "head"
                    inner = (open_brackets and not closes) or unit.kind != "head"
                    depth = unit.depth + (1 if inner else 0)
                    self._gap(before.end, token.start, self.line_end + self._indent(depth))
                elif before.end == unit.opcode_end and text[token.start] != ";":
                    column = begin + self.style.operand_column
                    self._gap(before.end, token.start, " " * max(1, column - self.column))
                else:
                    self._gap(before.end, token.start, _blank(text, before, token, gap))
            open_brackets += _OPEN.get(text[token.start], 0) if token.kind == "mark" else 0
            self._pass(token.start, token.end)

    def _comment(
        self, start: int, token: Token, depth: int, is_last: bool = False
    ) -> None:
        """Moves a trailing comment to its column and any other comment to its own line. `is_last`: the next
        unit starts a new line.
        """
        gap = self.text[start : token.start]
        is_behind = start > 0 and "\n" not in gap
        if token.kind != "comment":
            if "\n" in gap or start == 0:
                self._gap(start, token.start, _lines(gap, self.line_end) if start else "")
        elif is_behind:
            column = self.style.comment_column
            while column < self.column + 2:
                column += _COMMENT_STEP
            blanks = " " * (column - self.column)
            ends_line = is_last or _LINE_END.match(self.text, token.end) is not None
            self._gap(start, token.start, blanks if ends_line else " ")
        else:
            self._line(start, token.start, depth)
        self._pass(token.start, token.end)

    def _end(self, position: int) -> None:
        """The text after the last unit: comments, then one line end."""
        text = self.text
        found = [_trimmed(text, token) for token in tokens(text, position)]
        if any(token.kind not in ("comment", "preprocessor", "dwarf") for token in found):
            return
        for token in found:
            self._comment(position, token, 0)
            position = token.end
        if text and position:
            ends_line = text[position - 1] == "\n"
            self._gap(position, len(text), "" if ends_line else self.line_end)

    def _gap(self, start: int, end: int, wanted: str) -> None:
        known = self._gaps.get(wanted)
        if known is None:
            _, new_line, last = wanted.rpartition("\n")
            known = self._gaps[wanted] = wanted.encode(), self._width(last), bool(new_line)
        data, width, is_new_line = known
        if end - start != len(wanted) or not self.text.startswith(wanted, start):
            self.found.append(Edit(start, end, data))
        self.column = width if is_new_line or start == 0 else self.column + width

    def _pass(self, start: int, end: int) -> None:
        """Advances past unchanged text."""
        line = self.text.rfind("\n", start, end) + 1
        width = self._width(self.text[line or start : end])
        self.column = width + (0 if line else self.column)

    def _width(self, text: str) -> int:
        """In columns, of what has one character for each byte."""
        further = 0 if text.isascii() else len(_FURTHER_BYTES.findall(text))
        return len(text) - further + text.count("\t") * (self.style.indent - 1)

    def _indent(self, depth: int) -> str:
        if not self._indents:
            step = "\t" if self.style.use_tabs else " " * self.style.indent
            self._indents = [step * number for number in range(_MOST_INDENTED + 1)]
        return self._indents[min(depth, _MOST_INDENTED)]


_LISTS = (".branchtargets", ".calltargets", ".callprototype")
_FURTHER_BYTES = re.compile("[\x80-\xbf]")
"""The continuation bytes of a UTF-8 character."""
_OPEN = {"(": 1, ")": -1}
_TOKENS = (
    r"""(?:[^\s\x1a,!/"#\x80-\xff]++|,[ ](?![\s\x1a,;)\]])|(?<![@(\[])[ ](?![\s\x1a,;)\](]))*+"""
)
"""Tokens with the wanted gaps between them. Not all such texts match it."""
_TIDY = re.compile(_TOKENS, re.ASCII)
_OPERANDS = re.compile(rf"[ \t]*+(?!;)({_TOKENS})", re.ASCII)
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
