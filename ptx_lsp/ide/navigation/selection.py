"""Expanding selections: from a word to its operand, statement, block, function and file."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.ide.cursor.cursor_context import blocks_at, cursor_context
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.text import Span


def selection(module: Module, offset: int) -> tuple[Span, ...]:
    """The spans around `offset`, the smallest first; each contains the previous one."""
    whole = Span(0, len(module.document.source.data))
    place = cursor_context(module, offset)
    if place is None:
        return (whole,)
    found: list[Span] = []
    token = place.token()
    if token is not None:
        found.append(Span(token.start, token.end))
    found += [place.span(node) for node in reversed(place.path)]
    if place.function is not None:
        found += list(reversed(list(_blocks(place.function, offset))))
    found += [Span(place.item.start, place.item.end), whole]
    grown: list[Span] = []
    for span in found:
        if not grown or (span.start <= grown[-1].start and span.end >= grown[-1].end and span != grown[-1]):
            grown.append(span)
    return tuple(grown)


def _blocks(function: Function, offset: int) -> Iterator[Span]:
    """The blocks around a place, the outermost first: each with and without its braces."""
    for block in blocks_at(function, offset):
        yield function.span(block)
        if block.statements:
            yield Span(function.span(block.statements[0]).start, function.span(block.statements[-1]).end)
