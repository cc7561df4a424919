"""The levels of uniformity of all values and branches, by a fixed point (`uniformity.py`, 1, 2 and 5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from analyses.plans import Plan
from analyses.sources import Level
from analyses.splits import Splits
from analyses.values import NONE, Values

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

    values: list[int]
    branches: dict[int, int]
    causes: dict[int, Cause]
    escapes: Escapes


def propagate(found: Values, planned: tuple[Plan, ...], ways: Splits) -> Propagated:
    """The levels of a function."""
    return _Propagation(found, planned, ways).run()


class _Propagation:
    def __init__(self, found: Values, planned: tuple[Plan, ...], ways: Splits) -> None:
        self.values = found
        self.cfg = found.cfg
        self.plans = planned
        self.splits = ways
        self.levels = [int(Level.GRID)] * len(found.origins)
        self.causes: dict[int, Cause] = {}
        self.escapes: Escapes = {}
        self.branches: dict[int, int] = {}
        self.uses: list[list[int]] = [[] for _ in found.origins]
        """Of each value who reads it: a step by its number, a join by `~value`."""
        self.waiting: list[int] = []
        self.done: set[tuple[frozenset[int], int, bool]] = set()
        self.past: list[bool] = [False] * len(found.of)
        """The steps that were looked at before."""

    def run(self) -> Propagated:
        self.begin()
        for block in self.cfg.order:
            for join in self.values.joins_of[block]:
                self.join(join.value)
            for number in self.cfg.blocks[block].steps:
                self.past[number] = True
                self.step(number)
        while self.waiting:
            one = self.waiting.pop()
            if one >= 0:
                self.step(one)
            else:
                self.join(~one)
        return Propagated(self.levels, self.branches, self.causes, self.escapes)

    def begin(self) -> None:
        uses = self.uses
        for block in self.cfg.order:
            found = self.cfg.blocks[block]
            for number in found.steps:
                plan = self.plans[number]
                for value in plan.inputs:
                    uses[value].append(number)
            if found.splits:
                self.branches[block] = Level.GRID
                for value in self.deciding(found.end - 1):
                    uses[value].append(found.end - 1)
            for join in self.values.joins_of[block]:
                for value in join.inputs:
                    uses[value].append(~join.value)
        for value, register in enumerate(self.values.steps.registers):
            given = "is given by the caller" if register.is_parameter else "is not written before"
            self.levels[value] = Level.UNKNOWN
            self.causes[value] = Cause(text=f"`{register.name}` {given}")

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
                    self.set(value, level, cause)
            if plan.second != NONE and plan.second_floor > self.levels[plan.second]:
                text = "differs from lane to lane"
                self.set(plan.second, plan.second_floor, Cause(text=text))
        if block in self.branches and number == self.cfg.blocks[block].end - 1:
            level = max(self.worst(self.deciding(number), block)[0], plan.flow)
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

    def set(self, value: int, level: int, cause: Cause) -> None:
        self.levels[value] = level
        self.causes[value] = cause
        for use in self.uses[value]:
            if use < 0 or self.past[use]:
                self.waiting.append(use)

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
        outside = [use for use in self.uses[value] if self.block_of_use(use) not in blocks]
        if outside:
            earlier = self.escapes.get(value, ())
            self.escapes[value] = (*earlier, (blocks, level, branch))
            self.waiting.extend(use for use in outside if use < 0 or self.past[use])

    def block_of_use(self, use: int) -> int:
        return self.cfg.block_of[use] if use >= 0 else self.values.joins[~use].block
