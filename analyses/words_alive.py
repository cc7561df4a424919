"""Which words are live at the beginning of each block: those that may still be read.

As liveness of registers (`liveness`), of the operations that are left. A word that is live where the
function is entered is read somewhere without a write before it on some way; it counts nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable

from analyses.block_sets import BlockSet, BlockSets
from analyses.block_words import block_words
from analyses.cfg import cfg
from ptx_lsp.facts import Earlier, lasting_fact
from ptx_lsp.model.function import Function


class WordsAlive:
    """The words that are live where blocks begin."""

    def __init__(self, sets: BlockSets) -> None:
        self.sets = sets

    def at(self, blocks: Iterable[int]) -> frozenset[int]:
        """What is live where at least one of these blocks begins; mostly the same object for the same."""
        live_in = self.sets.live_in
        found = 0
        for block in blocks:
            found |= live_in[block]
        return self.sets.numbers_of(found & ~live_in[0])


@lasting_fact
def words_alive(function: Function, earlier: Earlier[WordsAlive] | None) -> WordsAlive:
    """The words of `function` that are live where its blocks begin."""
    blocks = [BlockSet(one, one.exposed, one.made) for one in block_words(function)]
    before = earlier.value.sets if earlier else None
    return WordsAlive(BlockSets(cfg(function).graph, blocks, frozenset(), before))
