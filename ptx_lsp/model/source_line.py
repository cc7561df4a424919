"""The line of the compiled source that an instruction belongs to, as `.loc` tells it."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from ptx_lsp.facts import fact
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.syntax import nodes


class SourceLine(NamedTuple):
    """`path` is as `.file` has it; "" where no `.file` has the number. `line` counts from 1."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path or '?'}:{self.line}"


def source_line(function: Function, node: nodes.Instruction) -> SourceLine | None:
    """That of the last `.loc` before an instruction of `function`; None where there is none."""
    found, offset = _locations(function), function.item.offset
    index = bisect_right(found, offset(node.start), key=lambda one: offset(one[0])) - 1
    return found[index][1] if index >= 0 else None


@fact
def _locations(function: Function) -> tuple[tuple[int, SourceLine], ...]:
    """Each `.loc` that is whole: where it stands, and what it tells."""
    paths = _paths(function.module)
    return tuple(
        (statement.start, SourceLine(paths.get(int(statement.file.text, 0), ""), int(statement.line.text, 0)))
        for statement in function.body.statements
        if isinstance(statement, nodes.Location)
        and isinstance(statement.file, nodes.Number)
        and isinstance(statement.line, nodes.Number)
        and int(statement.line.text, 0) > 0
    )


def _paths(module: Module) -> dict[int, str]:
    return {
        int(item.node.number.text, 0): item.node.path.text.strip('"')
        for item in module.document.items
        if isinstance(item.node, nodes.File)
        and isinstance(item.node.number, nodes.Number)
        and isinstance(item.node.path, nodes.String)
    }
