"""Instructions that lack their `;`, so that the next one seems to be their operand.

The grammar knows no opcodes: in `ret` and `ret;` on two lines it sees one instruction with an operand.
"""

from __future__ import annotations

from typing import NamedTuple

from ptx_lsp.facts import fact
from ptx_lsp.isa import table
from ptx_lsp.isa.resolve import resolve
from ptx_lsp.model.function import Function
from ptx_lsp.model.place import Place
from ptx_lsp.syntax import nodes


class Joined(NamedTuple):
    """`following` are the opcode and modifiers, at `place`, of an instruction before which a `;` is missing:
    at `gap`, behind `instruction`, which is right without operands, as it is.
    """

    instruction: nodes.Instruction
    following: str
    place: Place
    gap: Place


@fact
def joined(function: Function) -> tuple[Joined, ...]:
    """Those of `function`, in order."""
    marks = {use.name.start for use in function.undeclared if table.entries(use.name.text)}
    if not marks:
        return ()
    found: list[Joined] = []
    for one in function.body.instructions:
        operands = one.node.operands
        if len(operands) == 1 and operands[0].start in marks and _is_whole(one.node.opcode.text):
            following = function.text(operands[0])
            if _is_whole(following):
                end = one.node.opcode.end
                place, gap = function.place(operands[0]), function.part(end, end)
                found.append(Joined(one.node, following, place, gap))
    return tuple(found)


def _is_whole(spelling: str) -> bool:
    match = resolve(spelling).match(())
    return match is not None and not match.problems
