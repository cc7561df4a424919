"""Block identities: recognise the basic blocks that an edit left unchanged.

1. The *identity* of a block stands for its instructions. It is the same object from one revision of a
   function to the next as long as none of these instructions was edited, wherever the block has moved to.
2. A `block_fact` depends on one block alone: on its instructions, not on their indices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Final, TypeVar

from analyses.control_flow.cfg import cfg
from analyses.instructions.register_index import RegisterIndex
from analyses.instructions.uses_and_defs import InstructionInfo, instructions
from ptx_lsp.facts import Previous, fact, incremental_fact
from ptx_lsp.model.function import Function

_T = TypeVar("_T")


class BlockIdentity:
    """A token for the instructions of one block; two are equal only if they are the same object."""

    __slots__ = ()


class BlockIdentities:
    """The identity of each block of a function."""

    __slots__ = ("blocks", "by_range", "register_index")

    def __init__(
        self,
        blocks: tuple[BlockIdentity, ...],
        by_range: dict[tuple[int, int], BlockIdentity],
        register_index: RegisterIndex,
    ) -> None:
        self.blocks: Final = blocks
        self.by_range: Final = by_range
        """The identities, by a block's first instruction and end."""
        self.register_index: Final = register_index
        """The registers that the instructions refer to. A different index invalidates all identities."""


@incremental_fact
def block_identities(function: Function, earlier: Previous[BlockIdentities] | None) -> BlockIdentities:
    """The identities of the blocks of `function`."""
    numbering = instructions(function).register_index
    before = earlier.value.by_range if earlier and earlier.value.register_index == numbering else {}
    first, _, end = earlier.change if earlier else (0, 0, 0)
    growth = earlier.change.growth if earlier else 0
    found: dict[tuple[int, int], BlockIdentity] = {}
    for block in cfg(function).blocks:
        place = block.first, block.end
        known = None
        if block.end <= first:
            known = before.get(place)
        elif block.first >= end:
            known = before.get((block.first - growth, block.end - growth))
        found[place] = known or BlockIdentity()
    return BlockIdentities(tuple(found.values()), found, numbering)


def block_fact(
    compute: Callable[[Function, Sequence[InstructionInfo]], _T],
) -> Callable[[Function], tuple[_T, ...]]:
    """Makes `compute` run once per block identity; the fact is its result for each block, in order."""

    @incremental_fact
    @wraps(compute)
    def of_contents(
        function: Function, earlier: Previous[dict[BlockIdentity, _T]] | None
    ) -> dict[BlockIdentity, _T]:
        before = earlier.value if earlier else {}
        flow = instructions(function).instructions
        found: dict[BlockIdentity, _T] = {}
        for block, content in zip(cfg(function).blocks, block_identities(function).blocks, strict=True):
            try:
                found[content] = before[content]
            except KeyError:
                found[content] = compute(function, flow[block.first : block.end])
        return found

    @fact
    @wraps(compute)
    def of_blocks(function: Function) -> tuple[_T, ...]:
        return tuple(of_contents(function).values())

    return of_blocks
