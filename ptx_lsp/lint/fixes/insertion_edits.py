"""Fixes that insert the missing modifiers of an instruction."""

from __future__ import annotations

from collections.abc import Sequence

from ptx_lsp.isa.matching.insertion import Insertion, ways
from ptx_lsp.lint.diagnostic import FixProposal, Replacement
from ptx_lsp.lint.fixes.suggestions import MOST_OFFERED, Suggestion, suggest
from ptx_lsp.lint.opcode import opcode_part
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.arguments import arguments
from ptx_lsp.syntax import nodes


def insert_missing(function: Function, instruction: nodes.Instruction) -> Suggestion:
    """Inserts missing modifiers: a fix if only one choice makes the whole instruction valid, else a few to
    choose from.
    """
    module = function.module
    given = arguments(function, instruction)
    spelling, size = instruction.opcode.text, module.address_size
    found = ways(spelling, given, module.version, module.target, MOST_OFFERED, size)
    return suggest([_remedy(function, instruction, one) for one in found])


def _remedy(
    function: Function, instruction: nodes.Instruction, insertions: Sequence[Insertion]
) -> FixProposal:
    texts: dict[int, str] = {}
    for index, modifier in insertions:
        texts[index] = texts.get(index, "") + modifier
    replacements: list[Replacement] = []
    for index, text in texts.items():
        end = opcode_part(function, instruction, index).end
        replacements.append(Replacement(function.part(end, end), text))
    return FixProposal(f"Insert `{'` and `'.join(texts.values())}`", tuple(replacements))
