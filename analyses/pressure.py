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
from functools import cached_property

from analyses.liveness import Liveness, liveness
from ptx_lsp.facts import fact
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
        sizes = _units(flow.registers)
        larger = max(before, after, key=lambda live: sum(sizes[one] for one in live))
        ordered = sorted(larger, key=lambda one: (-sizes[one], one))
        return tuple(flow.registers[one] for one in ordered)


@fact
def pressure(function: Function) -> Pressure:
    """The pressure along `function`."""
    live = liveness(function)
    flow = live.steps
    sizes = _units(flow.registers)
    is_predicate = [register.type == ".pred" for register in flow.registers]
    units = [0] * len(flow.steps)
    predicates = 0
    for block in live.cfg.order:
        after = total = flags = -1
        for step, now in live.backward(block):
            if after < 0:
                total, flags = _count(now, sizes, is_predicate)
            dead = [one for one in dict.fromkeys(step.writes) if one not in now]
            more, more_flags = _count(dead, sizes, is_predicate)
            after = total + more
            predicates = max(predicates, flags + more_flags)
            for one in live.kills[step.number]:
                if one in now:
                    total -= sizes[one]
                    flags -= is_predicate[one]
            for one in {*step.reads, *((step.guard,) if step.guard >= 0 else ())}:
                if one not in now or one in live.kills[step.number]:
                    total += sizes[one]
                    flags += is_predicate[one]
            units[step.number] = max(after, total)
            predicates = max(predicates, flags)
    return Pressure(live, tuple(units), predicates)


def _count(
    registers: Iterable[int], sizes: Sequence[int], is_predicate: Sequence[bool]
) -> tuple[int, int]:
    units = flags = 0
    for one in registers:
        units += sizes[one]
        flags += is_predicate[one]
    return units, flags


def _units(registers: Sequence[Register]) -> list[int]:
    found: list[int] = []
    for register in registers:
        type = TYPES.get(register.type)
        if type is None:
            found.append(register.vector)
        else:
            found.append(0 if register.type == ".pred" else register.vector * -(-type.width // 32))
    return found
