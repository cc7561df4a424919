"""Backward gen/kill dataflow over blocks (liveness of registers or virtual registers), solved with bit
vectors.

1. A number is live at the start of a block that reads it before writing it (*gen*, the upward-exposed uses),
   and of a block that leads to such a block and does not *kill* it.
2. Each number is a bit of an integer, and no bit depends on another. After an edit, only the bits whose gen
   or kill sets changed are solved again.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from itertools import compress
from operator import invert

from ptx_lsp.analyses._flow import live_at_starts
from ptx_lsp.analyses.bitset import BitIndex
from ptx_lsp.analyses.control_flow.cfg import Graph
from ptx_lsp.facts import GenerationalCache
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

_SPARE: Final = 64


class GenKill(NamedTuple):
    """The gen and kill sets of each block. `keys` identify them: the key of a block is equal after an edit
    only if both of its sets are unchanged.
    """

    keys: Sequence[Hashable]
    gen: Sequence[Collection[int]]
    kill: Sequence[Collection[int]]


class LiveSets:
    """The solution. `bits` assigns bits to the numbers that are live across blocks; `live_in` is the bit set
    at the start of each block. It is the same list after an edit that changed nothing.
    """

    def __init__(
        self,
        graph: Graph,
        blocks: GenKill,
        at_exit: frozenset[int],
        before: LiveSets | None,
    ) -> None:
        numbers = set(at_exit).union(*blocks.gen)
        self.bits: BitIndex
        self.numbering: object
        """Stands for the bits that numbers have: as long as it is the same object, each keeps its bit."""
        self._graph = graph
        self._frozen = GenerationalCache[int, frozenset[int]]()
        self._pairs = GenerationalCache[Hashable, tuple[int, int]]()
        more = numbers - before.bits.places.keys() if before is not None else numbers
        if before is None or len(before.bits.numbers) > 2 * len(numbers) + _SPARE:
            self.bits, self.numbering, before = BitIndex(sorted(numbers)), object(), None
        else:
            self.bits = BitIndex([*before.bits.numbers, *sorted(more)]) if more else before.bits
            self.numbering = before.numbering
            self._frozen = GenerationalCache(before._frozen)
        if before is not None and not more:
            self._pairs = GenerationalCache(before._pairs)
        self._masks = self._pairs_of(blocks)
        self._at_exit = self.bits.mask(at_exit)
        self.live_in = self._solved(before)

    def members(self, bits: int) -> frozenset[int]:
        """The numbers in a bit set, usually the same object for the same set."""
        found = self._frozen.get(bits)
        if found is None:
            found = self._frozen.put(bits, self.bits.members(bits))
        return found

    def _pairs_of(self, blocks: GenKill) -> list[tuple[int, int]]:
        """The bits that each block generates, and those that it keeps."""
        if self._pairs.is_empty:
            return self._fresh_pairs(blocks)
        known = [self._pairs.get(key) for key in blocks.keys]
        is_fresh = [pair is None for pair in known]
        changed = GenKill(
            list(compress(blocks.keys, is_fresh)),
            list(compress(blocks.gen, is_fresh)),
            list(compress(blocks.kill, is_fresh)),
        )
        fresh = iter(self._fresh_pairs(changed))
        return [pair or next(fresh) for pair in known]

    def _fresh_pairs(self, blocks: GenKill) -> list[tuple[int, int]]:
        """The pairs of blocks of which nothing is known."""
        gen, kill = self.bits.masks(blocks.gen), self.bits.masks(blocks.kill)
        pairs = list(zip(gen, map(invert, kill), strict=True))
        self._pairs.update(dict(zip(blocks.keys, pairs, strict=True)))
        return pairs

    def _solved(self, before: LiveSets | None) -> list[int]:
        if before is None or before._graph is not self._graph:
            return self._solve(-1)
        changed = before._at_exit ^ self._at_exit
        for mine, theirs in zip(self._masks, before._masks, strict=True):
            if mine is not theirs:
                changed |= (mine[0] ^ theirs[0]) | (mine[1] ^ theirs[1])
        if not changed:
            return before.live_in
        found = self._solve(changed)
        return [
            known if known & changed == new else known & ~changed | new
            for known, new in zip(before.live_in, found, strict=True)
        ]

    def _solve(self, wanted: int) -> list[int]:
        """The solution for some bits."""
        gen, kept = map(list, zip(*self._masks, strict=True))
        if wanted != -1:
            gen = [exposed & wanted for exposed in gen]
        gen[self._graph.exit] |= self._at_exit & wanted
        return solve(self._graph, gen, kept)


def solve(graph: Graph, gen: list[int], kept: list[int]) -> list[int]:
    """The bits that are live at the start of each block: those that it generates, and those that are live at
    the start of a successor and that it keeps.
    """
    return live_at_starts(graph.predecessors, graph.ranks, gen, kept)
