"""Instructions selected by their opcode text."""

from __future__ import annotations

from collections.abc import Callable

from ptx_lsp.analyses.instructions.uses_and_defs import InstructionInfo, instructions
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.wakes import InstructionWake, waking


def instructions_matching(is_wanted: Callable[[str], bool]) -> Callable[[Function], list[InstructionInfo]]:
    """Finds the instructions of a function whose opcode text satisfies `is_wanted`, in order."""
    wake = InstructionWake(spelled=is_wanted)

    def found(function: Function) -> list[InstructionInfo]:
        numbers = waking(function, wake)
        if not numbers:
            return []
        flow = instructions(function)
        return [flow.info(number) for number in numbers]

    return found
