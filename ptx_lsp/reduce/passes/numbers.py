"""Numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ptx_lsp.reduce.program import Program, walk
from ptx_lsp.reduce.reduction_pass import reduction_pass
from ptx_lsp.reduce.step import Step
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Span


@reduction_pass("numbers to zero", "simplification", 80)
def zeros(program: Program) -> Iterator[Step]:
    """Replaces each number by 0."""
    yield from _numbers(program, "0")


@reduction_pass("numbers to one", "simplification", 81)
def ones(program: Program) -> Iterator[Step]:
    """Replaces each other number by 1."""
    yield from _numbers(program, "1")


@reduction_pass("halves of numbers", "simplification", 82)
def halves(program: Program) -> Iterator[Step]:
    """Halves each decimal number."""
    for number, span in _places(program):
        if number.text.isdecimal() and int(number.text) > 1:
            yield (program.replace(span, str(int(number.text) // 2)),)


def _numbers(program: Program, value: str) -> Iterator[Step]:
    for number, span in _places(program):
        if number.text not in ("0", value):
            yield (program.replace(span, value),)


def _places(program: Program) -> Iterator[tuple[nodes.Number, Span]]:
    """The numbers in instructions, declarations and performance directives."""
    for item in program.module.document.items:
        node = item.node
        if isinstance(node, nodes.Declaration):
            yield from _in(node, item.span)
        elif isinstance(node, nodes.Function):
            for one in (*node.directives, *(node.parameters or ()), *(node.returns or ())):
                yield from _in(one, item.span)
    for function in program.bodies:
        for statement in function.body.statements:
            if isinstance(statement, nodes.Instruction | nodes.Declaration):
                yield from _in(statement, function.span)


def _in(
    node: nodes.Node, span_of: Callable[[nodes.Node], Span]
) -> Iterator[tuple[nodes.Number, Span]]:
    for one in walk(node):
        if isinstance(one, nodes.Number):
            yield one, span_of(one)
