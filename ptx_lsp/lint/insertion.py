"""The fix that writes the modifiers which an instruction lacks."""

from __future__ import annotations

from ptx_lsp.isa.insertion import insertions
from ptx_lsp.lint.diagnostic import Remedy, Replacement
from ptx_lsp.lint.opcode import opcode_part
from ptx_lsp.model.arguments import arguments
from ptx_lsp.model.function import Function
from ptx_lsp.syntax import nodes


def insert_missing(function: Function, instruction: nodes.Instruction) -> Remedy | None:
    """Writes what is missing, where only one choice makes the whole instruction right."""
    module = function.module
    spelling = instruction.opcode.text
    given = arguments(function, instruction)
    texts: dict[int, str] = {}
    for index, modifier in insertions(spelling, given, module.version, module.target):
        texts[index] = texts.get(index, "") + modifier
    if not texts:
        return None
    replacements: list[Replacement] = []
    for index, text in texts.items():
        end = opcode_part(function, instruction, index).end
        replacements.append(Replacement(function.part(end, end), text))
    return Remedy(f"Insert `{'` and `'.join(texts.values())}`", tuple(replacements))
