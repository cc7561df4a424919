"""Block identities: recognise the basic blocks that an edit left unchanged.

1. The *identity* of a block stands for its instructions. It is the same object from one revision of a
   function to the next as long as none of these instructions was edited, wherever the block has moved to.
2. A `block_fact` depends on one block alone: on its instructions, not on their indices. The identity keeps
   its value.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from ptx_lsp.analyses.control_flow.cfg import BasicBlock, cfg
from ptx_lsp.analyses.instructions.register_index import RegisterIndex
from ptx_lsp.analyses.instructions.uses_and_defs import FunctionInstructions, instructions
from ptx_lsp.facts import Previous, fact, incremental_fact
from ptx_lsp.model.function import Function
from ptx_lsp.static_typing import TypeVar, cast

_T = TypeVar("_T")


class BlockIdentity:
    """Stands for the instructions of one block; two are equal only if they are the same object."""

    __slots__ = ("facts",)

    def __init__(self) -> None:
        self.facts: dict[object, object] = {}
        """The block facts that were computed."""


class BlockIdentities:
    """The identity of each block of a function."""

    __slots__ = ("blocks", "places", "register_index")

    def __init__(
        self, blocks: list[BlockIdentity], places: tuple[BasicBlock, ...], register_index: RegisterIndex
    ) -> None:
        self.blocks = blocks
        self.places = places
        self.register_index = register_index
        """The register indices that the instructions refer to. A different index invalidates all identities.
        """

    def by_range(self) -> dict[tuple[int, int], BlockIdentity]:
        """The identities, by a block's first instruction and end."""
        pairs = zip(self.places, self.blocks, strict=True)
        return {(block.first, block.end): identity for block, identity in pairs}


@incremental_fact
def block_identities(function: Function, earlier: Previous[BlockIdentities] | None) -> BlockIdentities:
    """The identities of the blocks of `function`."""
    numbering = instructions(function).register_index
    blocks = cfg(function).blocks
    if earlier is None or earlier.value.register_index != numbering:
        return BlockIdentities([BlockIdentity() for _ in blocks], blocks, numbering)
    first, _, end = earlier.change
    if blocks is earlier.value.places:
        known_blocks = zip(blocks, earlier.value.blocks, strict=True)
        same = [
            known if block.end <= first or block.first >= end else BlockIdentity()
            for block, known in known_blocks
        ]
        return BlockIdentities(same, blocks, numbering)
    before = earlier.value.by_range()
    growth = earlier.change.growth
    found: list[BlockIdentity] = []
    for block in blocks:
        known = None
        if block.end <= first:
            known = before.get((block.first, block.end))
        elif block.first >= end:
            known = before.get((block.first - growth, block.end - growth))
        found.append(known or BlockIdentity())
    return BlockIdentities(found, blocks, numbering)


def block_fact(
    compute: Callable[[FunctionInstructions, int, int], _T],
) -> Callable[[Function], list[_T]]:
    """Makes `compute` run once per block identity, with the first instruction of the block and its end; the
    fact is its result for each block, in order.
    """

    @fact
    @wraps(compute)
    def of_blocks(function: Function) -> list[_T]:
        flow = instructions(function)
        found: list[_T] = []
        for block, identity in zip(cfg(function).blocks, block_identities(function).blocks, strict=True):
            facts = identity.facts
            if compute not in facts:
                facts[compute] = compute(flow, block.first, block.end)
            found.append(cast(_T, facts[compute]))
        return found

    return of_blocks
