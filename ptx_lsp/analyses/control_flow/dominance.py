"""Dominators and post-dominators of the blocks of a function, its loops and its reconvergence points.

1. Block *a* dominates *b* when every path from the entry to *b* goes through *a*; each dominates itself. The
   immediate dominator is the nearest other one.
2. Post-dominators are the dominators of the reversed graph, from `exit`. Blocks from which no path leads out
   (an endless loop) are joined to `exit` for this, each as if it could leave.
3. The reconvergence point of a branch is its immediate post-dominator: threads that took different paths meet
   there.
4. An edge to a block that dominates its source is a back edge. Its target is the header of a natural loop,
   whose blocks are all blocks that reach the source without going through the header.
5. A graph is irreducible if a cycle can be entered at a block that does not dominate it.
6. A graph is *too complex* if computing these regions would take more than `visit_limit` block visits. Only
   the dominators are known then, and analyses that need more report an unknown result. No compiler-generated
   kernel comes near that limit: the most seen is 5 visits per block, and 3 000 in all.

Dominators are computed with the Semi-NCA algorithm (Georgiadis, "Linear-Time Algorithms for Dominators and
Related Problems", 2005). Its cost is almost linear in the size of any graph.
"""

from __future__ import annotations

from ptx_lsp.analyses._flow import (
    control_dependences,
    dominance_frontiers,
    immediate_dominators,
    immediate_postdominators,
    natural_loops,
    subtrees,
)
from ptx_lsp.analyses.bitset import EMPTY
from ptx_lsp.analyses.control_flow.cfg import STRAIGHT, Graph, cfg
from ptx_lsp.facts import Previous, incremental_fact
from ptx_lsp.model.function import Function
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from typing import Final

_T = TypeVar("_T")
_VISITS_ANYWAY, _VISITS_OF_EACH = 50_000, 32


class Loop(NamedTuple):
    """A natural loop: its header, its blocks (including the header), and the sources of its back edges."""

    header: int
    blocks: frozenset[int]
    latches: tuple[int, ...]


class Dominance:
    """The dominator and post-dominator trees, and what follows from them, each computed when first wanted."""

    __slots__ = (
        "_children", "_depth_of_loops", "_found_regions", "_immediate_postdominators", "_post_subtrees",
        "_subtrees", "graph", "immediate_dominators",
    )  # fmt: skip

    def __init__(self, graph: Graph, immediate_dominators: tuple[int, ...]) -> None:
        self.graph = graph
        self.immediate_dominators = immediate_dominators
        """-1 for the root and for an unreachable block."""
        self._immediate_postdominators: tuple[int, ...] | None = None
        self._subtrees: _Subtrees | None = None
        self._post_subtrees: _Subtrees | None = None
        self._children: tuple[tuple[int, ...], ...] | None = None
        self._found_regions: _Regions | None = None
        self._depth_of_loops: tuple[int, ...] | None = None

    @property
    def immediate_postdominators(self) -> tuple[int, ...]:
        """-1 for the exit and for a block that does not reach it."""
        if self._immediate_postdominators is None:
            graph = self.graph
            self._immediate_postdominators = immediate_postdominators(
                graph.successors, graph.predecessors, graph.reverse_postorder
            )
        return self._immediate_postdominators

    def dominates(self, above: int, below: int) -> bool:
        """Whether `above` dominates `below`; a block dominates itself."""
        return self._dominator_tree.holds(above, below)

    def postdominates(self, above: int, below: int) -> bool:
        """Whether every path from `below` out of the function goes through `above`."""
        if self._post_subtrees is None:
            self._post_subtrees = _Subtrees(self.immediate_postdominators)
        return self._post_subtrees.holds(above, below)

    def reconvergence(self, block: int) -> int:
        """The reconvergence point of a branch at the end of `block`: its immediate post-dominator, at the
        latest `exit`.
        """
        found = self.immediate_postdominators[block]
        return found if found >= 0 else self.graph.exit

    @property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of each block in the dominator tree, the last in `Graph.reverse_postorder` first."""
        if self._children is None:
            found: list[list[int]] = [[] for _ in self.graph.successors]
            for block in reversed(self.graph.reverse_postorder):
                if self.immediate_dominators[block] >= 0:
                    found[self.immediate_dominators[block]].append(block)
            self._children = tuple([tuple(each) for each in found])
        return self._children

    @property
    def frontiers(self) -> tuple[frozenset[int], ...]:
        """The dominance frontier of each block."""
        return self._regions.frontiers

    @property
    def control_dependences(self) -> tuple[tuple[int, ...], ...]:
        """For each block, the blocks whose branches it is control-dependent on (Ferrante et al., 1987)."""
        return self._regions.control_dependences

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The natural loops, in the order of their headers."""
        return self._regions.loops

    @property
    def is_too_complex(self) -> bool:
        """Whether the graph is too complex (6); its frontiers, loops and control dependences are then not
        computed.
        """
        return not self.graph.is_complete or self._regions.is_too_complex

    @property
    def depth_of_loops(self) -> tuple[int, ...]:
        """The loop depth of each block."""
        if self._depth_of_loops is None:
            depth = [0] * len(self.graph.successors)
            for loop in self.loops:
                for block in loop.blocks:
                    depth[block] += 1
            self._depth_of_loops = tuple(depth)
        return self._depth_of_loops

    @property
    def is_irreducible(self) -> bool:
        """Whether the graph has a cycle that is not a natural loop."""
        ranks = self.graph.ranks
        for block in self.graph.reverse_postorder:
            for target in self.graph.successors[block]:
                if ranks[target] <= ranks[block] and not self.dominates(target, block):
                    return True
        return False

    @property
    def _regions(self) -> _Regions:
        if self._found_regions is None:
            size = len(self.graph.successors)
            try:
                self._found_regions = _Finder(self, visit_limit(size)).run()
            except _TooManyError:
                self._found_regions = _Regions((EMPTY,) * size, ((),) * size, (), is_too_complex=True)
        return self._found_regions

    @property
    def depths(self) -> list[int]:
        """The depth of each block in the dominator tree."""
        return self._dominator_tree.depth

    @property
    def subtrees(self) -> tuple[list[int], list[int]]:
        """The place of each block in a preorder of the dominator tree, and the last place among its
        descendants.
        """
        return self._dominator_tree.first, self._dominator_tree.last

    @property
    def _dominator_tree(self) -> _Subtrees:
        if self._subtrees is None:
            self._subtrees = _Subtrees(self.immediate_dominators)
        return self._subtrees


class _Regions(NamedTuple):
    """The results whose size may grow with the square of the graph."""

    frontiers: tuple[frozenset[int], ...]
    control_dependences: tuple[tuple[int, ...], ...]
    loops: tuple[Loop, ...]
    is_too_complex: bool


class _TooManyError(Exception):
    """The block visits exceed `most_visited`."""


class _Finder:
    """Finds the regions of a graph. Raises `_TooManyError`."""

    def __init__(self, found: Dominance, most: int) -> None:
        self.found = found
        self.graph = found.graph
        self.left = most

    def run(self) -> _Regions:
        return _Regions(self.frontiers(), self.control_dependences(), self.loops(), is_too_complex=False)

    def spend(self, visits: int) -> None:
        self.left -= visits
        if self.left < 0:
            raise _TooManyError

    def frontiers(self) -> tuple[frozenset[int], ...]:
        graph, immediate = self.graph, self.found.immediate_dominators
        found = dominance_frontiers(graph.predecessors, graph.reverse_postorder, immediate, self.left)
        return self.paid(found)

    def control_dependences(self) -> tuple[tuple[int, ...], ...]:
        graph, above = self.graph, self.found.immediate_postdominators
        return self.paid(control_dependences(graph.successors, graph.reverse_postorder, above, self.left))

    def paid(self, found: tuple[_T, int] | None) -> _T:
        """The result, after its visits were spent."""
        if found is None:
            raise _TooManyError
        self.spend(found[1])
        return found[0]

    def loops(self) -> tuple[Loop, ...]:
        graph, (first, last) = self.graph, self.found.subtrees
        found = natural_loops(
            graph.successors, graph.predecessors, graph.reverse_postorder, first, last, self.left
        )
        return tuple([Loop(*one) for one in self.paid(found)])


class _Subtrees:
    """A tree of blocks: the depth of each block, its position in preorder, and the last position among its
    descendants. `parents` has the parent of each block; -1 for roots.
    """

    __slots__ = ("depth", "first", "last")

    def __init__(self, parents: tuple[int, ...]) -> None:
        self.depth, self.first, self.last = subtrees(parents)

    def holds(self, above: int, below: int) -> bool:
        """Whether `below` is in the subtree of `above`."""
        return self.first[above] <= self.first[below] <= self.last[above]


def visit_limit(blocks: int) -> int:
    """The block visits allowed for computing the regions of a graph of this size."""
    return _VISITS_ANYWAY + _VISITS_OF_EACH * blocks


@incremental_fact
def dominance(function: Function, earlier: Previous[Dominance] | None) -> Dominance:
    """The dominators and post-dominators of `function`."""
    graph = cfg(function).graph
    if graph is STRAIGHT:
        return _OF_STRAIGHT
    if earlier is not None and earlier.value.graph is graph:
        return earlier.value
    return dominance_of(graph)


def dominance_of(graph: Graph) -> Dominance:
    """The dominators and post-dominators of the blocks of a graph that is entered at block 0."""
    return Dominance(graph, immediate_dominators(graph.successors, graph.predecessors))


_OF_STRAIGHT: Final = dominance_of(STRAIGHT)
