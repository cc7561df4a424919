"""Whether threads have missed a step at which others of their warp wait.

1. A block is *past* a step if divergent threads reconverge there: it can be reached from the step without
   going through the nearest block that dominates both (the *decision*), while neither dominates the other; or
   all threads reach it after the step, and never reach the step again from it.
2. A block from which threads do nothing on any path but leave the kernel is past no step.
3. Threads that execute something past a step at which others wait have missed it. Threads that exit without
   that have left, and no thread waits for them. So it is with `@%p1 bra end`, where `end` has nothing but
   `ret`, and where some threads first store something of their own.
4. Threads that have come from the step themselves since their last decision do not count by the first half of
   1. Nor do those that came through a decision in a loop around the step before those who wait did: they are
   in an earlier round (`rounds.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from ptx_lsp.executor.decoding.call_stack import Enter, Return
from ptx_lsp.executor.decoding.flow import component_numbers, immediate_dominators
from ptx_lsp.executor.instructions.compute import Compute
from ptx_lsp.executor.instructions.warp import Warp
from ptx_lsp.executor.machine.control import Barrier, Block, Jump, Leave, Nothing, Step, successors


class Paths:
    """The control flow of a kernel, with that of the routines that it calls."""

    def __init__(self, blocks: tuple[Block, ...]) -> None:
        self._block_of = {id(step): n for n, block in enumerate(blocks) for step in block.steps}
        self._onward = _edges(blocks)
        self._back = _reversed(self._onward)
        self._leaving = _leaving(blocks, self._onward, self._back)
        self._known: dict[tuple[int, int], bool] = {}
        awaited = [
            (number, step) for number, block in enumerate(blocks) for step in block.steps
            if isinstance(step.action, Barrier | Warp)
        ]
        self.repeated = {
            id(step): number for number, step in awaited if self._repeats(number)
        }
        """The numbers of the blocks of steps in loops at which threads wait for others."""
        self.decisions = {id(blocks[number].steps[-1]): number for number in self._decisions()}
        """The numbers of the blocks that `decision` may name, by their last steps."""

    def is_past(self, awaited: Step, step: Step) -> bool:
        """Whether `step` is past the one that threads wait at."""
        pair = self._block_of[id(awaited)], self._block_of[id(step)]
        found = self._known.get(pair)
        if found is None:
            found = self._known[pair] = self._is_past(*pair)
        return found

    def is_after(self, awaited: Step, step: Step) -> bool:
        """Whether threads reach `step` only from the other one."""
        return self._block_of[id(awaited)] in self._above(self._block_of[id(step)])

    def decision(self, awaited: Step, step: Step) -> int | None:
        """The block that decides between a step and one past it, if it is in a loop around the step."""
        above = self._above(self._block_of[id(step)])
        awaiting = self._block_of[id(awaited)]
        nearest = next(block for block in self._above(awaiting) if block in above)
        return nearest if self._shares_loop(nearest, awaiting) else None

    def _decisions(self) -> set[int]:
        found: set[int] = set()
        for awaiting in self.repeated.values():
            number = self._dominators[awaiting]
            while number not in found and self._shares_loop(number, awaiting):
                found.add(number)
                number = self._dominators[number]
        return found

    def _repeats(self, block: int) -> bool:
        return any(self._component[block] == self._component[target] for target in self._onward[block])

    def _shares_loop(self, block: int, other: int) -> bool:
        return block != other and self._component[block] == self._component[other]

    def _is_past(self, barrier: int, block: int) -> bool:
        if block in self._leaving:
            return False
        of_barrier, of_block = self._above(barrier), self._above(block)
        if block in of_barrier:
            return False
        if barrier not in of_block:
            nearest = next(one for one in of_barrier if one in of_block)
            return block in self._from(barrier, nearest)
        if barrier in self._from(block, -1):
            return False
        return all(self._onward[one] for one in self._from(barrier, block))

    def _above(self, block: int) -> dict[int, None]:
        """The blocks that dominate a block, itself first and the nearest before others."""
        found = {block: None}
        while self._dominators[block] != block:
            block = self._dominators[block]
            found[block] = None
        return found

    def _from(self, block: int, without: int) -> set[int]:
        """What can be reached from a block without going through another one."""
        return _reached(self._onward, [one for one in self._onward[block] if one != without], without)

    @cached_property
    def _component(self) -> list[int]:
        return component_numbers(self._onward, 0)

    @cached_property
    def _dominators(self) -> list[int]:
        return immediate_dominators(self._onward, 0)


def _edges(blocks: tuple[Block, ...]) -> list[list[int]]:
    found = [successors(block.steps, number + 1) for number, block in enumerate(blocks)]
    returns: list[int] = []
    calls = [(n, block.steps[-1].action) for n, block in enumerate(blocks) if block.steps]
    for number, action in calls:
        if isinstance(action, Enter):
            returns.append(action.onward)
            found[number] += [routine.entry for routine in action.routines.values()]
    for number, action in calls:
        if isinstance(action, Return):
            found[number] += returns
    return [[target for target in targets if target < len(blocks)] for targets in found]


def _reversed(edges: list[list[int]]) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in edges]
    for number, targets in enumerate(edges):
        for target in targets:
            found[target].append(number)
    return found


def _leaving(blocks: tuple[Block, ...], onward: list[list[int]], back: list[list[int]]) -> set[int]:
    """The blocks from which threads do nothing on any path but leave the kernel."""
    found: set[int] = set()
    pending = list(range(len(blocks)))
    while pending:
        number = pending.pop()
        if number in found or not all(_does_nothing(step) for step in blocks[number].steps):
            continue
        if all(target in found for target in onward[number]):
            found.add(number)
            pending.extend(back[number])
    return found


def _does_nothing(step: Step) -> bool:
    return isinstance(step.action, Leave | Jump | Compute | Nothing)


def _reached(edges: list[list[int]], starts: Iterable[int], without: int) -> set[int]:
    found: set[int] = set()
    pending = list(starts)
    while pending:
        number = pending.pop()
        if number not in found and number != without:
            found.add(number)
            pending.extend(edges[number])
    return found
