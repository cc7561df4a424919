"""Kernels and functions."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.reduce.program import Program, names
from ptx_lsp.reduce.reduction_pass import reduction_pass
from ptx_lsp.reduce.step import Step
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Edit, Span


@reduction_pass("functions", "deletion", 10)
def functions(program: Program) -> Iterator[Step]:
    """Deletes each function with its declarations, its aliases and the calls of it."""
    edits: dict[str, list[Edit]] = {}
    kernels: list[str] = []
    for item in program.module.document.items:
        node = item.node
        if isinstance(node, nodes.Function) and node.name is not None:
            edits.setdefault(node.name.text, []).append(program.delete(Span(item.start, item.end)))
            if node.kind.text == ".entry":
                kernels.append(node.name.text)
    for node, span in program.statements():
        if isinstance(node, nodes.Instruction | nodes.Alias | nodes.TargetList):
            for name in {one.text for one in names(node)} & edits.keys():
                edits[name].append(program.delete(span))
    for name in dict.fromkeys([*kernels, *edits]):
        yield tuple(edits[name])


@reduction_pass("bodies of functions", "deletion", 39)
def bodies(program: Program) -> Iterator[Step]:
    """Empties the body of each function."""
    for function in program.bodies:
        body = function.node.body
        if body is not None and body.statements:
            first, last = function.span(body.statements[0]), function.span(body.statements[-1])
            yield (program.delete(Span(first.start, last.end)),)
