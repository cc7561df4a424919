"""The machine instructions of a straight-line region, as far as scheduling needs them.

An instruction needs more registers than its operands during its execution: for constants that it cannot
encode (`materialised_constants`), and for the sequence of machine instructions that implements it
(`scratch_registers`).
"""

from __future__ import annotations

from collections.abc import Sequence

from ptx_lsp.analyses._flow import Operands
from ptx_lsp.analyses.registers.atomic_expansion import atomic_scratch
from ptx_lsp.analyses.registers.machine_instructions import materialised_constants
from ptx_lsp.analyses.registers.machine_kind import SLOW_PATH, scratch_registers, slow_path_scratch
from ptx_lsp.analyses.registers.virtual_registers import VirtualRegisters
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import Final

_SEQUENCES: Final = frozenset({"div", "rem", "sqrt", "rcp", "rsqrt", "mul", "mad"})
_ATOMIC: Final = frozenset({"atom", "red"})
_SPECIAL: Final = _SEQUENCES | _ATOMIC | {"st"}


class PressureProfile(NamedTuple):
    """For each instruction of an order: the virtual registers live around it, and by how many registers
    hoisting it raises the pressure at the instructions that it overtakes.
    """

    live: list[int]
    sizes: list[int]


class RegionCode(NamedTuple):
    """The machine instructions of a region, by position, and the virtual registers live after them."""

    operands: Operands
    additional: list[int]
    """The registers that each needs besides its operands."""
    live_out: frozenset[int]

    @property
    def text_order(self) -> list[int]:
        return list(range(len(self.additional)))

    def profile(self, order: list[int], is_counted: bytes) -> PressureProfile:
        """The pressure profile of an order. `is_counted` is `Operands.counted`."""
        return PressureProfile(*self.operands.profile(order, self.additional, is_counted))


def region_code(left: VirtualRegisters, operands: Operands, live_out: frozenset[int]) -> RegionCode:
    """The machine instructions with these operands."""
    additional = additional_registers(left, operands.numbers, live_out)
    return RegionCode(operands, additional, live_out)


def additional_registers(
    left: VirtualRegisters, numbers: Sequence[int], live_out: frozenset[int] | None = None
) -> list[int]:
    """The registers that each instruction needs besides its operands, at most if it is unknown what is live
    after the region.
    """
    flow = left.code.flow
    kinds = flow.kinds
    found = [0] * len(numbers)
    atomics: list[int] = []
    for at, kind in enumerate(map(kinds.__getitem__, numbers)):
        if kind.opcode in _SPECIAL:
            if kind.opcode in _ATOMIC:
                atomics.append(at)
            else:
                found[at] = _additional(left, numbers[at])
    if atomics:
        read = {register for number in numbers for register in flow.uses[number]}
        for at in atomics:
            number = numbers[at]
            is_read = live_out is None or any(
                register in read or not live_out.isdisjoint(left.code.of_registers[register])
                for register in flow.defs[number]
            )
            found[at] = atomic_scratch(left, flow.body.instructions[number], is_read)
    return found


def _additional(left: VirtualRegisters, number: int) -> int:
    flow = left.code.flow
    node, kind = flow.body.instructions[number], flow.kinds[number]
    if kind.opcode == "st":
        return materialised_constants(left, node)
    by_constant = any(isinstance(operand, nodes.Number) for operand in node.operands[2:])
    spelling = kind.shape.spelling
    slow = 0 if by_constant else slow_path_scratch(spelling)
    return scratch_registers(spelling, by_constant) + (slow << SLOW_PATH)
