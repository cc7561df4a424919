"""The instructions that define and read each register."""

from __future__ import annotations

from collections.abc import Sequence

from ptx_lsp.analyses import _flow
from ptx_lsp.analyses.instructions.uses_and_defs import FunctionInstructions, instructions
from ptx_lsp.facts import fact
from ptx_lsp.model.body_diff import InstructionRangeEdit
from ptx_lsp.model.function import Function
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

NEVER: Final = -1
SEVERAL: Final = -2
"""In place of the only definition of a register that has none, or has several or a partial one."""


class Definitions:
    """The instructions that define each register."""

    def __init__(self, only: list[int], several: dict[int, list[int]]) -> None:
        self.only: Final = only
        """The only definition of a register, if it defines all of it; else negative."""
        self._several: Final = several

    def of(self, register: int) -> Sequence[int]:
        """All definitions of a register, in order."""
        number = self.only[register]
        return (number,) if number >= 0 else self._several.get(register, ())

    @property
    def several(self) -> dict[int, list[int]]:
        """The definitions of registers with several, or with partial ones."""
        return self._several

    def edited(
        self, before: FunctionInstructions, after: FunctionInstructions, change: InstructionRangeEdit
    ) -> Definitions:
        """The definitions after an edit."""
        first, old_end, end = change
        growth = change.growth

        def moved(numbers: Sequence[int]) -> list[int]:
            return [number + growth if number >= old_end else number for number in numbers]

        only = moved(self.only) if growth else self.only.copy()
        several = self._several.copy()
        if growth:
            several = {register: moved(numbers) for register, numbers in several.items()}
        found = {register: list[int]() for written in before.defs[first:old_end] for register in written}
        for number in range(first, end):
            for register in after.defs[number]:
                found.setdefault(register, []).append(number)
        for register, came in found.items():
            stayed = [number for number in self.of(register) if not first <= number < old_end]
            numbers = sorted([*moved(stayed), *came])
            several.pop(register, None)
            if not numbers:
                only[register] = NEVER
            elif len(numbers) == 1 and not after.partial_defs[numbers[0]]:
                only[register] = numbers[0]
            else:
                only[register] = SEVERAL
                several[register] = numbers
        return Definitions(only, several)


@fact
def definitions(function: Function) -> Definitions:
    """The definitions of `function`."""
    flow = instructions(function)
    return Definitions(*_flow.definitions(flow.defs, flow.partial_defs, flow.count))


@fact
def readers(function: Function) -> _flow.Readers:
    """The instructions that read each register of `function`."""
    flow = instructions(function)
    return _flow.Readers(flow.uses, flow.count)
