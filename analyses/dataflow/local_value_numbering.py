"""SSA construction within one block: the definition that each read sees, or the register at block entry.

Braun et al. (2013) call this step local value numbering. Numbers below 0 stand for the registers at the entry
of the block: -1 for the first of `entry_registers`, and so on. Numbers from 0 on are defined in the block, in
order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from analyses.bitset import EMPTY
from analyses.control_flow.block_identity import block_fact
from analyses.instructions.uses_and_defs import InstructionInfo
from ptx_lsp.model.function import Function

NONE = -1
_CARRYING = frozenset({"addc", "subc", "madc"})


class InstructionValues(NamedTuple):
    """The values of one instruction, parallel to the registers in `InstructionInfo`; `carry` is the carry
    that it reads or defines.

    `reads`, `keeps` and `writes` are in the order of the registers in `InstructionInfo`.
    """

    uses: tuple[int, ...]
    partial_defs: tuple[int, ...]
    defs: tuple[int, ...]
    guard: int
    carry_in: int
    carry_out: int


class LocalValueNumbering(NamedTuple):
    """`entry_registers` are the registers whose entry value the block reads. `definitions` has, for each
    value that it defines, the register (-1: a carry) and the instruction, counted from the first of the
    block. `outgoing` has the final value of each register.
    """

    entry_registers: tuple[int, ...]
    instructions: tuple[_LocalInstructionValues, ...]
    definitions: tuple[tuple[int, int], ...]
    outgoing: tuple[tuple[int, int], ...]
    partially_defined: frozenset[int]
    """The registers that are written only partially."""

    def numbered(self, first: int, entered: tuple[int, ...]) -> tuple[InstructionValues, ...]:
        """The values of the instructions, where the values defined by the block start at `first` and its
        entry values are `entered`.
        """
        all_values = [*range(first, first + len(self.definitions)), *reversed(entered)]
        return tuple([
            InstructionValues(
                tuple([all_values[one] for one in reads]),
                tuple([all_values[one] for one in keeps]) if keeps else (),
                tuple([all_values[one] for one in writes]) if writes else (),
                NONE if guard is None else all_values[guard],
                NONE if carry_in is None else all_values[carry_in],
                NONE if carry_out is None else all_values[carry_out],
            )
            if one is not _WITHOUT
            else _WITHOUT_VALUES
            for one in self.instructions
            for reads, keeps, writes, guard, carry_in, carry_out in (one,)
        ])  # fmt: skip

    def unreachable(self) -> tuple[InstructionValues, ...]:
        """The values of the instructions if the block is unreachable."""
        return tuple([
            InstructionValues(
                (NONE,) * len(one.uses), (NONE,) * len(one.partial_defs), (NONE,) * len(one.defs),
                NONE, NONE, NONE,
            )
            if one is not _WITHOUT
            else _WITHOUT_VALUES
            for one in self.instructions
        ])  # fmt: skip


class _LocalInstructionValues(NamedTuple):
    """Like `InstructionValues`, with the numbers of `LocalValueNumbering`; None if absent."""

    uses: tuple[int, ...]
    partial_defs: tuple[int, ...]
    defs: tuple[int, ...]
    guard: int | None
    carry_in: int | None
    carry_out: int | None


_WITHOUT = _LocalInstructionValues((), (), (), None, None, None)
_WITHOUT_VALUES = InstructionValues((), (), (), NONE, NONE, NONE)
"""Shared by the many instructions without registers."""


@block_fact
def local_value_numbering(_: Function, block: Sequence[InstructionInfo]) -> LocalValueNumbering:
    """The local values of a block."""
    entries: dict[int, int] = {}
    current: dict[int, int] = {}
    made: list[tuple[int, int]] = []
    found: list[_LocalInstructionValues] = []
    kept: set[int] = set()
    carry: int | None = None

    def value(register: int) -> int:
        number = current.get(register)
        return entries.setdefault(register, ~len(entries)) if number is None else number

    for index, step in enumerate(block):
        reads = tuple([value(register) for register in step.uses])
        keeps = tuple([value(register) for register in step.partial_defs]) if step.partial_defs else ()
        guard = value(step.guard) if step.guard >= 0 else None
        carry_in = carry if step.opcode in _CARRYING else None
        carry_out = None
        first = len(made)
        for register in step.defs:
            current[register] = len(made)
            made.append((register, index))
        writes = tuple(range(first, len(made)))
        if ".cc" in step.spelling:
            carry = carry_out = len(made)
            made.append((NONE, index))
        kept.update(step.partial_defs)
        numbered = _LocalInstructionValues(reads, keeps, writes, guard, carry_in, carry_out)
        found.append(numbered if numbered != _WITHOUT else _WITHOUT)
    last = tuple(current.items())
    return LocalValueNumbering(tuple(entries), tuple(found), tuple(made), last, frozenset(kept) or EMPTY)
