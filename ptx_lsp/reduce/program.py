"""A PTX text with what passes need of it: its module, and edits of its parts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.document import Document
from ptx_lsp.syntax.walk import children
from ptx_lsp.text import Edit, Source, Span

_BLANK = b" \t"


class Program:
    """One text of a reduction, immutable."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    @cached_property
    def module(self) -> Module:
        return Module(Document.read(Source(self.data)))

    @property
    def bodies(self) -> list[Function]:
        """The functions that have a body."""
        return [one for one in self.module.functions if one.node.body is not None]

    def instructions(self) -> Iterator[tuple[Function, nodes.Instruction]]:
        """The instructions of all functions, in the order of the text."""
        for function in self.bodies:
            for instruction in function.body.instructions:
                yield function, instruction

    def statements(self) -> Iterator[tuple[nodes.Statement, Span]]:
        """All statements of the file, those of blocks and bodies included, except functions."""
        yield from self.outside
        for function in self.bodies:
            for statement in function.body.statements:
                yield statement, function.span(statement)

    @property
    def outside(self) -> Iterator[tuple[nodes.Statement, Span]]:
        """The statements outside functions."""
        for item in self.module.document.items:
            if not isinstance(item.node, nodes.Function):
                yield item.node, Span(item.start, item.end)

    def text(self, span: Span) -> bytes:
        return self.data[span.start : span.end]

    def replace(self, span: Span, replacement: str | bytes) -> Edit:
        """Replaces a part."""
        data = replacement.encode() if isinstance(replacement, str) else replacement
        return Edit(span.start, span.end, data)

    def delete(self, span: Span) -> Edit:
        """Deletes a part, with its line if nothing else is on it."""
        data, start, end = self.data, span.start, span.end
        while start and data[start - 1] in _BLANK:
            start -= 1
        while end < len(data) and data[end] in _BLANK:
            end += 1
        if (start == 0 or data[start - 1] == 0x0A) and data[end : end + 1] in (b"\n", b""):
            return Edit(start, min(end + 1, len(data)), b"")
        return Edit(span.start, span.end, b"")


def walk(node: nodes.Node) -> Iterator[nodes.Node]:
    """A node and what is in it, in the order of the text."""
    pending = [node]
    while pending:
        one = pending.pop()
        yield one
        pending.extend(reversed(list(children(one))))


def names(node: nodes.Node) -> Iterator[nodes.Name]:
    """The names in a node. Modifiers and types, which begin with a dot, are not among them."""
    for one in walk(node):
        if isinstance(one, nodes.Name) and not one.text.startswith("."):
            yield one
