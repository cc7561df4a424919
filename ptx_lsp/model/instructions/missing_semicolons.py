"""Instructions without their `;`, whose operand appears to be the next instruction."""

from __future__ import annotations

from ptx_lsp.facts import fact
from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.isa.schema import table
from ptx_lsp.model.function import Function
from ptx_lsp.model.place import Place
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes


class SwallowedInstruction(NamedTuple):
    """An instruction swallowed by `instruction`, whose `;` is missing at `gap`. `following` are its opcode
    and modifiers, at `place`. `instruction` is valid without operands.
    """

    instruction: nodes.Instruction
    opcode: str
    place: Place
    gap: Place


@fact
def missing_semicolons(function: Function) -> tuple[SwallowedInstruction, ...]:
    """The swallowed instructions of `function`, in order."""
    marks = {use.name.start for use in function.undeclared if table.entries(use.name.text)}
    if not marks:
        return ()
    found: list[SwallowedInstruction] = []
    for one in function.body.instructions:
        operands = one.operands
        if len(operands) == 1 and operands[0].start in marks and _is_whole(one.opcode.text):
            following = function.text(operands[0])
            if _is_whole(following):
                end = one.opcode.end
                place, gap = function.place(operands[0]), function.part(end, end)
                found.append(SwallowedInstruction(one, following, place, gap))
    return tuple(found)


def _is_whole(spelling: str) -> bool:
    match = resolve(spelling).match(())
    return match is not None and not match.problems
