"""Where the lanes of a warp that have diverged meet again.

1. The reconvergence point of two groups is the first block that the paths of both certainly lead to: their
   nearest common post-dominator. Blocks at which functions go on after a call count as ahead of the call.
2. Groups are scheduled by the ranks of their blocks (`decoding/flow.py`). A block of a lower rank than those
   where they stand does not count: the first group there goes on, as at the head of a loop.
3. Groups that exit in different places have none.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from ptx_lsp.analyses._flow import immediate_postdominators, reverse_postorder
from ptx_lsp.debug.groups import Frame, Group, frames, frames_of, returns
from ptx_lsp.executor.decoding.call_stack import routines_of
from ptx_lsp.executor.machine.control import Block, successors
from ptx_lsp.executor.scheduling.stepping import is_breakpoint


class Reconvergence(NamedTuple):
    """A point where a group meets others: `frame` is the function and the line, `level` the number of the
    group's call (0: the innermost) in which it lies, `lanes` are those of the others.
    """

    frame: Frame
    level: int
    lanes: tuple[int, ...]


class ReconvergencePoints:
    """The reconvergence points of groups at a stop."""

    def __init__(self, blocks: tuple[Block, ...]) -> None:
        self._blocks = blocks
        self._ahead_of: dict[int, dict[int, int]] = {}

    def of(self, group: Group, others: Iterable[Group]) -> list[Reconvergence]:
        """Where a group meets others of its warp, the nearest point first."""
        ahead = self._ahead(group)
        met: dict[int, list[int]] = {}
        for other in others:
            theirs = self._ahead(other)
            least = max(self._rank(group), self._rank(other))
            block = next((one for one in ahead if one in theirs and self._blocks[one].rank >= least), None)
            if block is not None:
                met.setdefault(block, []).extend(other.lanes)
        calls, count = returns(group), len(frames(group, self._blocks))
        found: list[Reconvergence] = []
        for block, depth in ahead.items():
            if block in met:
                there = frames_of(self._blocks[block].steps[0], calls[depth:], self._blocks)
                level = max(0, count - len(there))
                found.append(Reconvergence(there[0], level, tuple(sorted(met[block]))))
        return found

    def _ahead(self, group: Group) -> dict[int, int]:
        """The blocks at whose beginning a group stands or certainly comes to, in order, each with how many
        functions it leaves before.
        """
        if group.number in self._ahead_of:
            return self._ahead_of[group.number]
        found = self._ahead_of[group.number] = dict[int, int]()
        calls = returns(group)
        block = self._block_of[id(group.step)]
        if self._blocks[block].steps[0] is not group.step:
            block = self._next[block]
        for depth in range(len(calls) + 1):
            while 0 <= block < len(self._blocks) and block not in found:
                if self._blocks[block].steps:
                    found[block] = depth
                block = self._next[block]
            block = calls[depth] if depth < len(calls) else -1
        return found

    def _rank(self, group: Group) -> int:
        return self._blocks[self._block_of[id(group.step)]].rank

    @cached_property
    def _block_of(self) -> dict[int, int]:
        """The block of each step (its id)."""
        return {id(step): number for number, block in enumerate(self._blocks) for step in block.steps}

    @cached_property
    def _next(self) -> tuple[int, ...]:
        """The immediate post-dominator of each block; no block where there is none."""
        count = len(self._blocks)
        start, end = count, count + 1
        following = [
            tuple(end if one >= count else one for one in _following(block, number)) or (end,)
            for number, block in enumerate(self._blocks)
        ]
        entries = {0, *(routine.entry for routine in routines_of(self._blocks))}
        graph = (*following, tuple(sorted(entries)), ())
        leading: list[list[int]] = [[] for _ in graph]
        for number, targets in enumerate(graph):
            for target in targets:
                leading[target].append(number)
        return immediate_postdominators(graph, tuple(map(tuple, leading)), reverse_postorder(graph, start))


def _following(block: Block, number: int) -> list[int]:
    """The blocks after a block."""
    if not block.steps or is_breakpoint(block.steps[-1]):  # where the debugger goes on
        return [number + 1]
    return successors(block.steps, number + 1)
