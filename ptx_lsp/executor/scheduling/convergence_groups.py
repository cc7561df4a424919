"""Convergence groups: the lanes of a wave, grouped by the basic block at which they are."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.machine.compaction import CompactedWave
from ptx_lsp.executor.machine.control import Action, Block, Control, Leave, Step, Transfer
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.wave import Wave

_LEAST_LANES = 1 << 11
_SHARE = 2


@dataclass
class Budget:
    """The number of instructions that the waves of a launch may execute between the ends of two waves, and
    the deadline.
    """

    limit: int
    deadline: float = math.inf
    clock: Callable[[], float] = time.monotonic
    """The clock for the deadline, in seconds."""
    spent: int = 0
    """The instructions since a wave ended, but for those of the wave whose turn it is."""

    def check(self, wave: Wave, step: Step) -> None:
        if self.spent + wave.executed > self.limit:
            message = (
                f"instruction limit exceeded: no block has finished within {self.limit} "
                "instructions; raise `limit` if the kernel needs more"
            )
            raise ExecutionError(message, "limit", step.line)
        self.check_time(step.line)

    def check_time(self, line: int) -> None:
        if self.deadline < math.inf and self.clock() > self.deadline:
            raise ExecutionError("time limit exceeded", "limit", line)


class ConvergenceGroups:
    """The groups of a wave, by the number of their block (None: all threads)."""

    def __init__(
        self, blocks: tuple[Block, ...], wave: Wave, budget: Budget, executed: set[int]
    ) -> None:
        """`executed` is called with the executed blocks."""
        self.blocks = blocks
        self.executed = executed
        self.wave = wave
        self.budget = budget
        self.at: dict[int, Bools | None] = {}
        self.ended: Bools | None = None
        """The lanes that exit here."""

    def rank(self, block: int) -> int:
        return self.blocks[block].rank

    def run_below(self, bound: float, turns: int) -> int:
        """Executes about `turns` blocks of a rank below `bound`, the lowest first; how many it executed."""
        used = 0
        while self.at and used < turns:
            block = min(self.at, key=self.rank)
            if self.rank(block) >= bound or not self.blocks[block].lanewise:
                break
            used += self.run_group(block, bound, turns - used)
        return used

    def run_group(self, block: int, bound: float, turns: int) -> int:
        """Lets the group at a block continue; how many blocks it executed, at most about `turns`."""
        mask = self.at.pop(block)
        bound = min([bound, *map(self.rank, self.at)])
        if mask is None or turns < 2 or self.rank(block) >= bound or not self._is_small(block, mask):
            self.execute(block, mask)
            return 1
        part = CompactedWave(self.wave, mask)
        inner = ConvergenceGroups(self.blocks, part, self.budget, self.executed)
        inner.at[block] = None
        used = inner.run_below(bound, turns)
        part.write_back()
        for onward, lanes in inner.at.items():
            self.arrive(onward, part.expanded(lanes))
        if inner.ended is not None:
            self.end(part.expanded(inner.ended))
        return max(used, 1)

    def _is_small(self, block: int, mask: Bools) -> bool:
        if mask.size < _LEAST_LANES or not self.blocks[block].lanewise:
            return False
        return int(np.count_nonzero(mask)) * _SHARE <= mask.size

    def execute(self, number: int, mask: Bools | None, start: int = 0) -> None:
        """Executes the steps of a block from `start` on, for the lanes of `mask`."""
        steps = self.blocks[number].steps
        self.executed.add(number)
        for step in steps[start:] if start else steps:
            here, some = step.taken(self.wave, mask)
            stay = self.tell(step, mask, here, some)
            if stay is not None:
                self.freeze(number, next(at for at, one in enumerate(steps) if one is step), stay)
                mask, some = self._without(mask, stay)
                if not some:
                    break
                here, some = step.taken(self.wave, mask)
            if not some:
                continue
            self.wave.executed += 1
            self.act(step, number + 1, here)
            if isinstance(step.action, Control):
                mask, some = self._without(mask, here)
                if not some:
                    break
        else:
            self.arrive(number + 1, mask)
        if steps:
            self.budget.check(self.wave, steps[0])

    def tell(self, step: Step, arrived: Bools | None, active: Bools | None, some: bool) -> Bools | None:
        """Reports the lanes that reach a step, and the lanes that execute it. Returns the lanes that stay
        where they are; None if none does.
        """

    def freeze(self, block: int, step: int, lanes: Bools) -> None:
        """Lanes stay before a step."""

    def act(self, step: Step, onward: int, mask: Bools | None) -> None:
        """Executes a step; `onward` is the next block."""
        try:
            match step.action:
                case Transfer() as transfer:
                    for target, lanes in transfer.go(self.wave, mask):
                        self.arrive(target, lanes)
                case Leave(kind="ret" | "exit"):
                    self.end(mask)
                case Leave(kind=kind):
                    lanes = self.wave.thread_ids(self.wave.full_mask(mask))
                    raise ExecutionError(f"the kernel executed `{kind}`", "trap", step.line, lanes)
                case action:
                    self.do(step, action, onward, mask)
        except ExecutionError as error:
            if error.line:
                raise
            text = f"{error.args[0]} in `{step.text}`"
            raise ExecutionError(text, error.kind, step.line, error.lanes) from None

    def do(self, step: Step, action: Action | Control, onward: int, mask: Bools | None) -> None:
        assert not isinstance(action, Control)
        action.run(self.wave, mask)

    def end(self, mask: Bools | None) -> None:
        full = self.wave.full_mask(mask)
        self.ended = full if self.ended is None else self.ended | full

    def arrive(self, block: int, mask: Bools | None) -> None:
        """Adds lanes to the group at a block."""
        if block in self.at:
            there = self.at.pop(block)
            if mask is not None and there is not None:
                mask = self.wave.normal(mask | there)
        self.at[block] = mask

    def _without(self, mask: Bools | None, released: Bools | None) -> tuple[Bools | None, bool]:
        """What is left of a mask, and whether anything is."""
        if released is mask:
            return mask, False
        left = self.wave.full_mask(mask) & ~self.wave.full_mask(released)
        return left, bool(left.any())
