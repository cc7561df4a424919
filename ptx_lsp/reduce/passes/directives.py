"""Directives of functions and variables, linkage, alignment and attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ptx_lsp.isa.target import known_targets
from ptx_lsp.reduce.program import Program
from ptx_lsp.reduce.reduction_pass import reduction_pass
from ptx_lsp.reduce.step import Step
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Edit, Span

_LOWEST = 75
"""The lowest target of ptxas 13."""


@reduction_pass("directives", "deletion", 70)
def directives(program: Program) -> Iterator[Step]:
    """Deletes performance directives, other directives, linkage, and attributes."""
    for item in program.module.document.items:
        node = item.node
        if isinstance(node, nodes.Function):
            for one in (*node.directives, *node.linkage):
                yield (program.delete(item.span(one)),)
            for one in node.parameters or ():
                yield from _of_declaration(program, one, item.span)
        elif isinstance(node, nodes.Declaration):
            yield from _of_declaration(program, node, item.span)
        elif isinstance(node, nodes.Directive | nodes.AddressSize):
            yield (program.delete(Span(item.start, item.end)),)
    for function in program.bodies:
        for statement in function.body.statements:
            if isinstance(statement, nodes.Declaration):
                yield from _of_declaration(program, statement, function.span)
            elif isinstance(statement, nodes.Directive):
                yield (program.delete(function.span(statement)),)


@reduction_pass("target", "simplification", 90)
def target(program: Program) -> Iterator[Step]:
    """Takes a lower target."""
    known = {str(one) for one in known_targets() if one.number >= _LOWEST}
    lower = sorted(known, key=lambda name: (len(name), name))
    for item in program.module.document.items:
        if isinstance(item.node, nodes.Target) and item.node.names:
            span = item.span(item.node.names[0])
            own = program.text(span).decode("latin-1")
            for name in lower:
                if (len(name), name) < (len(own), own) and name.startswith("sm_"):
                    yield (program.replace(span, name),)


def _of_declaration(
    program: Program, node: nodes.Declaration, span_of: Callable[[nodes.Node], Span]
) -> Iterator[Step]:
    for name in node.linkage:
        yield (program.replace(span_of(name), ""),)
    if isinstance(node.alignment, nodes.Number):
        yield (_with_keyword(program, span_of(node.alignment), b".align"),)
    for attribute in node.attributes:
        end = program.data.find(b")", span_of(attribute).end) + 1
        yield (_with_keyword(program, Span(span_of(attribute).start, end), b".attribute"),)
    pointer = [one for one in node.modifiers if one.text == ".ptr"]
    if pointer:
        start, end = (
            span_of(pointer[0]).start,
            span_of(node.declarators[0]).start if node.declarators else 0,
        )
        if start < end:
            yield (Edit(start, end, b""),)


def _with_keyword(program: Program, span: Span, keyword: bytes) -> Edit:
    """Deletes a part and the keyword before it."""
    start = program.data.rfind(keyword, 0, span.start)
    return Edit(start if start >= 0 else span.start, span.end, b"")
