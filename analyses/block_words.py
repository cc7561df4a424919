"""The operations of each block: what `words` leaves of its steps."""

from __future__ import annotations

from collections.abc import Sequence

from analyses.cfg import cfg
from analyses.contents import Content, contents
from analyses.words import Operation, words
from ptx_lsp.facts import Earlier, fact, lasting_fact
from ptx_lsp.model.function import Function


class BlockWords:
    """The operations of one block, and the words that it reads before it makes them (`exposed`) and that it
    makes. The same object for as long as the operations are the same.
    """

    __slots__ = ("exposed", "made", "of_steps", "operations")

    def __init__(self, of_steps: Sequence[Operation | None]) -> None:
        self.of_steps = of_steps
        self.operations = [one for one in of_steps if one is not None]
        live: set[int] = set()
        made: set[int] = set()
        for operation in reversed(self.operations):
            written = operation.writes - operation.keeps
            live -= written
            live |= operation.reads
            made |= written
        self.exposed = frozenset(live)
        self.made = frozenset(made)


@fact
def block_words(function: Function) -> tuple[BlockWords, ...]:
    """For each block of `function` its operations."""
    return tuple(_of_contents(function).values())


@lasting_fact
def _of_contents(
    function: Function, earlier: Earlier[dict[Content, BlockWords]] | None
) -> dict[Content, BlockWords]:
    before = earlier.value if earlier else {}
    left = words(function).operations
    found: dict[Content, BlockWords] = {}
    for block, content in zip(cfg(function).blocks, contents(function).of, strict=True):
        of_steps = left[block.first : block.end]
        known = before.get(content)
        is_same = known is not None and known.of_steps == of_steps
        found[content] = known if known is not None and is_same else BlockWords(of_steps)
    return found
