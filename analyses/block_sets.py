"""What lives from block to block: sets of numbers, of registers or words, solved for all blocks at once.

1. A number is live where a block begins that *exposes* it, which is to read it first; and where one begins
   that leads to such a block and does not *kill* it.
2. Each number is a bit of an integer, and no bit depends on another. So after an edit only those are solved
   anew that the edited blocks expose or kill otherwise than before.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from heapq import heapify, heappop, heappush
from typing import Final, NamedTuple

from analyses.bits import Bits
from analyses.cfg import Graph
from ptx_lsp.facts import Memory

_SPARE: Final = 64


class BlockSet(NamedTuple):
    """What one block exposes and kills. `of` is what it is known by: equal after an edit only where both are
    the same.
    """

    of: Hashable
    exposed: frozenset[int]
    killed: frozenset[int]


class BlockSets:
    """`bits` has those numbers that live from block to block; `live_in` for each block what is live where it
    begins, as bits: the same list after an edit that changed nothing.
    """

    def __init__(
        self,
        graph: Graph,
        blocks: Sequence[BlockSet],
        at_exit: frozenset[int],
        before: BlockSets | None,
    ) -> None:
        numbers = set(at_exit).union(*[one.exposed for one in blocks])
        self._graph = graph
        self._frozen = Memory[int, frozenset[int]]()
        self._pairs = Memory[Hashable, tuple[int, int]]()
        more = numbers - before.bits.bits.keys() if before is not None else numbers
        if before is None or len(before.bits.numbers) > 2 * len(numbers) + _SPARE:
            self.bits, before = Bits(sorted(numbers)), None
        else:
            self.bits = Bits([*before.bits.numbers, *sorted(more)]) if more else before.bits
            self._frozen = Memory(before._frozen)
        if before is not None and not more:
            self._pairs = Memory(before._pairs)
        self._of = [self._pairs.get(one.of) or self._pairs.put(one.of, self._pair(one)) for one in blocks]
        self._at_exit = self.bits.of(at_exit)
        self.live_in = self._solved(before)

    def numbers_of(self, bits: int) -> frozenset[int]:
        """The numbers of some bits: mostly the same object for the same."""
        found = self._frozen.get(bits)
        if found is None:
            found = self._frozen.put(bits, frozenset(self.bits.numbers_of(bits)))
        return found

    def _pair(self, one: BlockSet) -> tuple[int, int]:
        return self.bits.of(one.exposed), ~self.bits.of(one.killed)

    def _solved(self, before: BlockSets | None) -> list[int]:
        if before is None or before._graph is not self._graph:
            return _solve(self._graph, self._of, self._at_exit)
        changed = before._at_exit ^ self._at_exit
        for mine, theirs in zip(self._of, before._of, strict=True):
            if mine is not theirs:
                changed |= (mine[0] ^ theirs[0]) | (mine[1] ^ theirs[1])
        if not changed:
            return before.live_in
        of = [(exposed & changed, kept) for exposed, kept in self._of]
        found = _solve(self._graph, of, self._at_exit & changed)
        return [
            known if known & changed == new else known & ~changed | new
            for known, new in zip(before.live_in, found, strict=True)
        ]


def _solve(graph: Graph, of: Sequence[tuple[int, int]], at_exit: int) -> list[int]:
    """What is live where each block begins; of each block what it exposes, and all that it does not kill."""
    found = [exposed for exposed, _ in of]
    found[graph.exit] |= at_exit
    rank = graph.ranks
    waiting = [(-rank[block], block) for block, live in enumerate(found) if live]
    heapify(waiting)  # those first that nothing follows
    queued = {block for _, block in waiting}
    while waiting:
        _, block = heappop(waiting)
        queued.discard(block)
        live = found[block]
        for source in graph.predecessors[block]:
            known = found[source]
            more = known | (live & of[source][1])
            if more != known:
                found[source] = more
                if source not in queued:
                    queued.add(source)
                    heappush(waiting, (-rank[source], source))
    return found
