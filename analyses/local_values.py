"""The values of a block by itself: which of its writes, or which register as it was before, each read sees.

Numbers below 0 stand for what registers held before the block: -1 for the first of `entries`, and so on;
those from 0 on are made in it, in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from analyses.bits import NOTHING
from analyses.contents import block_fact
from analyses.steps import Step
from ptx_lsp.model.function import Function

NONE = -1
_CARRYING = frozenset({"addc", "subc", "madc"})


class StepValues(NamedTuple):
    """The values of one step, as the registers in `Step`; `carry` is the one that it reads or makes.

    `reads`, `keeps` and `writes` are in the order of the registers in `Step`.
    """

    reads: tuple[int, ...]
    keeps: tuple[int, ...]
    writes: tuple[int, ...]
    guard: int
    carry_in: int
    carry_out: int


class LocalValues(NamedTuple):
    """`entries` are the registers of which the block sees what they held before; `made` for each value that
    it makes the register (-1: a carry) and the step, counted from the first of the block; `last` what it
    leaves in registers.
    """

    entries: tuple[int, ...]
    steps: tuple[_Numbered, ...]
    made: tuple[tuple[int, int], ...]
    last: tuple[tuple[int, int], ...]
    kept: frozenset[int]
    """The registers of which something remains where they are written."""

    def at(self, first: int, entered: tuple[int, ...]) -> tuple[StepValues, ...]:
        """The values of the steps, where those that the block makes are `first` and on, and those that it
        enters with are `entered`.
        """
        all_values = [*range(first, first + len(self.made)), *reversed(entered)]
        return tuple([
            StepValues(
                tuple([all_values[one] for one in reads]),
                tuple([all_values[one] for one in keeps]) if keeps else (),
                tuple([all_values[one] for one in writes]) if writes else (),
                NONE if guard is None else all_values[guard],
                NONE if carry_in is None else all_values[carry_in],
                NONE if carry_out is None else all_values[carry_out],
            )
            if one is not _WITHOUT
            else _WITHOUT_VALUES
            for one in self.steps
            for reads, keeps, writes, guard, carry_in, carry_out in (one,)
        ])  # fmt: skip

    def nowhere(self) -> tuple[StepValues, ...]:
        """The values of the steps where the block cannot be reached."""
        return tuple([
            StepValues(
                (NONE,) * len(one.reads), (NONE,) * len(one.keeps), (NONE,) * len(one.writes),
                NONE, NONE, NONE,
            )
            if one is not _WITHOUT
            else _WITHOUT_VALUES
            for one in self.steps
        ])  # fmt: skip


class _Numbered(NamedTuple):
    """As `StepValues`, with the numbers of `LocalValues`; None where there is none."""

    reads: tuple[int, ...]
    keeps: tuple[int, ...]
    writes: tuple[int, ...]
    guard: int | None
    carry_in: int | None
    carry_out: int | None


_WITHOUT = _Numbered((), (), (), None, None, None)
_WITHOUT_VALUES = StepValues((), (), (), NONE, NONE, NONE)
"""Of the many steps that have nothing to do with registers."""


@block_fact
def local_values(_: Function, block: Sequence[Step]) -> LocalValues:
    """The values of a block by itself."""
    entries: dict[int, int] = {}
    current: dict[int, int] = {}
    made: list[tuple[int, int]] = []
    found: list[_Numbered] = []
    kept: set[int] = set()
    carry: int | None = None

    def value(register: int) -> int:
        number = current.get(register)
        return entries.setdefault(register, ~len(entries)) if number is None else number

    for index, step in enumerate(block):
        reads = tuple([value(register) for register in step.reads])
        keeps = tuple([value(register) for register in step.keeps]) if step.keeps else ()
        guard = value(step.guard) if step.guard >= 0 else None
        carry_in = carry if step.opcode in _CARRYING else None
        carry_out = None
        first = len(made)
        for register in step.writes:
            current[register] = len(made)
            made.append((register, index))
        writes = tuple(range(first, len(made)))
        if ".cc" in step.spelling:
            carry = carry_out = len(made)
            made.append((NONE, index))
        kept.update(step.keeps)
        numbered = _Numbered(reads, keeps, writes, guard, carry_in, carry_out)
        found.append(numbered if numbered != _WITHOUT else _WITHOUT)
    last = tuple(current.items())
    return LocalValues(tuple(entries), tuple(found), tuple(made), last, frozenset(kept) or NOTHING)
