"""Checks each instruction of a function against the instruction table.

Only failed checks are stored; the rules of `lint` read them.
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
    """An instruction that does not match the table, and the reason."""

    instruction: nodes.Instruction
    verdict: Verdict


@fact
def checks(function: Function) -> tuple[Check, ...]:
    """The instructions of `function` that do not match the table, in order."""
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
            *shape, module.version, module.target, module.address_size, module.has_samplers
        )
    return () if verdict is None else (Check(instruction, verdict),)


def _is_broken(function: Function, instruction: nodes.Instruction) -> bool:
    """Whether a syntax error, or an index after a register, is already reported."""
    if not instruction.opcode.text:
        return True
    if function.item.is_broken_between(instruction.start, instruction.end):
        return True
    return any(
        isinstance(operand, nodes.Element)
        and isinstance(function.resolve(operand.array), Register)
        for operand in instruction.operands
    )
