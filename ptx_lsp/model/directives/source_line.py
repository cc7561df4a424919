"""The source line of an instruction, according to `.loc`."""

from __future__ import annotations

from bisect import bisect_right

from ptx_lsp.facts import fact
from ptx_lsp.model.function import Function
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.literals import integer


class SourceLine(NamedTuple):
    """`path` is as `.file` has it; "" if no `.file` has the number. `line` counts from 1."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path or '?'}:{self.line}"


def source_line(function: Function, node: nodes.Instruction) -> SourceLine | None:
    """The source line of the last `.loc` before an instruction of `function`; None if there is none."""
    found, offset = _locations(function), function.item.offset
    index = bisect_right(found, offset(node.start), key=lambda one: offset(one[0])) - 1
    if index < 0:
        return None
    _, file, line = found[index]
    return SourceLine(function.module.files.get(file, ""), line)


@fact
def _locations(function: Function) -> tuple[tuple[int, int, int], ...]:
    """Each complete `.loc`: its position, file and line."""
    return tuple(
        (statement.start, file, line)
        for statement in function.body.statements
        if isinstance(statement, nodes.Location)
        and isinstance(statement.file, nodes.Number)
        and isinstance(statement.line, nodes.Number)
        and (file := integer(statement.file.text)) is not None
        and (line := integer(statement.line.text))
    )
