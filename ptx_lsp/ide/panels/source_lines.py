"""The source lines of each line of PTX, by `.loc` and `inlined_at`."""

from __future__ import annotations

from ptx_lsp.lint.diagnostic import Origin
from ptx_lsp.model.function import Function
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.literals import integer


def source_lines(function: Function) -> dict[int, tuple[Origin, ...]]:
    """The source lines by the number of a line, from 0, that has an instruction: first the line itself, then
    the lines at which it was inlined. A `.loc` applies up to the next one.
    """
    files, source = function.module.files, function.module.document.source
    chains: dict[tuple[int, ...], tuple[Origin, ...]] = {}
    found: dict[int, tuple[Origin, ...]] = {}
    current: tuple[Origin, ...] = ()
    for node in function.body.statements:
        if isinstance(node, nodes.Instruction):
            if current:
                found.setdefault(source.line_of(function.item.offset(node.start)), current)
        elif isinstance(node, nodes.Location):
            position = _numbers(node.file, node.line, node.column)
            current = _origin(files, position)
            for attribute in node.attributes:
                if attribute.name.text == "inlined_at":
                    caller = _numbers(*attribute.values)
                    current += chains.get(caller, _origin(files, caller))
            chains[position] = current
    return found


def _numbers(*parts: nodes.Expression) -> tuple[int, ...]:
    values = (integer(part.text) if isinstance(part, nodes.Number) else None for part in parts)
    return tuple(-1 if value is None else value for value in values)


def _origin(files: dict[int, str], position: tuple[int, ...]) -> tuple[Origin, ...]:
    if len(position) < 3 or position[1] <= 0 or position[0] not in files:
        return ()
    return (Origin(files[position[0]], position[1], max(1, position[2])),)
