"""Sync dependence: which joins and cycles a divergent branch affects.

1. Threads that leave a divergent branch in different directions meet at its reconvergence point (`Dominance`)
   and wait for each other there. No thread waits for threads that exit. If all others go through an earlier
   block, they reconverge there.
2. A block where two paths from the branch meet that share no earlier block is a *join*: a phi there depends
   on the path that a thread took.
3. When some threads leave a loop and others stay, values defined in the loop belong to different iterations
   for users outside it (*temporal divergence*). The loop is a *cycle with a divergent exit*. If threads leave
   an outer loop directly, and only threads of one direction can reach the blocks between the two loops, only
   the outer loop has a divergent exit.
4. When some threads start another iteration before they meet the others inside the loop, the blocks on their
   paths are *assumed divergent*: threads execute them out of step, and every definition in them may differ.
5. An irreducible cycle (a strongly connected region with several entries) is assumed divergent if the branch
   is in it or its entries are joins.
6. Threads that exit early do not continue. Joins, divergent exits and assumed-divergent blocks are therefore
   taken from the pruned graph (`early_exits.py`). The whole graph is used only for blocks that are not in the
   pruned graph: threads that leave a loop there to exit are the only ones that see values of different
   iterations.
7. If the divergent regions of all branches together exceed `most_visited`, or the graph is too complex
   (`dominance.py`), nothing is known about any block. In compiler-generated kernels, the regions have at most
   12 edges per block, and 3 000 in all.

A path is labelled by the first block after which it shares nothing with the others, as in Karrenberg and
Hack, "Improving Performance of OpenCL on CPUs" (2012), and LLVM's `SyncDependenceAnalysis`.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

from ptx_lsp.analyses._flow import region_edges
from ptx_lsp.analyses.control_flow.cfg import Graph
from ptx_lsp.analyses.control_flow.dominance import Dominance, Loop, dominance, visit_limit
from ptx_lsp.analyses.control_flow.early_exits import early_exits
from ptx_lsp.facts import Previous, incremental_fact
from ptx_lsp.model.function import Function
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final


class ExitCycle(NamedTuple):
    """A cycle with a divergent exit. Threads that read its values outside `together` may read them from
    different iterations.
    """

    blocks: frozenset[int]
    together: frozenset[int]


class ControlDivergence(NamedTuple):
    """The effects of a divergent branch, as sets of blocks (LLVM's `ControlDivergenceDesc`)."""

    joins: frozenset[int]
    divergent_exit_cycles: tuple[ExitCycle, ...]
    assumed_divergent: tuple[frozenset[int], ...]


_NO_DIVERGENCE: Final = ControlDivergence(frozenset(), (), ())


class SyncDependence:
    """The control divergence of each block with several successors, computed on demand."""

    def __init__(
        self,
        graph: Graph,
        dominance: Dominance,
        whole_graph: SyncDependence | None = None,
    ) -> None:
        self.graph: Final = graph
        self.dominance: Final = dominance
        self.whole_graph: Final = whole_graph
        """The sync dependence of the whole graph (6), for a pruned graph."""
        self.cache: Final[dict[tuple[int, bool], ControlDivergence]] = {}

    @cached_property
    def is_too_complex(self) -> bool:
        """Whether the divergent regions together exceed the limit (7)."""
        if self.dominance.is_too_complex or (
            self.whole_graph is not None and self.whole_graph.is_too_complex
        ):
            return True
        edges = self.graph.successors
        left = visit_limit(len(edges))
        branching = [block for block in self.graph.reverse_postorder if len(edges[block]) > 1]
        if len(branching) * sum([len(targets) for targets in edges]) <= left:
            return False  # even if each region is the whole graph
        ends = [self.dominance.reconvergence(block) for block in branching]
        return region_edges(edges, branching, ends, left) > left

    def control_divergence(self, block: int, *, is_pruned: bool = False) -> ControlDivergence:
        """The effects of a divergent branch at the end of `block`; if `is_pruned`, without those on blocks
        that are `only_in_whole_graph`, unless `block` is.
        """
        found = self.cache.get((block, is_pruned))
        if found is None:
            found = self.cache[block, is_pruned] = self._with_early_exits(block, is_pruned)
        return found

    def exits_in_cycles(self, block: int) -> bool:
        """Whether early exits may add more than joins to the effects of a divergent branch at the end of
        `block`: it is in a cycle of the whole graph, or some cycle is irreducible.
        """
        whole = self.whole_graph
        return whole is not None and bool(whole.loops_of[block] or whole.irreducible_cycles)

    def _with_early_exits(self, block: int, is_pruned: bool) -> ControlDivergence:
        if self.whole_graph is None:
            return self._control_divergence(block)
        if block not in self.graph.reached:
            return self.whole_graph.control_divergence(block)
        found = self._control_divergence(block)
        exiting = self.only_in_whole_graph
        if is_pruned or (not exiting and not self.whole_graph.loops_of[block]):
            return found
        with_exits = self.whole_graph.control_divergence(block)
        if (
            not with_exits.divergent_exit_cycles
            and not with_exits.assumed_divergent
            and exiting.isdisjoint(with_exits.joins)
        ):
            return found
        exit_cycles = [
            ExitCycle(blocks, together | self.graph.reached)
            for blocks, together in with_exits.divergent_exit_cycles
        ]
        assumed_divergent = [
            blocks & exiting for blocks in with_exits.assumed_divergent if not exiting.isdisjoint(blocks)
        ]
        return ControlDivergence(
            found.joins | (with_exits.joins & exiting),
            (*found.divergent_exit_cycles, *exit_cycles),
            (*found.assumed_divergent, *assumed_divergent),
        )

    def _control_divergence(self, block: int) -> ControlDivergence:
        loops, is_reducible = self.loops_of[block], not self.irreducible_cycles
        end, walks = self.dominance.reconvergence(block), self.graph.walks
        if not loops and is_reducible:
            joins = walks.joins(block, end)
            return ControlDivergence(joins, (), ()) if joins else _NO_DIVERGENCE
        joins, region, reconvergence = walks.divergent_region(block, end, is_reducible)
        assumed_divergent = [
            cycle for cycle in self.irreducible_cycles if block in cycle or not cycle.isdisjoint(joins)
        ]
        left = [
            loop.blocks for loop in loops if reconvergence not in loop.blocks or not region <= loop.blocks
        ]
        exit_cycles = self._divergent_exit_cycles(block, left, region, reconvergence)
        for loop in loops:
            if reconvergence not in loop.blocks or reconvergence == loop.header:
                continue
            if loop.header in region or (loop.header == block and self._is_reentered(block, region)):
                assumed_divergent.append(region | {block})
        return ControlDivergence(
            joins, tuple([ExitCycle(blocks, blocks) for blocks in exit_cycles]), tuple(assumed_divergent)
        )

    def _divergent_exit_cycles(
        self,
        block: int,
        left: list[frozenset[int]],
        region: frozenset[int],
        reconvergence: int,
    ) -> tuple[frozenset[int], ...]:
        """The cycles with a divergent exit among the loops that threads leave (3)."""
        if len(left) < 2 or self.irreducible_cycles:
            return tuple(left)
        region_blocks = (region | {block}) - {reconvergence}
        nested = sorted(left, key=len)
        targets = [target for target in self.graph.successors[block] if target in region_blocks]
        reached = [self._reachable_within(target, region_blocks) for target in targets]
        found = [nested[-1]]
        for inner, outer in pairwise(nested):
            between = outer - inner
            coming = sum(not between.isdisjoint(one) for one in reached)
            if coming > 1 or reconvergence in outer:
                found.append(inner)
        return tuple(found)

    def _reachable_within(self, start: int, within: frozenset[int]) -> set[int]:
        """The blocks reachable from `start` without leaving `within`."""
        found = {start}
        worklist = [start]
        while worklist:
            for target in self.graph.successors[worklist.pop()]:
                if target in within and target not in found:
                    found.add(target)
                    worklist.append(target)
        return found

    def _is_reentered(self, block: int, region: frozenset[int]) -> bool:
        """Whether a path leads back to `block` before the reconvergence point."""
        sources = self.graph.predecessors[block]
        return any(source in region or source == block for source in sources)

    @cached_property
    def only_in_whole_graph(self) -> frozenset[int]:
        """The reachable blocks that are not in the pruned graph."""
        whole = self.whole_graph
        return frozenset() if whole is None else whole.graph.reached - self.graph.reached

    @cached_property
    def postorder_index(self) -> tuple[int, ...]:
        """The reverse-postorder index of each block."""
        found = [0] * len(self.graph.successors)
        for index, block in enumerate(self.graph.reverse_postorder):
            found[block] = index
        return tuple(found)

    @cached_property
    def loops_of(self) -> tuple[tuple[Loop, ...], ...]:
        """For each block, the loops that contain it."""
        found: list[list[Loop]] = [[] for _ in self.graph.successors]
        for loop in self.dominance.loops:
            for block in loop.blocks:
                found[block].append(loop)
        return tuple(map(tuple, found))

    @cached_property
    def irreducible_cycles(self) -> tuple[frozenset[int], ...]:
        """The irreducible cycles: strongly connected regions with a back edge to a block that does not
        dominate its source.
        """
        if not self.dominance.is_irreducible:
            return ()
        found: list[frozenset[int]] = []
        for block in self.graph.reverse_postorder:
            for target in self.graph.successors[block]:
                if self.postorder_index[target] > self.postorder_index[block]:
                    continue
                if self.dominance.dominates(target, block) or any(target in cycle for cycle in found):
                    continue
                found.append(self._strongly_connected(target))
        return tuple(found)

    def _strongly_connected(self, block: int) -> frozenset[int]:
        """The strongly connected component of `block`."""
        ahead, behind = {block}, {block}
        for seen, edges in ((ahead, self.graph.successors), (behind, self.graph.predecessors)):
            worklist = [block]
            while worklist:
                for other in edges[worklist.pop()]:
                    if other not in seen and other in self.graph.reached:
                        seen.add(other)
                        worklist.append(other)
        return frozenset(ahead & behind)


@incremental_fact
def sync_dependence(function: Function, earlier: Previous[SyncDependence] | None) -> SyncDependence:
    """The sync dependence of `function`."""
    found, staying = dominance(function), early_exits(function).pruned
    whole_graph = earlier.value.whole_graph or earlier.value if earlier is not None else None
    if whole_graph is None or whole_graph.dominance is not found:
        whole_graph = SyncDependence(found.graph, found)
    if staying is found:
        return whole_graph
    if (
        earlier is not None
        and earlier.value.whole_graph is whole_graph
        and earlier.value.dominance is staying
    ):
        return earlier.value
    return SyncDependence(staying.graph, staying, whole_graph)
