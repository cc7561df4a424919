"""Which values are the same for all threads of the grid, a block or a warp, and which jumps split a warp.

1. The level of a value is what its instruction gives at best (`sources.py`), or the worst of its inputs if
   that is worse. Inputs of a write that keeps something are also the guard and what was there before.
2. A join of values is as its inputs. Behind a branch whose threads may go different ways it is also no
   better than the branch (`splits.py`), and so is a value that escapes from a loop which they leave at
   different times, where it is read outside, and all that is made in blocks where they are out of step.
   What depends on nothing (a number, a parameter of a kernel) is the same at all times.
3. The level of `bra` and `brx` is that of their guard and index, of `call` that of its guard and of the
   register that it goes through. `ret` and `exit` are also no better than the branches that decide whether
   they are reached: not all threads leave there together.
4. Threads that left a branch in different ways meet again at its reconvergence point, and steps that
   threads of a warp come to together are executed together. Nothing is said of threads that are not.
5. A fixed point: all begin as uniform in the grid, and get worse until nothing changes.
6. Of a function whose branches are too intricate (`splits.py`) or that has no values (`values.py`) nothing is
   known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from analyses.dominance import Dominance, dominance
from analyses.plans import Plan, block_plans, plans
from analyses.propagation import Cause, Escapes, VisitMemory, propagate
from analyses.sources import Level, Size
from analyses.splits import splits
from analyses.steps import Step
from analyses.values import NONE, Values, values
from ptx_lsp.facts import Earlier, Memory, lasting_fact
from ptx_lsp.model.function import Function


class Reason(NamedTuple):
    """One link of a chain: what the step `number` has to do with it; -1 for the function itself."""

    number: int
    text: str


@dataclass(frozen=True)
class Uniformity:
    """The levels of all values (by `Values`) and blocks of a function."""

    values: Values
    plans: tuple[Plan, ...]
    dominance: Dominance
    levels: tuple[Level, ...]
    numbers: bytes
    """The levels as numbers, for comparing many of them."""
    branches: dict[int, Level]
    """Of each reached block that control leaves in several ways, how uniformly it is left."""
    causes: dict[int, Cause]
    escapes: Escapes
    of_whole: tuple[Size, bool]
    """What the plans depend on besides the blocks and their values."""
    memory: VisitMemory
    is_known: bool
    """Whether the function is simple enough to say anything (6)."""

    def written(self, number: int) -> tuple[Level, ...]:
        """The levels of what step `number` writes, in the order of `Step.writes`."""
        return tuple(
            self.levels[value] if value != NONE else Level.UNKNOWN
            for value in self.values.of[number].writes
        )

    def read(self, number: int, register: int) -> Level:
        """The level of a register as step `number` reads it."""
        step, found = self.values.steps.steps[number], self.values.of[number]
        for one, value in zip((*step.reads, step.guard), (*found.reads, found.guard), strict=True):
            if one == register:
                return self.at(value, self.values.cfg.block_of[number])
        raise KeyError(register)

    def guard(self, number: int) -> Level:
        """The level of the guard of step `number`; `GRID` where it has none."""
        return self.at(self.values.of[number].guard, self.values.cfg.block_of[number])

    def flow(self, number: int) -> Level:
        """How uniformly step `number` is done, jumps or leaves (3); of other steps, that of the guard."""
        block = self.values.cfg.block_of[number]
        if block not in self.values.cfg.reached:
            return Level.UNKNOWN
        level = max(self.guard(number), Level(self.plans[number].flow))
        for value in self.plans[number].target:
            level = max(level, self.at(value, block))
        if self.values.steps.steps[number].opcode in ("ret", "exit"):
            level = max(level, self.control(block))
        return level

    def control(self, block: int) -> Level:
        """How uniformly the block is reached: whether all threads of a warp come to it, or none."""
        return self._control[block][0]

    def controlled_by(self, block: int) -> tuple[Step, ...]:
        """The jumps that are not uniform and decide whether `block` is reached, or reached again, the
        nearest first.
        """
        found: list[Step] = []
        seen: set[int] = set()
        waiting = [block] if self.is_known else []
        for one in waiting:
            for above in self.dominance.deciding[one]:
                if above not in seen:
                    seen.add(above)
                    waiting.append(above)
                    if not self.branches[above].is_uniform:
                        last = self.values.cfg.blocks[above].end - 1
                        found.append(self.values.steps.steps[last])
        return tuple(found)

    def reasons(self, number: int) -> tuple[Reason, ...]:
        """Why step `number` has its level of `flow`, back to what tells threads apart."""
        block = self.values.cfg.block_of[number]
        level = self.flow(number)
        for value in (self.values.of[number].guard, *self.plans[number].target):
            if value != NONE and self.at(value, block) == level:
                return tuple(self._chain(value, block, level))
        decided = self._control[block][1]
        if decided == NONE or level > self._control[block][0]:
            return ()
        return tuple(self._of_branch(decided, "decides whether this is reached", set()))

    def why(self, value: int) -> tuple[Reason, ...]:
        """Why a value has its level."""
        return tuple(self._chain(value, self.values.block_of(value), self.levels[value]))

    def at(self, value: int, block: int) -> Level:
        """The level of a value where `block` reads it."""
        if value == NONE:
            return Level.GRID if self.is_known else Level.UNKNOWN
        level = self.levels[value]
        for blocks, worse, _ in self.escapes.get(value, ()):
            if block not in blocks and worse > level:
                level = Level(worse)
        return level

    # -- reasons --------------------------------------------------------------------------------

    def _chain(
        self, value: int, block: int, level: Level, seen: set[int] | None = None
    ) -> Iterator[Reason]:
        seen = set() if seen is None else seen
        while value not in seen:
            seen.add(value)
            if self.levels[value] < level:  # it escapes
                for blocks, worse, branch in self.escapes.get(value, ()):
                    if block not in blocks and worse == level:
                        yield from self._of_branch(branch, self._left(value), seen)
                        return
            number = self.values.origin(value)
            cause = self.cause(value)
            if cause.block != NONE:
                holds = f"decides what `{self.name(value)}` holds"
                text = holds if cause.value == NONE else self._left(cause.value)
                yield from self._of_branch(cause.block, text, seen)
                return
            if cause.value == NONE:
                if cause.text:
                    yield Reason(number, cause.text)
                return
            if number != NONE:
                yield Reason(number, f"`{self.name(value)}` depends on `{self.name(cause.value)}`")
            block = self.values.block_of(value)
            value = cause.value

    def cause(self, value: int) -> Cause:
        """Why a value has its level."""
        if self.values.is_initial(value):
            register = self.values.steps.registers[value]
            given = "is given by the caller" if register.is_parameter else "is not written before"
            return Cause(text=f"`{register.name}` {given}")
        return self.causes.get(value, Cause())

    def _left(self, value: int) -> str:
        return f"threads leave the loop that makes `{self.name(value)}` at different times"

    def _of_branch(self, block: int, text: str, seen: set[int]) -> Iterator[Reason]:
        number = self.values.cfg.blocks[block].end - 1
        yield Reason(number, text)
        level = self.branches.get(block, Level.GRID)
        for value in (self.values.of[number].guard, *self.plans[number].target):
            if value != NONE and self.at(value, block) == level:
                yield from self._chain(value, block, level, seen)
                return

    def name(self, value: int) -> str:
        """The name of the register that holds the value."""
        register = self.values.register(value)
        return self.values.steps.registers[register].name if register >= 0 else "the carry"

    # -- control --------------------------------------------------------------------------------

    @cached_property
    def _control(self) -> tuple[tuple[Level, int], ...]:
        """The level of each block, and the block whose jump makes it so."""
        if not self.is_known:
            return ((Level.UNKNOWN, NONE),) * len(self.values.cfg.blocks)
        found = [(Level.GRID, NONE) for _ in self.values.cfg.blocks]
        below: list[list[int]] = [[] for _ in found]
        for block, deciding in enumerate(self.dominance.deciding):
            for above in deciding:
                below[above].append(block)
        for level in sorted(Level, reverse=True):
            waiting = [block for block, own in self.branches.items() if own == level]
            source = {block: block for block in waiting}
            for above in waiting:
                for block in below[above]:
                    if found[block][0] < level:
                        found[block] = (level, source[above])
                        source.setdefault(block, source[above])
                        waiting.append(block)
        return tuple(found)


@lasting_fact
def uniformity(function: Function, earlier: Earlier[Uniformity] | None) -> Uniformity:
    """How uniform the values and jumps of `function` are."""
    found, planned, ways = values(function), block_plans(function), splits(function)
    of_whole = planned.of_whole
    is_same = earlier is not None and earlier.value.of_whole == of_whole
    memory: VisitMemory = Memory(earlier.value.memory if earlier and is_same else None)
    levels = propagate(found, planned.of, ways, memory)
    return Uniformity(
        found, plans(function), dominance(function),
        tuple([_LEVELS[level] for level in levels.values]), levels.values,
        {block: _LEVELS[level] for block, level in levels.branches.items()},
        levels.causes, levels.escapes, of_whole, memory, found.is_known and not ways.is_intricate,
    )


_LEVELS = tuple(Level)
