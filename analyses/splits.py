"""What becomes of a warp whose threads leave a block in different ways.

1. Threads that went different ways meet at the block's reconvergence point (`Dominance`), and wait for each
   other there. Threads that leave the function are not waited for: where all others go through some
   block before that, they meet there.
2. A block at which two such ways meet that have had no block in common is a *join* of the split: a value
   that depends on the way differs there.
3. When some threads leave a loop and others go on in it, values made in the loop are of different rounds
   for threads outside of it: they *escape* from its blocks. Where they leave an outer loop at once, and only
   those that went one way can come to blocks between the two, values escape from the outer loop alone.
4. When some threads begin another round of a loop before they meet the others within it, the blocks on
   their ways are *tangled*: threads go through them out of step, and whatever is made there may differ.
5. So is a part of the graph that runs into itself at several blocks (irreducible), if it is split or
   entered in different ways.
6. Threads that leave early are not among those that go on. So joins, escapes and tangled blocks are those of
   the staying graph (`early_exits.py`); what the whole graph has of them counts only in blocks that are not
   in it.
7. Where the ways of all blocks together are longer than `most_visited`, or the graph is intricate
   (`dominance.py`), nothing is known of any block. In kernels of compilers they have 12 blocks for each block
   at most, and 3 000 in all.

Ways are told apart by the first block after which they have nothing in common, as in Karrenberg and
Hack, "Improving Performance of OpenCL on CPUs" (2012), and LLVM's uniformity analysis.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush
from itertools import pairwise
from typing import NamedTuple

from analyses.cfg import Graph
from analyses.dominance import Dominance, Loop, dominance, most_visited
from analyses.early_exits import early_exits
from ptx_lsp.facts import Earlier, lasting_fact
from ptx_lsp.model.function import Function


class Split(NamedTuple):
    """What happens when the threads of a warp leave one block in different ways. All are blocks."""

    joins: frozenset[int]
    escapes: tuple[frozenset[int], ...]
    tangled: tuple[frozenset[int], ...]


@dataclass(frozen=True)
class Splits:
    """Answers for each block that control leaves in more than one way."""

    graph: Graph
    dominance: Dominance
    whole: Splits | None = None
    """Where threads leave early: the same of the whole graph (6)."""
    known: dict[int, Split] = field(default_factory=dict[int, Split])

    @cached_property
    def is_intricate(self) -> bool:
        """Whether the ways are too long, taken together, to say what becomes of the threads (7)."""
        if self.dominance.is_intricate or (self.whole is not None and self.whole.is_intricate):
            return True
        left = most_visited(len(self.graph.successors))
        for block in self.graph.order:
            if len(self.graph.successors[block]) > 1:
                left -= self._length(block, left)
                if left < 0:
                    return True
        return False

    def _length(self, block: int, most: int) -> int:
        """How many edges are on the ways from `block` until the threads meet; some number above `most` where
        there are more.
        """
        meeting = self.dominance.reconvergence(block)
        seen = {block, meeting}
        waiting = [block]
        count = 0
        while waiting and count <= most:
            for target in self.graph.successors[waiting.pop()]:
                count += 1
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return count

    def of(self, block: int) -> Split:
        """What happens when `block` splits a warp."""
        found = self.known.get(block)
        if found is None:
            found = self.known[block] = self._of(block)
        return found

    def _of(self, block: int) -> Split:
        if self.whole is None:
            return self._split(block)
        with_exits = self.whole.of(block)
        if block not in self.graph.reached:
            return with_exits
        found = self._split(block)
        leaving = self.whole.graph.reached - self.graph.reached
        escapes = (*found.escapes, self.graph.reached) if with_exits.escapes else found.escapes
        tangled = [blocks & leaving for blocks in with_exits.tangled if not leaving.isdisjoint(blocks)]
        return Split(found.joins | (with_exits.joins & leaving), escapes, (*found.tangled, *tangled))

    def _split(self, block: int) -> Split:
        joins, region, meeting = self._ways(block)
        tangled = [knot for knot in self.knots if block in knot or not knot.isdisjoint(joins)]
        ways = frozenset(region | {block})
        loops = self.loops_of[block]
        left = [loop for loop in loops if meeting not in loop.blocks or not region <= loop.blocks]
        escapes = self._escapes(block, [loop.blocks for loop in left], ways - {meeting}, meeting)
        for loop in loops:
            if meeting not in loop.blocks or meeting == loop.head:
                continue
            if loop.head in region or (loop.head == block and self._comes_back(block, region)):
                tangled.append(ways)
        return Split(frozenset(joins), escapes, tuple(tangled))

    def _ways(self, block: int) -> tuple[set[int], set[int], int]:
        """The joins, the blocks on the ways until the threads meet, and where they do.

        Each way is called by the block after the last one that it shared with another. Ways are followed
        in reverse postorder, those through a back edge after all others.
        """
        graph, position = self.graph, self.position
        end = self.dominance.reconvergence(block)
        label = {target: target for target in graph.successors[block]}
        waiting: list[tuple[int, int, int]] = []
        for target in label:
            if target != graph.exit:
                heappush(waiting, (position[target] <= position[block], position[target], target))
        joins: set[int] = set()
        region: set[int] = set()
        is_split = False  # some threads wait elsewhere already
        while waiting:
            turn, _, here = heappop(waiting)
            if here in (end, block):
                is_split = True
                continue
            if not waiting and not is_split and not self.knots:
                return joins, region, here
            region.add(here)
            for target in graph.successors[here]:
                known = label.get(target)
                if known is None:
                    label[target] = label[here]
                elif known == label[here] or known == target:
                    if target not in joins and known != label[here]:
                        joins.add(target)
                    continue
                else:
                    label[target] = target
                    joins.add(target)
                if target != graph.exit:
                    turn_of = turn + (position[target] <= position[here])
                    heappush(waiting, (turn_of, position[target], target))
        return joins, region, end

    def _escapes(
        self, block: int, left: list[frozenset[int]], ways: frozenset[int], meeting: int
    ) -> tuple[frozenset[int], ...]:
        """The loops that values escape from, among those that are left (3)."""
        if len(left) < 2 or self.knots:
            return tuple(left)
        nested = sorted(left, key=len)
        targets = [target for target in self.graph.successors[block] if target in ways]
        reached = [self._from(target, ways) for target in targets]
        found = [nested[-1]]
        for inner, outer in pairwise(nested):
            between = outer - inner
            coming = sum(not between.isdisjoint(one) for one in reached)
            if coming > 1 or meeting in outer:
                found.append(inner)
        return tuple(found)

    def _from(self, start: int, within: frozenset[int]) -> set[int]:
        """What can be reached from a block without leaving some blocks."""
        found = {start}
        waiting = [start]
        while waiting:
            for target in self.graph.successors[waiting.pop()]:
                if target in within and target not in found:
                    found.add(target)
                    waiting.append(target)
        return found

    def _comes_back(self, block: int, region: set[int]) -> bool:
        """Whether a way leads back to `block` before the threads meet."""
        sources = self.graph.predecessors[block]
        return any(source in region or source == block for source in sources)

    @cached_property
    def position(self) -> tuple[int, ...]:
        """The place of each block in reverse postorder."""
        found = [0] * len(self.graph.successors)
        for index, block in enumerate(self.graph.order):
            found[block] = index
        return tuple(found)

    @cached_property
    def loops_of(self) -> tuple[tuple[Loop, ...], ...]:
        """For each block the loops that it lies in."""
        found: list[list[Loop]] = [[] for _ in self.graph.successors]
        for loop in self.dominance.loops:
            for block in loop.blocks:
                found[block].append(loop)
        return tuple(map(tuple, found))

    @cached_property
    def knots(self) -> tuple[frozenset[int], ...]:
        """The parts that run into themselves elsewhere than at the head of a loop, with all that can be
        reached from there and leads back.
        """
        if not self.dominance.is_irreducible:
            return ()
        found: list[frozenset[int]] = []
        for block in self.graph.order:
            for target in self.graph.successors[block]:
                if self.position[target] > self.position[block]:
                    continue
                if self.dominance.dominates(target, block) or any(target in knot for knot in found):
                    continue
                found.append(self._both_ways(target))
        return tuple(found)

    def _both_ways(self, block: int) -> frozenset[int]:
        """The blocks that can be reached from `block` and from which it can be reached."""
        ahead, behind = {block}, {block}
        for seen, edges in ((ahead, self.graph.successors), (behind, self.graph.predecessors)):
            waiting = [block]
            while waiting:
                for other in edges[waiting.pop()]:
                    if other not in seen and other in self.graph.reached:
                        seen.add(other)
                        waiting.append(other)
        return frozenset(ahead & behind)


@lasting_fact
def splits(function: Function, earlier: Earlier[Splits] | None) -> Splits:
    """What becomes of a warp that a block of `function` splits."""
    found, staying = dominance(function), early_exits(function).staying
    whole = earlier.value.whole or earlier.value if earlier is not None else None
    if whole is None or whole.dominance is not found:
        whole = Splits(found.graph, found)
    if staying is found:
        return whole
    if earlier is not None and earlier.value.whole is whole and earlier.value.dominance is staying:
        return earlier.value
    return Splits(staying.graph, staying, whole)
