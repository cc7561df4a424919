"""Data for debuggers, and pragmas."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.reduce.program import Program
from ptx_lsp.reduce.reduction_pass import reduction_pass
from ptx_lsp.reduce.step import Step
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Span


@reduction_pass("debug data", "deletion", 0)
def debug_data(program: Program) -> Iterator[Step]:
    """Deletes `.loc`, `.file`, `.section`, lines of DWARF, and pragmas."""
    for node, span in program.statements():
        match node:
            case (
                nodes.Location() | nodes.File() | nodes.Section() | nodes.DwarfLine() | nodes.Junk()
            ):
                yield (program.delete(span),)
            case nodes.Directive(name=nodes.Name(text=".pragma")):
                yield (program.delete(span),)
            case _:
                pass


@reduction_pass("options of `.target`", "deletion", 1, is_list=True)
def target_options(program: Program) -> Iterator[Step]:
    """Deletes `debug` and other words after the target."""
    for item in program.module.document.items:
        if isinstance(item.node, nodes.Target):
            for before, name in zip(item.node.names, item.node.names[1:], strict=False):
                yield (program.replace(Span(item.span(before).end, item.span(name).end), ""),)
