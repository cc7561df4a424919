"""Which words are live at the beginning of each block: those that may still be read.

As liveness of registers (`liveness`), of the operations that are left. A word that is live where the
function is entered is read somewhere without a write before it on some way; it counts nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from analyses.cfg import cfg
from analyses.words import Operation, words
from ptx_lsp.facts import Earlier, Memory, fact, lasting_fact
from ptx_lsp.model.function import Function


@fact
def words_alive(function: Function) -> tuple[frozenset[int], ...]:
    """For each block of `cfg`, the words that are live where it begins."""
    graph, left, memory = cfg(function), words(function).operations, _memory(function)
    alive: list[frozenset[int]] = []
    made: list[frozenset[int]] = []
    for block in graph.blocks:
        operations = left[block.first : block.end]
        key = tuple(map(id, operations))
        found = memory.get(key) or memory.put(key, _of_block(operations))
        alive.append(found.alive)
        made.append(found.made)
    waiting = [block.number for block in graph.blocks]
    queued = set(waiting)
    while waiting:
        number = waiting.pop()
        queued.discard(number)
        known = alive[number].union(
            *(alive[target] - made[number] for target in graph.blocks[number].successors)
        )
        if len(known) > len(alive[number]):
            alive[number] = known
            for source in graph.blocks[number].predecessors:
                if source not in queued:
                    queued.add(source)
                    waiting.append(source)
    return tuple([live - alive[0] for live in alive])


class _OfBlock(NamedTuple):
    """The words that a block reads before it makes them, and those that it makes. It holds its operations, by
    which it is known.
    """

    operations: Sequence[Operation | None]
    alive: frozenset[int]
    made: frozenset[int]


_Memory: TypeAlias = Memory[tuple[int, ...], _OfBlock]


@lasting_fact
def _memory(_: Function, earlier: Earlier[_Memory] | None) -> _Memory:
    return Memory(earlier.value if earlier else None)


def _of_block(operations: Sequence[Operation | None]) -> _OfBlock:
    live: set[int] = set()
    made: set[int] = set()
    for operation in reversed(operations):
        if operation is not None:
            _before(operation, live)
            made |= operation.writes - operation.keeps
    return _OfBlock(operations, frozenset(live), frozenset(made))


def _before(operation: Operation, live: set[int]) -> None:
    live -= operation.writes - operation.keeps
    live |= operation.reads
