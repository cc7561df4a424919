"""Semantic tokens as rows of five numbers: line and column relative to the previous token, length, type,
modifiers.

Within a function these numbers do not depend on its position, so they are cached while the function is
unchanged. After an edit, the rows of a file are assembled from cached ones.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from ptx_lsp.facts import instruction_fact, small, text_fact
from ptx_lsp.ide.highlighting.semantic_tokens import (
    TOKEN_MODIFIERS,
    TOKEN_TYPES,
    SemanticToken,
    behind_instruction,
    between,
    of_instruction,
    of_item,
)
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module, module_of
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.item import Item
from ptx_lsp.text import ColumnUnit, Source, Span

ROW = 5
_TYPE = {name: number for number, name in enumerate(TOKEN_TYPES)}
_BIT = {name: 1 << number for number, name in enumerate(TOKEN_MODIFIERS)}


class Rows(NamedTuple):
    """Rows relative to a start position: the first row counts from there, also in columns if on the same
    line. `line` and `column` are those of the last token, relative to the same start.
    """

    numbers: array[int]
    line: int
    column: int


class Piece(NamedTuple):
    """Consecutive rows; the first has `line` and `column` in place of its own numbers."""

    line: int
    column: int
    rows: array[int]


def flat(pieces: Iterable[Piece]) -> list[int]:
    """The numbers of consecutive pieces."""
    numbers: list[int] = []
    for line, column, rows in pieces:
        at = len(numbers)
        numbers.extend(rows)
        numbers[at : at + 2] = line, column
    return numbers


def token_pieces(module: Module, unit: ColumnUnit, span: Span | None = None) -> list[Piece]:
    """The tokens of a file, or of the part `span`, in rows of five numbers. These are the line, relative to
    the previous token; the column, relative to it if on the same line; the length; the index in
    `TOKEN_TYPES`; and one bit per entry of `TOKEN_MODIFIERS`. Columns and lengths are in `unit`. A token of
    several lines becomes one per line. An unchanged function keeps the same row object.
    """
    source = module.document.source
    first, last = span if span is not None else (0, len(source.data))
    joined = _Joined(source, unit)
    position = 0
    for item in module.document.items:
        if item.start < position:
            continue
        if item.start > last:
            break
        if item.end >= first:
            if not source.data[position : item.start].isspace():
                joined.add_found(list(between(source.text, position, item.start, Span(first, last))))
            if first <= item.start and item.end <= last:
                joined.add(item.start, _whole(module, item, unit))
            else:
                joined.add_found(list(of_item(module, item, max(first, item.start), last)))
        position = item.end
    joined.add_found(list(between(source.text, position, len(source.data), Span(first, last))))
    return joined.pieces


def rows_of(source: Source, found: list[SemanticToken], begin: int, unit: ColumnUnit) -> Rows:
    """The rows of tokens, counted from the byte `begin`."""
    return _encoded(source, found, begin, unit)


def joined_pieces(source: Source, unit: ColumnUnit, parts: Iterable[tuple[int, Rows]]) -> list[Piece]:
    """The tokens of a text whose parts begin at these bytes and have these rows."""
    joined = _Joined(source, unit)
    for start, rows in parts:
        joined.add(start, rows)
    return joined.pieces


class _Joined:
    """Concatenated rows."""

    def __init__(self, source: Source, unit: ColumnUnit) -> None:
        self.source = source
        self.unit: ColumnUnit = unit
        self.pieces: list[Piece] = []
        self.line = 0
        self.column = 0
        self._is_plain = not source.has_returns and (source.is_ascii or unit == "utf-8")
        self._at = self._line_start = 0
        self._line_at = 0

    def add_found(self, found: list[SemanticToken]) -> None:
        if found:
            start = found[0].start
            self.add(start, _encoded(self.source, found, start, self.unit))

    def add(self, start: int, rows: Rows) -> None:
        """Adds rows that begin at the byte `start` of the file."""
        if not rows.numbers:
            return
        line, column = self._position(start)
        first_line = line + rows.numbers[0]
        first_column = rows.numbers[1] + (0 if rows.numbers[0] else column)
        first_column -= self.column if first_line == self.line else 0
        self.pieces.append(Piece(first_line - self.line, first_column, rows.numbers))
        self.line = line + rows.line
        self.column = rows.column + (0 if rows.line else column)

    def _position(self, start: int) -> tuple[int, int]:
        """The line and column of a byte; line ends are counted from one requested byte to the next."""
        if not self._is_plain or start < self._at or start - self._at > _FAR:
            line, column = self.source.position(start, self.unit)
            self._at, self._line_at, self._line_start = start, line, start - column
            return line, column
        count = self.source.data.count(b"\n", self._at, start)
        if count:
            self._line_at += count
            self._line_start = self.source.data.rfind(b"\n", self._at, start) + 1
        self._at = start
        return self._line_at, start - self._line_start


_FAR = 10_000
"""The distance in bytes from which on looking up a line is faster."""


def _whole(module: Module, item: Item, unit: ColumnUnit) -> Rows:
    function = module.function_of(item)
    if function is None:
        found = list(of_item(module, item, item.start, item.end))
        return _encoded(module.document.source, found, item.start, unit)
    kept = _kept(function)
    known = kept.get(unit)
    if known is None:
        if len(function.body.instructions) < _LONG:
            found = list(of_item(module, item, item.start, item.end))
            known = _encoded(module.document.source, found, item.start, unit)
        else:
            known = _by_instruction(function, unit)
        kept[unit] = known
    return known


_LONG = 1000
"""The number of instructions from which on a function's tokens are cached per instruction: an edit then
affects only few.
"""


def _by_instruction(function: Function, unit: ColumnUnit) -> Rows:
    """The rows of a function, from those of its instructions and of the text between them."""
    source, item = function.module.document.source, function.item
    joined = _Joined(source, unit)
    base = joined.line, joined.column = source.position(item.start, unit)
    instructions = function.body.instructions
    position = item.offset(instructions[0].start)
    joined.add_found(list(of_item(module_of(function), item, item.start, position)))
    for node, rows in zip(instructions, _of_instruction(function), strict=True):
        start, end = item.span(node)
        if not source.data[position:start].isspace():
            joined.add_found(list(behind_instruction(function, position, start)))
        if rows is not None:
            joined.add(start, rows)
        else:
            joined.add_found(list(of_instruction(function, node)))
        position = end
    joined.add_found(list(of_item(module_of(function), item, position, item.end)))
    column = joined.column - (base.column if joined.line == base.line else 0)
    return Rows(array("I", flat(joined.pieces)), joined.line - base.line, column)


@instruction_fact
def _of_instruction(function: Function, instruction: nodes.Instruction) -> Rows | None:
    """The rows of an instruction, valid for any unit; None if the unit matters."""
    source = function.module.document.source
    start, end = function.span(instruction)
    if not source.data[start:end].isascii():
        return None
    return _encoded(source, list(of_instruction(function, instruction)), start, "utf-8")


@text_fact
@small
def _kept(function: Function) -> dict[ColumnUnit, Rows]:
    """The cached rows of a function."""
    return {}


def _encoded(
    source: Source, found: list[SemanticToken], begin: int, unit: ColumnUnit
) -> Rows:
    """The rows of tokens, counted from the byte `begin`."""
    if not found:
        return Rows(array("I"), 0, 0)
    numbers = array("I")
    base_line, base_column = source.position(begin, unit)
    line, line_start = source.lines.at(begin)
    line_end = _end(source, line)
    is_plain = source.is_ascii or unit == "utf-8"
    last_line, last_column = base_line, base_column
    for start, end, type, modifiers in found:
        while start >= line_end:
            line, line_start = line + 1, line_end
            line_end = _end(source, line)
        bits = sum(_BIT[one] for one in modifiers) if modifiers else 0
        if end <= line_end and is_plain:
            parts = ((line, start - line_start, end - start),)
        else:
            parts = _parts(source, start, end, unit)
        for at, column, length in parts:
            numbers.append(at - last_line)
            numbers.append(column - last_column if at == last_line else column)
            numbers.extend((length, _TYPE[type], bits))
            last_line, last_column = at, column
    return Rows(
        numbers, last_line - base_line,
        last_column - (base_column if last_line == base_line else 0),
    )


def _end(source: Source, line: int) -> int:
    """The start of the line after `line`; text beyond the end belongs to the last line."""
    return source.line_start(line + 1) if line + 1 < source.line_count else len(source.data) + 1


def _parts(
    source: Source, start: int, end: int, unit: ColumnUnit
) -> tuple[tuple[int, int, int], ...]:
    """Line, column and length of each line of a token."""
    found: list[tuple[int, int, int]] = []
    for line in range(source.line_of(start), source.line_of(max(start, end - 1)) + 1):
        span = source.line_span(line)
        first, last = max(start, span.start), min(end, span.end)
        if first < last:
            column = source.position(first, unit).column
            found.append((line, column, source.position(last, unit).column - column))
    return tuple(found)
