"""Register pressure of PTX as it stands: how many 32-bit units its registers need at once.

1. A register needs a unit for every 32 bits of its type, at least one; a vector as many as its elements.
   Predicates need none; they are counted apart.
2. The pressure of a step is what is live before or after it, whichever needs more, with what it writes.
3. The peak is the largest pressure of any step that can be reached.

What ptxas makes of it differs: `registers` estimates that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeAlias

from analyses.contents import Content, contents
from analyses.liveness import LiveBehind, Liveness, liveness
from ptx_lsp.facts import Earlier, Memory, fact, lasting_fact
from ptx_lsp.isa.types import TYPES
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Register


@dataclass(frozen=True)
class Pressure:
    """For each step its units; for the peak the step and who is live there."""

    liveness: Liveness
    units: tuple[int, ...]
    """In 32-bit units, by the number of the step; 0 where it cannot be reached."""
    predicates: int
    """The most predicates that are live at once."""

    @cached_property
    def peak(self) -> int:
        return max(self.units, default=0)

    @cached_property
    def peak_step(self) -> int | None:
        """The first step of the peak; None for a function without steps."""
        return self.units.index(self.peak) if self.units else None

    @cached_property
    def live_at_peak(self) -> tuple[Register, ...]:
        """The registers that are live around the peak, the widest first."""
        if self.peak_step is None:
            return ()
        flow = self.liveness.steps
        step = flow.steps[self.peak_step]
        before = self.liveness.before(step.number)
        after = self.liveness.after(step.number) | set(step.writes)
        sizes = {one: _count((one,), flow.registers)[0] for one in before | after}
        larger = max(before, after, key=lambda live: sum(sizes[one] for one in live))
        ordered = sorted(larger, key=lambda one: (-sizes[one], one))
        return tuple(flow.registers[one] for one in ordered)


@fact
def pressure(function: Function) -> Pressure:
    """The pressure along `function`."""
    live = liveness(function)
    flow = live.steps
    known, content = _memory(function), contents(function).of
    units = [0] * len(flow.steps)
    predicates = 0
    for number in live.cfg.order:
        block = live.cfg.blocks[number]
        key = content[number], live.behind(number)
        found = known.get(key) or known.put(key, _of_block(live, number, flow.registers))
        units[block.first : block.end] = found.units
        predicates = max(predicates, found.predicates)
    return Pressure(live, tuple(units), predicates)


class _OfBlock(NamedTuple):
    units: list[int]
    predicates: int


_Memory: TypeAlias = Memory[tuple[Content, LiveBehind], _OfBlock]
"""By what is in a block, and what is live behind it."""


@lasting_fact
def _memory(_: Function, earlier: Earlier[_Memory] | None) -> _Memory:
    return Memory(earlier.value if earlier else None)


def _of_block(live: Liveness, block: int, registers: Sequence[Register]) -> _OfBlock:
    units: list[int] = []
    after = total = flags = -1
    predicates = 0
    for step, now in live.backward(block):
        if after < 0:
            total, flags = _count(now, registers)
        dead = [one for one in dict.fromkeys(step.writes) if one not in now]
        more, more_flags = _count(dead, registers)
        after = total + more
        predicates = max(predicates, flags + more_flags)
        kills = live.kills[step.number]
        less, less_flags = _count([one for one in kills if one in now], registers)
        reads = {*step.reads, step.guard} if step.guard >= 0 else set(step.reads)
        new = [one for one in reads if one not in now or one in kills]
        more, more_flags = _count(new, registers)
        total += more - less
        flags += more_flags - less_flags
        units.append(max(after, total))
        predicates = max(predicates, flags)
    return _OfBlock(units[::-1], predicates)


def _count(live: Iterable[int], registers: Sequence[Register]) -> tuple[int, int]:
    """The units of some registers, and how many of them are predicates."""
    units = flags = 0
    for one in live:
        register = registers[one]
        if register.type == ".pred":
            flags += 1
        else:
            units += _units(register.type, register.vector)
    return units, flags


@lru_cache(maxsize=256)
def _units(type: str, vector: int) -> int:
    found = TYPES.get(type)
    if type == ".pred":
        return 0
    return vector * -(-found.width // 32) if found is not None else vector
