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
from dataclasses import dataclass, replace
from functools import cached_property

from analyses.cfg import Cfg, cfg, order
from analyses.dominance import Dominance, dominance, dominance_of
from analyses.effects import is_pure
from analyses.spelling import steps_spelt
from analyses.steps import Step, steps
from ptx_lsp.facts import Earlier, lasting_fact
from ptx_lsp.model.function import Function

_ENDS = frozenset({"exit", "trap"})
_LEAVING = frozenset({"exit", "trap", "ret", "bra"})


@dataclass(frozen=True)
class EarlyExits:
    """Where threads leave a function early."""

    dominance: Dominance
    """The whole control flow graph."""
    leaving: frozenset[int]
    """The leaving blocks, and in a kernel the exit of the graph."""
    quitting: frozenset[int]
    """The blocks that end with `exit` or `trap`: in any function, these leave the kernel."""
    waiting: frozenset[int]
    """The blocks that have a barrier of the block of threads or the cluster, or an `.aligned` instruction."""
    is_kernel: bool

    @cached_property
    def staying(self) -> Dominance:
        """The staying graph with its dominators; the whole one where there are no early exits."""
        edges = self._not_leaving.graph.successors
        private = {
            (block, target)
            for block in self._not_leaving.graph.order
            if len(edges[block]) > 1
            for target in edges[block]
            if target in self._closed and self._is_apart(block, target)
        }
        return self._without(self._not_leaving, private)

    @cached_property
    def _not_leaving(self) -> Dominance:
        """The graph without early exits to leaving blocks."""
        graph = self.dominance.graph
        exits = {(above, block) for block in self.leaving for above in graph.predecessors[block]}
        exits.update((block, graph.exit) for block in self.quitting)
        if not any(len(graph.successors[block]) > 1 for block, _ in exits):
            return self.dominance
        return self._without(self.dominance, exits)

    def _without(self, known: Dominance, exits: set[tuple[int, int]]) -> Dominance:
        if not exits:
            return known
        edges = tuple([
            tuple([target for target in targets if (block, target) not in exits])
            for block, targets in enumerate(known.graph.successors)
        ])
        predecessors: list[list[int]] = [[] for _ in edges]
        for block in order(edges, 0):
            for target in edges[block]:
                predecessors[target].append(block)
        into = tuple(map(tuple, predecessors))
        return dominance_of(replace(known.graph, successors=edges, predecessors=into))

    def _is_apart(self, source: int, block: int) -> bool:
        """Whether `source` alone leads to `block`, and not all of its threads sooner or later."""
        known = self._not_leaving
        reached = [one for one in known.graph.predecessors[block] if one in known.graph.reached]
        is_back = known.dominates(block, source)
        return reached == [source] and not is_back and not self.dominance.postdominates(block, source)

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
            elif known.frontiers[block] - {block} <= self.leaving:
                found.add(block)
        return frozenset(found)


def _onward(graph: Cfg, flow: tuple[Step, ...], block: int) -> tuple[int, ...]:
    """The successors, but not the exit that an `exit` or `trap` leads to."""
    found = graph.blocks[block]
    if block == graph.exit or found.first == found.end or flow[found.end - 1].opcode not in _ENDS:
        return found.successors
    return tuple([one for one in found.successors if one != graph.exit])


def only_leaves(
    graph: Cfg, flow: tuple[Step, ...], block: int, first: int, leaving: Set[int]
) -> bool:
    """Whether from step `first` of a block on, nothing is done but go on to blocks of `leaving`."""
    if not all(target in leaving for target in _onward(graph, flow, block)):
        return False
    return all(_does_nothing(flow[number]) for number in range(first, graph.blocks[block].end))


def _does_nothing(step: Step) -> bool:
    return step.opcode in _LEAVING or is_pure(step)


def _leaving(function: Function) -> frozenset[int]:
    """The leaving blocks (1), and in a kernel the exit of the graph."""
    graph, flow = cfg(function), steps(function).steps
    found = {graph.exit} if function.is_kernel else set[int]()
    pending = [*graph.blocks[graph.exit].predecessors]
    while pending:
        block = pending.pop()
        if block not in found and only_leaves(graph, flow, block, graph.blocks[block].first, found):
            found.add(block)
            pending.extend(graph.blocks[block].predecessors)
    return frozenset(found & graph.reached | {graph.exit} & found)


def _waits(spelling: str) -> bool:
    opcode, *modifiers = spelling.split(".")
    if opcode == "bar":
        return modifiers[:1] != ["warp"]
    return opcode == "barrier" or "aligned" in modifiers


_waiting = steps_spelt(_waits)


@lasting_fact
def early_exits(function: Function, earlier: Earlier[EarlyExits] | None) -> EarlyExits:
    """Where threads leave `function` early."""
    graph, flow = cfg(function), steps(function).steps
    ends = [block for block in graph.blocks[graph.exit].predecessors if graph.blocks[block].steps]
    found = EarlyExits(
        dominance(function),
        _leaving(function),
        frozenset([one for one in ends if flow[graph.blocks[one].end - 1].opcode in _ENDS]),
        frozenset([graph.block_of[step.number] for step in _waiting(function)]),
        function.is_kernel,
    )
    is_same = earlier is not None and earlier.value.dominance is found.dominance
    return earlier.value if earlier and is_same and earlier.value == found else found
