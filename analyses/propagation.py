"""The levels of uniformity of all values and branches, by a fixed point (`uniformity.py`, 1, 2 and 5)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple, TypeAlias

from analyses.plans import OfBlock
from analyses.sources import Level
from analyses.splits import Splits
from analyses.values import NONE, BlockValues, Values
from ptx_lsp.facts import Memory

Escapes = dict[int, tuple[tuple[frozenset[int], int, int], ...]]
"""Of a value: the blocks outside of which it is worse, how bad, and the block that splits the warp."""


class Cause(NamedTuple):
    """Why a value has its level: another value, a branch (by its block), or what `text` says; with a value
    and a branch, what that branch does to the other value outside of its loop.
    """

    value: int = NONE
    block: int = NONE
    text: str = ""


_NOTHING = Cause()


class Propagated(NamedTuple):
    """Levels as numbers: of each value, and of each reached block that control leaves in several ways."""

    values: bytes
    branches: dict[int, int]
    causes: dict[int, Cause]
    escapes: Escapes


class Visited(NamedTuple):
    """What the steps of a block make of the levels that it enters with, when they are done for the first time
    and nothing else is known of their results.
    """

    levels: bytes
    causes: dict[int, Cause]


VisitMemory: TypeAlias = Memory[tuple[BlockValues, bytes], Visited]
"""By a block with its values, and the levels that it enters with."""


def propagate(
    found: Values, planned: tuple[OfBlock, ...], ways: Splits, memory: VisitMemory
) -> Propagated:
    """The levels of a function, of whose blocks the plans are given."""
    return _Propagation(found, planned, ways, memory).run()


class _Propagation:
    def __init__(
        self, found: Values, planned: tuple[OfBlock, ...], ways: Splits, memory: VisitMemory
    ) -> None:
        self.values = found
        self.cfg = found.cfg
        self.of_blocks = planned
        self.plans = tuple(chain.from_iterable([block.plans for block in planned]))
        self.splits = ways
        self.memory = memory
        self.levels = bytearray(found.limit)
        self.causes: dict[int, Cause] = {}
        self.escapes: Escapes = {}
        self.branches: dict[int, int] = {}
        self.joins: dict[int, list[int]] = {}
        """Of a value the joins that read it, each as `~value`."""
        self.raised: dict[int, None] = {}
        """What the step, or the steps of the block, that is looked at has made worse."""
        self.readers: dict[int, list[int]] = {}
        """Of a value the blocks that enter with it."""
        self.waiting: list[int] = []
        self.done: set[tuple[frozenset[int], int, bool]] = set()
        self.past: list[bool] = [False] * len(found.of)
        """The steps that were looked at before."""

    def run(self) -> Propagated:
        if self.splits.is_intricate or not self.values.is_known:
            return self.unknown()
        self.begin()
        for block in self.cfg.order:
            for join in self.values.joins_of[block]:
                self.join(join.value)
            self.visit(block)
        while self.waiting:
            one = self.waiting.pop()
            if one >= 0:
                self.again(one)
            else:
                self.join(~one)
        return Propagated(bytes(self.levels), self.branches, self.causes, self.escapes)

    def unknown(self) -> Propagated:
        """What is said where nothing is known."""
        branches = dict.fromkeys((b for b in self.cfg.order if self.cfg.blocks[b].splits), int(Level.UNKNOWN))
        return Propagated(bytes([Level.UNKNOWN]) * len(self.levels), branches, {}, {})

    def begin(self) -> None:
        for block in self.cfg.order:
            for value in self.values.blocks[block].entered:
                self.readers.setdefault(value, []).append(block)
            if self.cfg.blocks[block].splits:
                self.branches[block] = Level.GRID
            for join in self.values.joins_of[block]:
                for value in join.inputs:
                    self.joins.setdefault(value, []).append(~join.value)
        count = len(self.values.steps.registers)
        self.levels[:count] = bytes([Level.UNKNOWN]) * count

    def uses(self, value: int) -> list[int]:
        """Who reads a value: a step by its number, a join by `~value`."""
        found: list[int] = []
        own = self.values.block_of(value) if value not in self.values.joins else NONE
        for block in (own, *self.readers.get(value, ())):
            if block < 0:
                continue
            first, end = self.cfg.blocks[block].first, self.cfg.blocks[block].end
            reading = self.of_blocks[block].readers.get(value, ())
            found.extend([first + index for index in reading])
            is_last_told = block not in self.branches or end - first - 1 in reading
            if not is_last_told and value in self.deciding(end - 1):
                found.append(end - 1)
        found.extend(self.joins.get(value, ()))
        return found

    def visit(self, block: int) -> None:
        """Does the steps of a block for the first time. What reads their results comes later, but for joins
        at the heads of loops.
        """
        values, levels = self.values.blocks[block], self.levels
        numbers = self.cfg.blocks[block].steps
        self.past[numbers.start : numbers.stop] = [True] * len(numbers)
        made = slice(values.first, values.first + values.made)
        entered = bytes(map(levels.__getitem__, values.entered))
        is_plain = not any(levels[made]) and self.escapes.keys().isdisjoint(values.entered)
        known = self.memory.get((values, entered)) if is_plain else None
        if known is not None:
            levels[made] = known.levels
            self.causes.update(known.causes)
            self.raised = dict.fromkeys(known.causes)
        else:
            self.raised.clear()
            for number in numbers:
                self.step(number)
            if is_plain:
                causes = {value: self.causes[value] for value in self.raised}
                self.memory.put((values, entered), Visited(bytes(levels[made]), causes))
        for value in self.raised:
            self.waiting.extend(self.joins.get(value, ()))
        if block in self.branches:
            self.branch(block)

    def deciding(self, number: int) -> tuple[int, ...]:
        """The values that tell which way the last step of a block goes."""
        guard = self.values.of[number].guard
        return self.plans[number].target if guard < 0 else (guard, *self.plans[number].target)

    def step(self, number: int) -> None:
        plan = self.plans[number]
        block = self.cfg.block_of[number]
        made = plan.made
        if made:
            level, cause = self.worst(plan.inputs, block)
            if plan.floor > level:
                level, cause = plan.floor, Cause(text=plan.text)
            for value in made:
                if level > self.levels[value]:
                    self.raise_to(value, level, cause)
            if plan.second != NONE and plan.second_floor > self.levels[plan.second]:
                text = "differs from lane to lane"
                self.raise_to(plan.second, plan.second_floor, Cause(text=text))

    def again(self, number: int) -> None:
        """Does a step once more, because something that it reads has become worse."""
        self.raised.clear()
        self.step(number)
        for value in self.raised:
            self.wake(value)
        block = self.cfg.block_of[number]
        if block in self.branches and number == self.cfg.blocks[block].end - 1:
            self.branch(block)

    def branch(self, block: int) -> None:
        number = self.cfg.blocks[block].end - 1
        level = max(self.worst(self.deciding(number), block)[0], self.plans[number].flow)
        if level > self.branches[block]:
            self.branches[block] = level
            self.split(block, level)

    def join(self, value: int) -> None:
        join = self.values.joins[value]
        level, cause = self.worst(join.inputs, join.block)
        if level > self.levels[value]:
            self.set(value, level, cause)

    def worst(self, inputs: tuple[int, ...], block: int) -> tuple[int, Cause]:
        """The worst level among values that `block` reads, and why."""
        worst, cause, through = 0, NONE, NONE
        levels, escapes = self.levels, self.escapes
        for value in inputs:
            level, branch = levels[value], NONE
            if value in escapes:
                for blocks, worse, source in escapes[value]:
                    if worse > level and block not in blocks:
                        level, branch = worse, source
            if level > worst:
                worst, cause, through = level, value, branch
        return worst, Cause(cause, through) if worst else _NOTHING

    def raise_to(self, value: int, level: int, cause: Cause) -> None:
        """What reads the value is not told."""
        self.levels[value] = level
        self.causes[value] = cause
        self.raised[value] = None

    def set(self, value: int, level: int, cause: Cause) -> None:
        self.levels[value] = level
        self.causes[value] = cause
        self.wake(value)

    def wake(self, value: int) -> None:
        """Looks again at what reads a value, if it was looked at before."""
        self.waiting.extend(use for use in self.uses(value) if use < 0 or self.past[use])

    # -- splits ---------------------------------------------------------------------------------

    def split(self, block: int, level: int) -> None:
        """What it means that the threads may leave a block in different ways."""
        found = self.splits.of(block)
        for one in found.joins:
            for join in self.values.joins_of[one]:
                if level > self.levels[join.value]:
                    self.set(join.value, level, Cause(block=block))
        for blocks in found.tangled:
            for value in self.made_in(blocks, level, escaping=False):
                if level > self.levels[value]:
                    self.set(value, level, Cause(block=block))
        for blocks in found.escapes:
            for value in self.made_in(blocks, level, escaping=True):
                self.escape(value, blocks, level, block)

    def made_in(self, blocks: frozenset[int], level: int, *, escaping: bool) -> Iterator[int]:
        """The values made in some blocks that may be others at another time, once for each level: joins,
        and what is not as its inputs alone. Of what is as its inputs alone, only what escapes.
        """
        if (blocks, level, escaping) in self.done:
            return
        self.done.add((blocks, level, escaping))
        for block in blocks:
            for join in self.values.joins_of[block]:
                yield join.value
            for number in self.cfg.blocks[block].steps:
                plan = self.plans[number]
                if plan.floor != Level.GRID or (escaping and plan.inputs):
                    yield from self.values.of[number].writes

    def escape(self, value: int, blocks: frozenset[int], level: int, branch: int) -> None:
        outside = [use for use in self.uses(value) if self.block_of_use(use) not in blocks]
        if outside:
            earlier = self.escapes.get(value, ())
            self.escapes[value] = (*earlier, (blocks, level, branch))
            self.waiting.extend(use for use in outside if use < 0 or self.past[use])

    def block_of_use(self, use: int) -> int:
        return self.cfg.block_of[use] if use >= 0 else self.values.joins[~use].block
