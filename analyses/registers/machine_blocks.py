"""The virtual registers that the machine instructions of each basic block read and write.

1. Going back over a block, a definition ends the life of the virtual registers that it allocates, unless it
   is partial, and a use makes those that the register holds live.
2. The pressure at an instruction is the number of virtual registers that are live before it, those that it
   defines, and the most that it needs besides (`most_additional_registers`).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from analyses._flow import Operands, machine_block
from analyses.instructions.instruction_kind import InstructionKind
from analyses.instructions.uses_and_defs import FunctionInstructions
from analyses.registers.machine_kind import most_additional_registers

NO_REGISTER = -1
"""Replaces the virtual register of a value that needs none."""


class MachineBlock:
    """The virtual registers of one block. It is the same object as long as the machine instructions are
    unchanged.
    """

    __slots__ = ("defined", "has_pair", "pressure", "results", "upward_exposed")

    def __init__(
        self,
        upward_exposed: tuple[int, ...],
        defined: tuple[int, ...],
        pressure: int,
        results: int,
        has_pair: bool,
    ) -> None:
        self.upward_exposed = upward_exposed
        """Those that it reads before it has completely written them."""
        self.defined = defined
        """Those that it completely writes."""
        self.pressure = pressure
        """A bound for the registers that it needs in text order, without those that are live after it."""
        self.results = results
        """How many registers its definitions need."""
        self.has_pair = has_pair
        """Whether an instruction defines several registers."""


class MachineCode:
    """The machine instructions of a function, as the virtual registers of its registers."""

    def __init__(
        self,
        flow: FunctionInstructions,
        of_registers: list[tuple[int, ...]],
        allocated: list[tuple[int, ...]],
        is_eliminated: bytearray,
    ) -> None:
        self.flow: Final = flow
        self.of_registers: Final = of_registers
        """The virtual registers of each register, lowest first."""
        self.allocated: Final = allocated
        """The virtual registers of each register, if it does not share those of others."""
        self.is_eliminated: Final = is_eliminated
        """By instruction."""
        self._more: Final = _more(flow)

    def block(self, first: int, end: int, live_after: Collection[int] = ()) -> MachineBlock:
        """The block of the instructions from `first` up to `end` (exclusive). The registers that are live
        after it count if they are given.
        """
        flow = self.flow
        return MachineBlock(
            *machine_block(
                flow.uses, flow.defs, flow.partial_defs, flow.guards, flow.kinds, self.of_registers,
                self.allocated, self.is_eliminated, self._more, first, end, list(live_after),
            )
        )  # fmt: skip

    def operands(self, first: int, end: int, live_out: Collection[int]) -> Operands:
        """The operands of these machine instructions, with the registers that are live after them."""
        flow = self.flow
        return Operands(
            flow.uses, flow.defs, flow.partial_defs, flow.guards, self.of_registers, self.allocated,
            self.is_eliminated, first, end, list(live_out),
        )  # fmt: skip

    def defined_by(self, register: int) -> tuple[int, ...]:
        """The virtual registers that a definition of `register` allocates."""
        words = self.of_registers[register]
        return words if words is self.allocated[register] else ()


def _more(flow: FunctionInstructions) -> dict[InstructionKind, int]:
    """The kinds of instructions that need registers besides their operands."""
    found: dict[InstructionKind, int] = {}
    for kind in set(flow.kinds):
        count = most_additional_registers(kind.shape)
        if count:
            found[kind] = count
    return found
