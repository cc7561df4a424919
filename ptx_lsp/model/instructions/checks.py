"""Each instruction of a function against the instruction table.

Only what is not as the table wants it is kept; the rules of `lint` read it from here.
"""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

from ptx_lsp.facts import fact, sparse_instruction_fact
from ptx_lsp.isa.matching.verdict import Verdict, judge
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.arguments import all_arguments
from ptx_lsp.model.symbols import Register
from ptx_lsp.syntax import nodes


class Check(NamedTuple):
    """An instruction that the table objects to, and why."""

    instruction: nodes.Instruction
    verdict: Verdict


@fact
def checks(function: Function) -> tuple[Check, ...]:
    """The instructions of `function` that are not as the table wants them, in order."""
    found = chain.from_iterable(_objections(function).results)
    return tuple(one for one in found if not _is_broken(function, one.instruction))


@sparse_instruction_fact
def _objections(function: Function, number: int) -> tuple[Check, ...]:
    module = function.module
    instruction = function.body.instructions[number].node
    shape = (instruction.opcode.text, all_arguments(function)[number])
    try:
        verdict = module.verdicts[shape]
    except KeyError:
        verdict = module.verdicts[shape] = judge(
            *shape, module.version, module.target, module.address_size
        )
    return () if verdict is None else (Check(instruction, verdict),)


def _is_broken(function: Function, instruction: nodes.Instruction) -> bool:
    """A syntax error, or an index behind a register, tells of it already."""
    if not instruction.opcode.text:
        return True
    if function.item.is_broken_between(instruction.start, instruction.end):
        return True
    return any(
        isinstance(operand, nodes.Element)
        and isinstance(function.resolve(operand.array), Register)
        for operand in instruction.operands
    )
