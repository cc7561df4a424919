"""Dominators and post-dominators of the blocks of a function, its loops, and where threads meet again.

1. Block *a* dominates *b* when every way from the entry to *b* goes through *a*; each dominates itself.
   The immediate dominator is the nearest other one.
2. Post-dominators are the same of the graph turned round, from `exit`. Blocks from which no way leads out
   (an endless loop) are joined to `exit` for this, each as if it could leave.
3. The reconvergence point of a block that splits is its immediate post-dominator: threads that went
   different ways meet there.
4. An edge to a block that dominates its source is a back edge. Its target heads a loop, whose blocks are
   all that reach the source without going through the head.
5. A graph is irreducible where a way runs into itself at a block that does not dominate it.

Dominators are computed as in Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from analyses.cfg import Edges, Graph, cfg, order
from ptx_lsp.facts import Earlier, lasting_fact
from ptx_lsp.model.function import Function


@dataclass(frozen=True)
class Loop:
    """A loop: its head, its blocks (the head is one), and where back edges come from."""

    head: int
    blocks: frozenset[int]
    latches: tuple[int, ...]


@dataclass(frozen=True)
class Dominance:
    """Who dominates whom. Of blocks that cannot be reached (for post-dominance: that reach nothing) the
    immediate dominator is -1; so is that of the root.
    """

    graph: Graph
    immediate: tuple[int, ...]
    immediate_post: tuple[int, ...]

    def dominates(self, above: int, below: int) -> bool:
        """Whether `above` dominates `below`; a block dominates itself."""
        return _is_above(self.immediate, self.depths, above, below)

    def postdominates(self, above: int, below: int) -> bool:
        """Whether every way from `below` out of the function goes through `above`."""
        return _is_above(self.immediate_post, self._post_depth, above, below)

    def reconvergence(self, block: int) -> int:
        """Where threads meet again that leave `block` in different ways; `exit` at the latest."""
        found = self.immediate_post[block]
        return found if found >= 0 else self.graph.exit

    @cached_property
    def below(self) -> tuple[tuple[int, ...], ...]:
        """For each block those that it dominates immediately, the last in `Graph.order` first."""
        found: list[list[int]] = [[] for _ in self.graph.successors]
        for block in reversed(self.graph.order):
            if self.immediate[block] >= 0:
                found[self.immediate[block]].append(block)
        return tuple(map(tuple, found))

    @cached_property
    def frontiers(self) -> tuple[frozenset[int], ...]:
        """For each block, where its dominance ends: the blocks behind it that other ways lead to as well."""
        found: list[set[int]] = [set() for _ in self.graph.successors]
        for block in self.graph.order:
            sources = [one for one in self.graph.predecessors[block] if one in self.graph.reached]
            if len(sources) < 2 and block != 0:
                continue
            for source in sources:
                while source != self.immediate[block] and block not in found[source]:
                    found[source].add(block)
                    if source == 0:
                        break
                    source = self.immediate[source]
        return tuple(map(frozenset, found))

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """The natural loops, in the order of their heads."""
        latches: dict[int, list[int]] = {}
        for block in self.graph.order:
            for target in self.graph.successors[block]:
                if self.dominates(target, block):
                    latches.setdefault(target, []).append(block)
        return tuple(
            Loop(head, self._loop(head, sources), tuple(sources))
            for head, sources in sorted(latches.items())
        )

    @cached_property
    def depth_of_loops(self) -> tuple[int, ...]:
        """For each block, how many loops it lies in."""
        depth = [0] * len(self.graph.successors)
        for loop in self.loops:
            for block in loop.blocks:
                depth[block] += 1
        return tuple(depth)

    @cached_property
    def is_irreducible(self) -> bool:
        """Whether some way runs into itself elsewhere than at the head of a loop."""
        position = {block: index for index, block in enumerate(self.graph.order)}
        return any(
            position[target] <= position[block] and not self.dominates(target, block)
            for block in self.graph.order
            for target in self.graph.successors[block]
        )

    @cached_property
    def deciding(self) -> tuple[tuple[int, ...], ...]:
        """For each block those whose ways decide whether it is reached (Ferrante et al., 1987)."""
        found: list[list[int]] = [[] for _ in self.graph.successors]
        for block in self.graph.order:
            if len(self.graph.successors[block]) < 2:
                continue
            meeting = self.immediate_post[block]
            for target in self.graph.successors[block]:
                while target not in (meeting, -1):
                    if not found[target] or found[target][-1] != block:
                        found[target].append(block)
                    target = self.immediate_post[target]
        return tuple(map(tuple, found))

    def _loop(self, head: int, sources: list[int]) -> frozenset[int]:
        blocks = {head}
        open_blocks = list(sources)
        while open_blocks:
            block = open_blocks.pop()
            if block not in blocks:
                blocks.add(block)
                open_blocks.extend(
                    p for p in self.graph.predecessors[block] if p in self.graph.reached
                )
        return frozenset(blocks)

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """For each block, how many others dominate it; -1 where it cannot be reached."""
        return _depths(self.immediate)

    @cached_property
    def _post_depth(self) -> tuple[int, ...]:
        return _depths(self.immediate_post)


@lasting_fact
def dominance(function: Function, earlier: Earlier[Dominance] | None) -> Dominance:
    """The dominators and post-dominators of the blocks of `function`."""
    graph = cfg(function).graph
    if earlier is not None and earlier.value.graph is graph:
        return earlier.value
    return dominance_of(graph)


def dominance_of(graph: Graph) -> Dominance:
    """The dominators and post-dominators of the blocks of a graph that is entered at block 0."""
    immediate = _immediate(graph.successors, graph.predecessors, 0, graph.order)
    return Dominance(graph, immediate, _immediate_post(graph))


def _immediate_post(graph: Graph) -> tuple[int, ...]:
    forward, backward = graph.successors, graph.predecessors
    reaching = order(backward, graph.exit)
    reached = set(reaching)
    stuck = [block for block in reversed(graph.order) if block not in reached]
    if stuck:
        out, into = [list(edges) for edges in forward], [list(edges) for edges in backward]
        known = set(reaching)
        for block in stuck:
            if block not in known:
                out[block].append(graph.exit)
                into[graph.exit].append(block)
                known.update(order(backward, block))
        forward, backward = tuple(map(tuple, out)), tuple(map(tuple, into))
        reaching = order(backward, graph.exit)
    return _immediate(backward, forward, graph.exit, reaching)


def _immediate(out: Edges, into: Edges, root: int, ordered: tuple[int, ...]) -> tuple[int, ...]:
    """The immediate dominator of each block, for a graph entered at `root`."""
    position = [-1] * len(out)
    for index, block in enumerate(ordered):
        position[block] = index
    found = [-1] * len(out)
    found[root] = root
    changed = True
    while changed:
        changed = False
        for block in ordered[1:]:
            nearest = -1
            for source in into[block]:
                if found[source] < 0:
                    continue
                nearest = source if nearest < 0 else _meet(found, position, nearest, source)
            if found[block] != nearest:
                found[block] = nearest
                changed = True
    found[root] = -1
    return tuple(found)


def _meet(found: list[int], position: list[int], a: int, b: int) -> int:
    """The nearest block that dominates both."""
    while a != b:
        while position[a] > position[b]:
            a = found[a]
        while position[b] > position[a]:
            b = found[b]
    return a


def _depths(immediate: tuple[int, ...]) -> tuple[int, ...]:
    depth = [-1] * len(immediate)
    for block in range(len(immediate)):
        chain: list[int] = []
        while block >= 0 and depth[block] < 0:
            chain.append(block)
            block = immediate[block]
        base = depth[block] if block >= 0 else -1
        for above, one in enumerate(reversed(chain), 1):
            depth[one] = base + above
    return tuple(depth)


def _is_above(
    immediate: tuple[int, ...], depth: tuple[int, ...], above: int, below: int
) -> bool:
    while depth[below] > depth[above]:
        below = immediate[below]
    return above == below
