"""Each instruction of a function against the instruction table.

Only what is not as the table wants it is kept; the rules of `lint` read it from here.
"""

from __future__ import annotations

from typing import NamedTuple

from ptx_lsp.facts import Earlier, fact, lasting_fact
from ptx_lsp.isa.verdict import Verdict, judge
from ptx_lsp.model.arguments import all_arguments
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Register
from ptx_lsp.syntax import nodes


class Check(NamedTuple):
    """An instruction that the table objects to, and why."""

    instruction: nodes.Instruction
    verdict: Verdict


@lasting_fact
def _verdicts(
    function: Function, earlier: Earlier[tuple[Verdict | None, ...]] | None
) -> tuple[Verdict | None, ...]:
    """What the table says of each instruction."""
    module = function.module
    version, target = module.version, module.target
    verdicts = module.verdicts
    first, old_end, end = earlier.change if earlier else (0, 0, len(function.body.instructions))
    found: list[Verdict | None] = []
    for (instruction, _), given in zip(
        function.body.instructions[first:end], all_arguments(function)[first:end], strict=True
    ):
        shape = (instruction.opcode.text, given)
        try:
            found.append(verdicts[shape])
        except KeyError:
            verdict = verdicts[shape] = judge(*shape, version, target)
            found.append(verdict)
    if earlier is None:
        return tuple(found)
    return (*earlier.value[:first], *found, *earlier.value[old_end:])


@fact
def checks(function: Function) -> tuple[Check, ...]:
    """The instructions of `function` that are not as the table wants them, in order."""
    return tuple(
        Check(instruction, verdict)
        for verdict, (instruction, _) in zip(
            _verdicts(function), function.body.instructions, strict=True
        )
        if verdict is not None and not _is_broken(function, instruction)
    )


def _is_broken(function: Function, instruction: nodes.Instruction) -> bool:
    """A syntax error, or an index behind a register, tells of it already."""
    if not instruction.opcode.text:
        return True
    if any(instruction.start <= p.start <= instruction.end for p in function.item.problems):
        return True
    return any(
        isinstance(operand, nodes.Element)
        and isinstance(function.resolve(operand.array), Register)
        for operand in instruction.operands
    )
