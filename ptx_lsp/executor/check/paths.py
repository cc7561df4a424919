"""Whether threads that exit without a barrier have missed it.

1. A block of a kernel is *past* a barrier where threads come to it from the barrier, not to the barrier from
   it, and something is done in it or after it. Threads that do so without the barrier have missed it.
2. Threads that exit without having been past a barrier have left: it does not wait for them. So it is with
   `@%p bra end`, where `end` has nothing but `ret`, and where threads first store something of their own.
"""

from __future__ import annotations

from collections.abc import Iterable

from ptx_lsp.executor.compute import Compute
from ptx_lsp.executor.control import Block, Jump, Leave, Nothing, Step, successors
from ptx_lsp.executor.routines import Enter, Return


class Paths:
    """The control flow of a kernel, with that of the routines that it calls."""

    def __init__(self, blocks: tuple[Block, ...]) -> None:
        self._block_of = {id(step): n for n, block in enumerate(blocks) for step in block.steps}
        self._onward = _edges(blocks)
        self._back = _reversed(self._onward)
        self._leaving = _leaving(blocks, self._onward, self._back)
        self._past: dict[int, frozenset[int]] = {}

    def is_past(self, barrier: Step, step: Step) -> bool:
        """Whether threads that execute `step` are past `barrier`."""
        block = self._block_of[id(barrier)]
        found = self._past.get(block)
        if found is None:
            after = _reached(self._onward, self._onward[block])
            before = _reached(self._back, (block,))
            found = self._past[block] = frozenset(after - before - self._leaving)
        return self._block_of[id(step)] in found


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


def _reached(edges: list[list[int]], starts: Iterable[int]) -> set[int]:
    found: set[int] = set()
    pending = list(starts)
    while pending:
        number = pending.pop()
        if number not in found:
            found.add(number)
            pending.extend(edges[number])
    return found
