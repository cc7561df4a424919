"""Selections that grow: from a word to its operand, statement, block, function and file."""

from __future__ import annotations

from ptx_lsp.ide.site import site
from ptx_lsp.model.module import Module
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.walk import Node
from ptx_lsp.text import Span


def selection(module: Module, offset: int) -> tuple[Span, ...]:
    """The spans around `offset`, the smallest first; each lies in the next."""
    whole = Span(0, len(module.document.source.data))
    place = site(module, offset)
    if place is None:
        return (whole,)
    found: list[Span] = []
    token = place.token()
    if token is not None:
        found.append(Span(token.start, token.end))
    found += [place.span(node) for node in reversed(place.path)]
    if place.function is not None:
        at = offset - place.item.start
        found += [place.span(block) for block in reversed(_blocks(place.function.node, at))]
    found += [Span(place.item.start, place.item.end), whole]
    grown: list[Span] = []
    for span in found:
        if not grown or (span.start <= grown[-1].start and span.end >= grown[-1].end and span != grown[-1]):
            grown.append(span)
    return tuple(grown)


def _blocks(function: nodes.Function, at: int) -> list[Node]:
    """The blocks around a place, the outermost first: each by itself and without its braces."""
    found: list[Node] = []
    block = function.body
    while block is not None and block.start <= at <= block.end:
        found.append(block)
        if block.statements:
            inner = nodes.Junk(block.statements[0].start, block.statements[-1].end)
            if inner.start <= at <= inner.end:
                found.append(inner)
        block = next(
            (one for one in block.statements
             if isinstance(one, nodes.Block) and one.start <= at <= one.end),
            None,
        )
    return found
