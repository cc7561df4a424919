"""The units that the formatter lays out on lines of their own: statements, braces, heads of functions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Literal, TypeAlias

from ptx_lsp.ide.cursor.cursor_context import blocks_at
from ptx_lsp.ide.cursor.tokens import tokens
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.item import Item
from ptx_lsp.text import Span

UnitKind: TypeAlias = Literal["statement", "label", "brace", "head", "verbatim"]


class LayoutUnit(NamedTuple):
    """Bytes `start` to `end` of the file. `depth` is the number of enclosing blocks."""

    start: int
    end: int
    depth: int
    kind: UnitKind
    opcode_end: int = -1
    """The end of an instruction's opcode, or of the words before the names of a declaration."""


def layout_units(module: Module, start: int) -> Iterator[LayoutUnit]:
    """The units from the one before offset `start` on, in order. There may be some before these.

    Broken statements, debugging data and text that is not PTX are not changed.
    """
    items = module.document.items
    first = max(0, items.last_before(start))
    while first and (items[first].end >= start or not items[first].alone):
        first -= 1
    end = 0
    for number in range(first, len(items)):
        item = items[number]
        if item.start < end:
            continue  # in the one before
        end = item.end
        function = module.function_of(item)
        if function is not None:
            yield from _function_units(function, start)
        else:
            yield _item_units(module, item)


def _item_units(module: Module, item: Item) -> LayoutUnit:
    is_kept = isinstance(item.node, nodes.Section | nodes.Aggregate | nodes.Junk | nodes.DwarfLine)
    sort: UnitKind = "verbatim" if is_kept or item.problems else "statement"
    words_end = -1
    if isinstance(item.node, nodes.Declaration):
        words_end = _words_end(module.document.source.text, item, item.node)
    return LayoutUnit(item.start, item.end, 0, sort, words_end)


def _function_units(function: Function, first: int) -> Iterator[LayoutUnit]:
    """Of a long function only the units from the one before offset `first` on."""
    item, node = function.item, function.node
    if item.is_unclosed or not item.alone:
        yield LayoutUnit(item.start, item.end, 0, "verbatim")
        return
    body = node.body
    head_end = item.offset(body.start) if body is not None else item.end
    text = function.module.document.source.text
    if head_end < first:
        yield LayoutUnit(item.start, head_end, 0, "verbatim")
    else:
        is_broken = any(item.offset(problem.start) < head_end for problem in item.problems)
        words = [one for one in tokens(text, item.start, head_end) if one.kind != "comment"]
        end = words[-1].end if words else head_end
        yield LayoutUnit(item.start, end, 0, "verbatim" if is_broken else "head")
    if body is not None:
        yield from _Blocks(function, text, first).walk(body)


def _words_end(text: str, item: Item, node: nodes.Declaration) -> int:
    """The end of the words before the first name of a declaration."""
    if not node.declarators:
        return -1
    return _text_end(text, item.start, item.offset(node.declarators[0].start))


def _text_end(text: str, start: int, end: int) -> int:
    """`end` without the blanks before it: a broken statement can include the CR of its line end."""
    while end > start and text[end - 1].isspace():
        end -= 1
    return end


class _Blocks:
    """Visits the statements of a body and the braces between them."""

    def __init__(self, function: Function, text: str, first: int) -> None:
        self.function = function
        self.item = function.item
        self.first = first
        self.text = text
        self.broken = sorted(self.item.span(one) for one in self.item.problems)
        self.next_broken = 0

    def walk(self, body: nodes.Block) -> Iterator[LayoutUnit]:
        """Walks from the statement before the first offset to the end."""
        start, end = self.item.span(body)
        statements = self.function.body.statements
        offset = self.item.offset
        first = bisect_right(statements, self.first, key=lambda one: offset(one.start)) - 2
        open_ends = [end]
        if first > 0:
            at = offset(statements[first].start)
            open_ends = [self.item.span(block).end for block in blocks_at(self.function, at)]
        else:
            yield LayoutUnit(start, start + 1, 0, "brace")
        for index in range(max(0, first), len(statements)):
            statement = statements[index]
            start = offset(statement.start)
            while start >= open_ends[-1]:
                yield self._close(open_ends)
            if isinstance(statement, nodes.Block):
                begin = offset(statement.guard.start) if statement.guard else start
                yield LayoutUnit(begin, start + 1, len(open_ends), "brace")
                open_ends.append(self.item.span(statement).end)
            else:
                end = start + statement.end - statement.start
                if type(statement) is nodes.Instruction and not self.broken:
                    opcode_end = end + statement.opcode.end - statement.end
                    yield LayoutUnit(start, end, len(open_ends), "statement", opcode_end)
                else:
                    yield self._statement(statement, Span(start, end), len(open_ends))
        while open_ends:
            yield self._close(open_ends)

    def _close(self, open_ends: list[int]) -> LayoutUnit:
        end = open_ends.pop()
        return LayoutUnit(end - 1, end, len(open_ends), "brace")

    def _statement(self, statement: nodes.Statement, span: Span, depth: int) -> LayoutUnit:
        kept = nodes.Section | nodes.Aggregate | nodes.Junk | nodes.DwarfLine
        if isinstance(statement, kept) or self._is_broken(span):
            return LayoutUnit(span.start, _text_end(self.text, *span), depth, "verbatim")
        if isinstance(statement, nodes.Instruction):
            return LayoutUnit(*span, depth, "statement", span.start + statement.opcode.end - statement.start)
        if isinstance(statement, nodes.Declaration):
            return LayoutUnit(*span, depth, "statement", _words_end(self.text, self.item, statement))
        return LayoutUnit(*span, depth, "label" if isinstance(statement, nodes.Label) else "statement")

    def _is_broken(self, span: Span) -> bool:
        """Problems are in text order, like statements."""
        while self.next_broken < len(self.broken) and self.broken[self.next_broken].end < span.start:
            self.next_broken += 1
        return (
            self.next_broken < len(self.broken)
            and self.broken[self.next_broken].start <= span.end
        )
