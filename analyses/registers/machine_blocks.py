"""The virtual registers that the machine instructions of each basic block read and write, as sets."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from analyses.bitset import EMPTY
from analyses.instructions.instruction_kind import InstructionKind
from analyses.instructions.uses_and_defs import FunctionInstructions
from analyses.registers.machine_kind import most_additional_registers

NO_REGISTER = -1
"""Replaces the virtual register of a value that needs none."""


class MachineBlock:
    """The virtual registers of one block. It is the same object as long as the machine instructions are
    unchanged.

    `pressure` bounds the registers that the block needs in text order, without those that are live after it,
    and `results` those that it defines. `has_pair`: whether an instruction defines several registers.
    """

    __slots__ = ("defined", "has_pair", "pressure", "results", "upward_exposed")

    def __init__(
        self,
        upward_exposed: frozenset[int],
        defined: frozenset[int],
        pressure: int,
        results: int,
        has_pair: bool,
    ) -> None:
        self.upward_exposed = upward_exposed
        self.defined = defined
        self.pressure = pressure
        self.results = results
        self.has_pair = has_pair


class MachineCode:
    """The machine instructions of a function, as the virtual registers of its registers."""

    def __init__(
        self,
        flow: FunctionInstructions,
        of_registers: Sequence[tuple[int, ...]],
        allocated: Sequence[tuple[int, ...]],
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

    def block(self, first: int, end: int, live_after: Collection[int] = EMPTY) -> MachineBlock:
        """The block of the instructions from `first` up to `end` (exclusive). The registers that are live
        after it count if they are given.
        """
        flow, values, allocated = self.flow, self.of_registers, self.allocated
        is_eliminated, more = self.is_eliminated, self._more
        kinds, uses, defs, partial_defs = flow.kinds, flow.uses, flow.defs, flow.partial_defs
        live = set(live_after)
        defined: set[int] = set()
        pressure = results = 0
        has_pair = False
        for number in range(end - 1, first - 1, -1):
            if is_eliminated[number]:
                continue
            size = 0
            for register in defs[number]:
                words = values[register]
                if words is allocated[register]:
                    size += len(words)
                    if not partial_defs[number] or register not in partial_defs[number]:
                        live.difference_update(words)
                        defined.update(words)
            for register in uses[number]:
                live.update(values[register])
            now = len(live) + size
            if kinds[number] in more:
                now += more[kinds[number]]
            if now > pressure:
                pressure = now
            if size > 1 and not has_pair:
                has_pair = len({word for one in defs[number] for word in self.defined_by(one)}) > 1
            results += size
        live.discard(NO_REGISTER)
        return MachineBlock(frozenset(live), frozenset(defined), pressure, results, has_pair)

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
