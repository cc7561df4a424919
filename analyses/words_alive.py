"""Which words are live at the beginning of each block: those that may still be read.

As liveness of registers (`liveness`), of the operations that are left. A word that is live where the
function is entered is read somewhere without a write before it on some way; it counts nowhere.
"""

from __future__ import annotations

from analyses.cfg import cfg
from analyses.words import Operation, words
from ptx_lsp.facts import fact
from ptx_lsp.model.function import Function


@fact
def words_alive(function: Function) -> tuple[frozenset[int], ...]:
    """For each block of `cfg`, the words that are live where it begins."""
    graph, left = cfg(function), words(function).operations
    alive: list[set[int]] = []
    made: list[set[int]] = []
    for block in graph.blocks:
        live: set[int] = set()
        written: set[int] = set()
        for number in reversed(block.steps):
            operation = left[number]
            if operation is not None:
                _before(operation, live)
                written |= operation.writes - operation.keeps
        alive.append(live)
        made.append(written)
    waiting = [block.number for block in graph.blocks]
    queued = set(waiting)
    while waiting:
        number = waiting.pop()
        queued.discard(number)
        known = alive[number]
        count = len(known)
        for target in graph.blocks[number].successors:
            known |= alive[target] - made[number]
        if len(known) > count:
            for source in graph.blocks[number].predecessors:
                if source not in queued:
                    queued.add(source)
                    waiting.append(source)
    at_entry = set(alive[0])
    return tuple(frozenset(live - at_entry) for live in alive)


def _before(operation: Operation, live: set[int]) -> None:
    live -= operation.writes - operation.keeps
    live |= operation.reads
