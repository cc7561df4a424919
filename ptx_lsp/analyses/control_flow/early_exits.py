"""Early exits: where threads leave the kernel, and the control flow of the threads that continue.

1. Every path from an *exiting* block reaches the end of the kernel without a side effect: it has only `ret`,
   `exit`, `trap`, branches, and instructions that only write registers. The `ret` of a function that is not a
   kernel leads back to the caller and is not an exit.
2. A *private* path begins where a branch leads to a block without another predecessor, and never meets
   another path before the end of the kernel: some threads store their results and exit. It is not private if
   all threads reach it eventually, as after a loop. Nor is it private if threads wait for others on it, at a
   barrier or at an `.aligned` instruction.
3. An edge of a branch to an exiting block, or to a private path, is an *early exit*. A barrier waits only for
   threads that have not exited, so it does not wait for threads that take an early exit.
4. The *pruned graph* is the control flow graph without early exits and without exiting blocks. In it, the
   threads of a branch reconverge where all continuing threads do.
5. Code with a side effect after the label of an exit (`end: st.global ...; ret`) is not an early exit if
   other paths lead to it: threads reconverge there.
"""

from __future__ import annotations

from collections.abc import Set

from ptx_lsp.analyses.control_flow.cfg import Cfg, Graph, cfg
from ptx_lsp.analyses.control_flow.dominance import Dominance, dominance, dominance_of
from ptx_lsp.analyses.instructions.opcode_index import instructions_matching
from ptx_lsp.analyses.instructions.uses_and_defs import FunctionInstructions, instructions
from ptx_lsp.facts import Previous, incremental_fact
from ptx_lsp.model.function import Function

_ENDS = frozenset({"exit", "trap"})
_EXIT_OPCODES = frozenset({"exit", "trap", "ret", "bra"})


class EarlyExits:
    """The early exits of a function."""

    __slots__ = ("_pruned", "dominance", "exiting", "is_kernel", "synchronizing", "terminating")

    def __init__(
        self,
        dominance: Dominance,
        exiting: frozenset[int],
        terminating: frozenset[int],
        synchronizing: frozenset[int],
        is_kernel: bool,
    ) -> None:
        self.dominance = dominance
        """The dominators of the whole control flow graph."""
        self.exiting = exiting
        """The exiting blocks, and in a kernel the exit of the graph."""
        self.terminating = terminating
        """The blocks that end with `exit` or `trap`, which leave the kernel in any function."""
        self.synchronizing = synchronizing
        """The blocks with a block-wide or cluster-wide barrier, or an `.aligned` instruction."""
        self.is_kernel = is_kernel
        self._pruned: Dominance | None = None

    def is_same_as(self, other: EarlyExits) -> bool:
        """Whether both are the early exits of one graph."""
        return (
            self.dominance is other.dominance
            and self.exiting == other.exiting
            and self.terminating == other.terminating
            and self.synchronizing == other.synchronizing
            and self.is_kernel == other.is_kernel
        )

    @property
    def pruned(self) -> Dominance:
        """The pruned graph with its dominators; the whole graph if no early exit exists."""
        if self._pruned is None:
            is_branching = self.dominance.graph.is_branching
            self._pruned = self._without_private_paths() if is_branching else self.dominance
        return self._pruned

    def _without_private_paths(self) -> Dominance:
        known = self._without_exiting()
        edges = known.graph.successors
        regions = self._exit_regions(known)
        private = {
            (block, target)
            for block in known.graph.reverse_postorder
            if len(edges[block]) > 1
            for target in edges[block]
            if target in regions and self._is_private(known, block, target)
        }
        return self._without(known, private)

    def _without_exiting(self) -> Dominance:
        """The graph without early exits to exiting blocks."""
        graph = self.dominance.graph
        exits = {(above, block) for block in self.exiting for above in graph.predecessors[block]}
        exits.update((block, graph.exit) for block in self.terminating)
        if not any(len(graph.successors[block]) > 1 for block, _ in exits):
            return self.dominance
        return self._without(self.dominance, exits)

    def _without(self, known: Dominance, exits: set[tuple[int, int]]) -> Dominance:
        if not exits:
            return known
        edges, into = list(known.graph.successors), list(known.graph.predecessors)
        for block, target in exits:
            edges[block] = tuple([one for one in edges[block] if one != target])
            into[target] = tuple([one for one in into[target] if one != block])
        unknown, is_complete = known.graph.has_unknown_successors, known.graph.is_complete
        return dominance_of(Graph(tuple(edges), tuple(into), unknown, is_complete))

    def _is_private(self, known: Dominance, source: int, block: int) -> bool:
        """Whether `source` is the only predecessor of `block`, and some of its threads never reach it."""
        reached = [one for one in known.graph.predecessors[block] if one in known.graph.reached]
        is_back = known.dominates(block, source)
        return reached == [source] and not is_back and not self.dominance.postdominates(block, source)

    def _exit_regions(self, known: Dominance) -> frozenset[int]:
        """The blocks from which control leaves the kernel without meeting another path, or waiting."""
        if not self.is_kernel or known.is_too_complex:
            return frozenset()
        waits = set(self.synchronizing)
        found: set[int] = set()
        for block in sorted(known.graph.reverse_postorder, key=known.depths.__getitem__, reverse=True):
            if block in waits:
                waits.add(known.immediate_dominators[block])
            elif known.frontiers[block] - {block} <= self.exiting:
                found.add(block)
        return frozenset(found)


def _successors(graph: Cfg, flow: FunctionInstructions, block: int) -> tuple[int, ...]:
    """The successors, except the exit that an `exit` or `trap` leads to."""
    found = graph.blocks[block]
    if block == graph.exit or found.first == found.end or flow.kinds[found.end - 1].opcode not in _ENDS:
        return found.successors
    return tuple([one for one in found.successors if one != graph.exit])


def is_exit_path(graph: Cfg, flow: FunctionInstructions, block: int, first: int, leaving: Set[int]) -> bool:
    """Whether, from instruction `first` of a block on, control reaches only blocks of `exiting`, without a
    side effect.
    """
    for target in _successors(graph, flow, block):
        if target not in leaving:
            return False
    for number in range(first, graph.blocks[block].end):
        kind = flow.kinds[number]
        if kind.opcode not in _EXIT_OPCODES and not (kind.is_pure and flow.defs[number]):
            return False
    return True


def _exiting(function: Function) -> frozenset[int]:
    """The exiting blocks (1), and in a kernel the exit of the graph."""
    graph, flow = cfg(function), instructions(function)
    found = {graph.exit} if function.is_kernel else set[int]()
    worklist = [*graph.blocks[graph.exit].predecessors]
    while worklist:
        block = worklist.pop()
        if block not in found and is_exit_path(graph, flow, block, graph.blocks[block].first, found):
            found.add(block)
            worklist.extend(graph.blocks[block].predecessors)
    return frozenset(found & graph.reached | {graph.exit} & found)


def _is_synchronizing(spelling: str) -> bool:
    opcode, *modifiers = spelling.split(".")
    if opcode == "bar":
        return modifiers[:1] != ["warp"]
    return opcode == "barrier" or "aligned" in modifiers


_synchronizing = instructions_matching(_is_synchronizing)


@incremental_fact
def early_exits(function: Function, earlier: Previous[EarlyExits] | None) -> EarlyExits:
    """The early exits of `function`."""
    graph, kinds = cfg(function), instructions(function).kinds
    ends = [block for block in graph.blocks[graph.exit].predecessors if graph.blocks[block].instructions]
    found = EarlyExits(
        dominance(function),
        _exiting(function),
        frozenset([one for one in ends if kinds[graph.blocks[one].end - 1].opcode in _ENDS]),
        frozenset([graph.block_of[step.number] for step in _synchronizing(function)]),
        function.is_kernel,
    )
    return earlier.value if earlier and earlier.value.is_same_as(found) else found
