"""Where a finding about one operand is anchored when the statement has several lines."""

from __future__ import annotations

from ptx_lsp.model.function import Function
from ptx_lsp.model.place import Located, Place
from ptx_lsp.syntax import nodes

Related = tuple[tuple[Place, str], ...]


def operand_or_line(
    function: Function, instruction: nodes.Instruction, part: Located
) -> tuple[Place, Related]:
    """The place of `part` if ptxas would report its line; else the text on the line that it reports, with
    `part` as related place.
    """
    opcode = instruction.opcode
    has_modifiers = "." in opcode.text
    first = opcode if has_modifiers or not instruction.operands else instruction.operands[0]
    return part_or_line(function, first, part)


def part_or_line(function: Function, first: Located, part: Located) -> tuple[Place, Related]:
    """The place of `part` if it begins on the line of `first`; else `first`, with `part` as related place."""
    end, start = function.span(first).end, function.span(part).start
    between = function.module.document.source.data[end:start]
    if start < end or not (b"\n" in between or b"\r" in between):
        return function.place(part), ()
    return function.place(first), ((function.place(part), "the operand"),)
