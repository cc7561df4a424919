"""Instructions selected by their opcode text."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from analyses.instructions.uses_and_defs import InstructionInfo, instructions
from ptx_lsp.facts import sparse_instruction_fact
from ptx_lsp.model.function import Function


def instructions_matching(is_wanted: Callable[[str], bool]) -> Callable[[Function], list[InstructionInfo]]:
    """A fact: the instructions of a function whose opcode text satisfies `is_wanted`, in order."""
    is_spelling = lru_cache(maxsize=4096)(is_wanted)

    @sparse_instruction_fact
    def wanted(function: Function, number: int) -> tuple[bool, ...]:
        return (True,) if is_spelling(function.body.instructions[number].node.opcode.text) else ()

    def found(function: Function) -> list[InstructionInfo]:
        flow = instructions(function).instructions
        return [flow[number] for number in wanted(function).indices]

    return found
