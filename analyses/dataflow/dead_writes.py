"""Instructions whose results are never read.

1. An instruction is dead if it only writes registers and none of them is live after it. Instructions whose
   only readers are dead themselves do not count.
2. Only reachable instructions count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from analyses.control_flow.block_identity import BlockIdentity, block_fact, block_identities
from analyses.dataflow.liveness import LiveAtEnd, Liveness, liveness
from analyses.instructions.side_effects import is_pure
from analyses.instructions.uses_and_defs import InstructionInfo
from ptx_lsp.facts import GenerationalCache, Previous, fact, incremental_fact
from ptx_lsp.model.function import Function

_Memory: TypeAlias = GenerationalCache[tuple[BlockIdentity, LiveAtEnd], tuple[int, ...]]
"""The dead instructions of a block, by its instructions and the registers live after it."""


@fact
def dead_writes(function: Function) -> tuple[InstructionInfo, ...]:
    """The dead instructions of `function`, in text order."""
    live, memory = liveness(function), _memory(function)
    found: list[InstructionInfo] = []
    for block, content in zip(live.cfg.blocks, block_identities(function).blocks, strict=True):
        if block.number in live.cfg.reached:
            key = content, live.live_at_end(block.number)
            known = memory.get(key)
            if known is None:
                known = memory.put(key, tuple(_of_block(live, block.number))[::-1])
            found.extend(live.instructions.instructions[block.first + index] for index in known)
    return tuple(found)


@block_fact
def registers_read(_: Function, block: Sequence[InstructionInfo]) -> frozenset[int]:
    """The registers that the instructions of each block read, guards included."""
    return frozenset(register for step in block for register in (*step.uses, step.guard))


@incremental_fact
def _memory(_: Function, earlier: Previous[_Memory] | None) -> _Memory:
    return GenerationalCache(earlier.value if earlier else None)


def _of_block(live: Liveness, block: int) -> Iterator[int]:
    """The dead instructions of a block, counted from its first, the last one first."""
    first = live.cfg.blocks[block].first
    for step, behind in live.backward(block):
        if is_pure(step) and behind.isdisjoint(step.defs):
            yield step.number - first
