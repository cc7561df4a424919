"""The virtual registers that the machine instructions of each basic block read and write.

1. Going back over a block, a definition ends the life of the virtual registers that it allocates, unless it
   is partial, and a use makes those that the register holds live.
2. The pressure at an instruction is the number of virtual registers that are live before it, those that it
   defines, and the most that it needs besides (`most_additional_registers`).
3. Results may replace operands, so the registers needed in text order are only those that are live before an
   instruction or after it, and the most that it needs besides. Any other order needs at most those that are
   live at the start, all results, and the most that an instruction needs besides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ptx_lsp.analyses._flow import MachineBlock, Operands, block_registers, machine_blocks
from ptx_lsp.analyses.bitset import BitIndex
from ptx_lsp.analyses.instructions.instruction_kind import InstructionKind
from ptx_lsp.analyses.instructions.register_index import RegisterIndex
from ptx_lsp.analyses.instructions.uses_and_defs import FunctionInstructions
from ptx_lsp.analyses.registers.machine_kind import most_additional_registers
from ptx_lsp.isa.types import TYPES
from ptx_lsp.model.body import Body
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

NO_REGISTER = -1
"""Replaces the virtual register of a value that needs none."""


def word_flags(words: Collection[int]) -> bytes:
    """For each virtual register up to the last of these, whether it is one of them."""
    found = bytearray(max(words, default=-1) + 1)
    for word in words:
        found[word] = 1
    return bytes(found)


def allocated_registers(body: Body, numbering: RegisterIndex) -> list[tuple[int, ...]]:
    """The virtual registers of each register, if it does not share those of others."""
    found: list[tuple[int, ...]] = []
    first = 0
    for register, count in numbering.runs(body):
        size = _size(register.type, register.vector)
        end = first + size * count
        words = [range(word, end, size) for word in range(first, first + size)]
        found += zip(*words, strict=True) if words else [()] * count
        first = end
    return found


def _size(type: str, vector: int) -> int:
    found = TYPES.get(type)
    if found is None:
        return vector
    return 0 if found.width <= 1 else vector * max(1, found.width // 32)


class MachineCode:
    """The machine instructions of a function, as the virtual registers of its registers."""

    def __init__(
        self,
        flow: FunctionInstructions,
        of_registers: list[tuple[int, ...]],
        allocated: list[tuple[int, ...]],
        is_eliminated: bytearray,
        loads: dict[int, int],
    ) -> None:
        self.flow: Final = flow
        self.of_registers: Final = of_registers
        """The virtual registers of each register, lowest first."""
        self.allocated: Final = allocated
        """The virtual registers of each register, if it does not share those of others."""
        self.is_eliminated: Final = is_eliminated
        """By instruction."""
        self.loads: Final = loads
        """The (eliminated) instructions that load parameters, by the virtual registers that they define. Each
        region loads the parameters that it reads.
        """
        self.kinds: Final = set(flow.kinds)
        """Those of its instructions."""
        self._more: Final = _more(self.kinds)

    def blocks(self, bounds: list[tuple[int, int]]) -> list[MachineBlock]:
        """The blocks of the instructions from one number up to another (exclusive)."""
        flow = self.flow
        return machine_blocks(
            flow.uses, flow.defs, flow.partial_defs, flow.guards, flow.kinds, self.of_registers,
            self.allocated, self.is_eliminated, self.loads, self._more, bounds,
        )  # fmt: skip

    def registers(
        self, bounds: Iterable[tuple[int, int, int]], numbering: BitIndex, elsewhere: bytes
    ) -> list[tuple[int, int, int]]:
        """The pressure of each block of the instructions from one number up to another (exclusive) with what
        is live after it, as a bit set, and bounds for the registers that it needs in text order and in any
        order (2, 3). What has a flag in `elsewhere` does not count.
        """
        flow = self.flow
        with_bits = [
            (first, end, live.to_bytes((live.bit_length() + 7) // 8, "little")) for first, end, live in bounds
        ]
        return block_registers(
            flow.uses, flow.defs, flow.partial_defs, flow.guards, flow.kinds, self.of_registers,
            self.allocated, self.is_eliminated, self.loads, self._more, with_bits, numbering.numbers,
            elsewhere,
        )  # fmt: skip

    def operands(self, first: int, end: int, live_out: Collection[int]) -> Operands:
        """The operands of these machine instructions, with the registers that are live after them."""
        flow = self.flow
        return Operands(
            flow.uses, flow.defs, flow.partial_defs, flow.guards, self.of_registers, self.allocated,
            self.is_eliminated, self.loads, first, end, list(live_out),
        )  # fmt: skip

    def defined_by(self, register: int) -> tuple[int, ...]:
        """The virtual registers that a definition of `register` allocates."""
        words = self.of_registers[register]
        return words if words is self.allocated[register] else ()


def _more(kinds: Iterable[InstructionKind]) -> dict[InstructionKind, int]:
    """The kinds of instructions that need registers besides their operands."""
    found: dict[InstructionKind, int] = {}
    for kind in kinds:
        count = most_additional_registers(kind.shape)
        if count:
            found[kind] = count
    return found
