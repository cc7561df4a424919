"""Which threads have left the kernel, and what control flow is left to those that stay.

1. A *leaving* block is one from which every path reaches the end of the kernel, and that does nothing on the
   way: it has only `ret`, `exit`, `trap`, jumps, and instructions that write registers and do nothing else.
   The `ret` of a function that is not a kernel leads back to the caller: it does not leave.
2. A *private* path begins where a branch leads to a block that no other block leads to, and never meets
   another path before the end of the kernel: some threads store their results, and leave. It is not private
   where all threads come to it sooner or later, as they do behind a loop, nor where threads wait for others
   on it, at a barrier or at an `.aligned` instruction.
3. An edge of a branch to a leaving block, or to a private path, is an *early exit*: a barrier waits for
   the threads that have not exited, so threads that take it are not missed.
4. The *staying graph* is the control flow graph without early exits and without leaving blocks. In it,
   threads of a branch reconverge where all those that stay do.
5. Code after the label of an exit that does something (`end: st.global ...; ret`) is not an early exit where
   other paths lead to it: threads reconverge there.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from functools import cached_property

from analyses.cfg import Cfg, Edges, Graph, cfg, order
from analyses.dominance import Dominance, dominance_of
from analyses.effects import is_pure
from analyses.spelling import steps_spelt
from analyses.steps import Step, steps
from ptx_lsp.facts import fact
from ptx_lsp.model.function import Function

_ENDS = frozenset({"exit", "trap"})
_LEAVING = frozenset({"exit", "trap", "ret", "bra"})


@dataclass(frozen=True)
class EarlyExits:
    """The leaving blocks of a function, and its staying graph."""

    is_kernel: bool
    cfg: Cfg
    steps: tuple[Step, ...]
    waiting: frozenset[int]
    """The blocks that have a barrier of the block of threads or the cluster, or an `.aligned` instruction."""

    def only_leaves(self, block: int, first: int) -> bool:
        """Whether threads do nothing from step `first` of a block on but leave the kernel."""
        return self._only_leaves(block, first, self.leaving)

    @cached_property
    def leaving(self) -> frozenset[int]:
        """The leaving blocks (1), and in a kernel the exit of the graph."""
        found = {self.cfg.exit} if self.is_kernel else set[int]()
        pending = [*self.cfg.order]
        while pending:
            block = pending.pop()
            if block in found or block == self.cfg.exit:
                continue
            if self._only_leaves(block, self.cfg.blocks[block].first, found):
                found.add(block)
                pending.extend(self.cfg.blocks[block].predecessors)
        return frozenset(found)

    @cached_property
    def staying(self) -> Dominance:
        """The staying graph with its dominators and post-dominators."""
        found = self._not_leaving
        edges = found.graph.successors
        private = {
            (block, target)
            for block in found.graph.order
            if len(edges[block]) > 1
            for target in edges[block]
            if target in self._closed and self._is_apart(block, target)
        }
        if not private:
            return found
        return dominance_of(self._graph(tuple([
            tuple([target for target in targets if (block, target) not in private])
            for block, targets in enumerate(edges)
        ])))

    @cached_property
    def _not_leaving(self) -> Dominance:
        """The graph without leaving blocks."""
        return dominance_of(self._graph(tuple([
            tuple([target for target in self._onward(block) if target not in self.leaving])
            for block in range(len(self.cfg.blocks))
        ])))

    def _graph(self, successors: Edges) -> Graph:
        predecessors: list[list[int]] = [[] for _ in successors]
        for block in order(successors, 0):
            for target in successors[block]:
                predecessors[target].append(block)
        return Graph(successors, tuple(map(tuple, predecessors)), self.cfg.graph.is_unknown)

    def _is_apart(self, source: int, block: int) -> bool:
        """Whether `source` alone leads to `block`, and not all of its threads sooner or later."""
        known = self._not_leaving
        is_back = known.dominates(block, source)
        is_only = known.graph.predecessors[block] == (source,)
        return is_only and not is_back and not known.postdominates(block, source)

    @cached_property
    def _closed(self) -> frozenset[int]:
        """The blocks from which control leaves the kernel without meeting another path, or waiting."""
        known = self._not_leaving
        if not self.is_kernel or known.is_intricate:
            return frozenset()
        waits = set(self.waiting)
        found: set[int] = set()
        for block in sorted(known.graph.order, key=known.depths.__getitem__, reverse=True):
            if block in waits:
                waits.add(known.immediate[block])
            elif known.frontiers[block] <= {block}:
                found.add(block)
        return frozenset(found)

    def _onward(self, block: int) -> tuple[int, ...]:
        """The successors, but not the exit that an `exit` or `trap` leads to."""
        found = self.cfg.blocks[block]
        if block == self.cfg.exit or found.first == found.end:
            return found.successors
        if self.steps[found.end - 1].opcode in _ENDS:
            return tuple([one for one in found.successors if one != self.cfg.exit])
        return found.successors

    def _only_leaves(self, block: int, first: int, leaving: Set[int]) -> bool:
        found = self.cfg.blocks[block]
        if not all(_does_nothing(self.steps[number]) for number in range(first, found.end)):
            return False
        return all(target in leaving for target in self._onward(block))


def _does_nothing(step: Step) -> bool:
    return step.opcode in _LEAVING or is_pure(step)


def _waits(spelling: str) -> bool:
    opcode, *modifiers = spelling.split(".")
    if opcode == "bar":
        return modifiers[:1] != ["warp"]
    return opcode == "barrier" or "aligned" in modifiers


_waiting = steps_spelt(_waits)


@fact
def early_exits(function: Function) -> EarlyExits:
    """Which blocks of `function` threads only leave through."""
    graph = cfg(function)
    waiting = frozenset([graph.block_of[step.number] for step in _waiting(function)])
    return EarlyExits(function.is_kernel, graph, steps(function).steps, waiting)
