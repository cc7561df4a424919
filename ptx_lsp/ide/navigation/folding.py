"""Folding ranges: functions, blocks, comments, debugging data, long runs of declarations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Literal

from ptx_lsp.facts import text_fact
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Source, Span

_LEAST = 3
"""The minimum number of consecutive declarations for a fold."""


class Fold(NamedTuple):
    """The bytes hidden by a fold, from the end of its first line on."""

    span: Span
    sort: Literal["block", "comment", "declarations", "section"]


def folding(module: Module) -> tuple[Fold, ...]:
    """All folds of a file, in order; each covers more than one line."""
    found: list[Fold] = list(_comments(module.document.source))
    for item in module.document.items:
        node = item.node
        if isinstance(node, nodes.Section | nodes.Aggregate):
            sort = "section" if isinstance(node, nodes.Section) else "block"
            found.append(Fold(Span(item.start, item.end), sort))
    for function in module.functions:
        found += [Fold(one.span.shifted(function.item.start), one.sort) for one in _within(function)]
    outside = [
        (Span(item.start, item.end), item.node) for item in module.document.items if item.alone
    ]
    found += _runs(outside)
    source = module.document.source
    return tuple(sorted(one for one in set(found) if _has_lines(source, one.span)))


@text_fact
def _within(function: Function) -> tuple[Fold, ...]:
    """The folds of a function, relative to its start."""
    found: list[Fold] = []
    node, marks = function.node, function.item.offsets
    if node.body is not None:
        found.append(Fold(Span(*marks.span(node.body.start, node.body.end)), "block"))
    if node.parameters:
        first, last = node.parameters[0], node.parameters[-1]
        start, end = marks.offset(first.start), marks.span(last.start, last.end)[1]
        found.append(Fold(Span(start, end), "declarations"))
    statements = [(Span(*marks.span(one.start, one.end)), one) for one in function.body.statements]
    found += [Fold(span, "block") for span, one in statements if isinstance(one, nodes.Block)]
    found += _runs(statements)
    return tuple(found)


def _runs(statements: list[tuple[Span, nodes.Statement]]) -> Iterator[Fold]:
    """Declarations, or `.file` directives, that follow each other."""
    for sort, run in groupby(statements, key=lambda one: type(one[1])):
        if sort in (nodes.Declaration, nodes.File):
            spans = [span for span, _ in run]
            if len(spans) >= _LEAST:
                yield Fold(Span(spans[0].start, spans[-1].end), "declarations")


_COMMENTS = re.compile(r"/\*.*?\*/|(?:^[ \t]*//[^\n]*\n){2,}", re.DOTALL | re.MULTILINE)


def _comments(source: Source) -> Iterator[Fold]:
    """Comments of several lines, and lines of comments that follow each other."""
    for found in _COMMENTS.finditer(source.text):
        text = found[0].rstrip()
        start = found.start() + len(text) - len(text.lstrip())
        yield Fold(Span(start, found.start() + len(text)), "comment")


def _has_lines(source: Source, span: Span) -> bool:
    return source.line_of(span.start) < source.line_of(max(span.start, span.end - 1))
