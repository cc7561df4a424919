"""An access to memory for race detection: cells of the shadow memory, and what is written to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.concurrent_uses import Cells
from ptx_lsp.executor.check.races.memory_order import Scope
from ptx_lsp.executor.check.races.released import Threads
from ptx_lsp.executor.check.shadow import Shadow
from ptx_lsp.executor.instructions.access import Store
from ptx_lsp.executor.instrumentation.usage import Usage
from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.memory import Bytes
from ptx_lsp.executor.machine.observer import MemoryEvent
from ptx_lsp.executor.machine.wave import Wave

_MOST_TURNS = 256
_PACKED = frozenset((".f16x2", ".bf16x2", ".e4m3x4", ".e5m2x4"))
"""The types of which each element is updated atomically by itself."""


@dataclass(frozen=True, eq=False)
class MemoryUse:
    """An access with its threads, or their copies (`Order.copies`): one row of cells each."""

    access: MemoryEvent
    threads: Threads
    actors: Threads
    """The threads whose knowledge counts."""
    cells: Cells
    shadow: Shadow
    writes: bool
    strong: bool
    scope: Scope
    elements: int
    """The bytes of what is accessed at once: those of an element of a vector."""
    same: Bools | None = None
    """The cells in which a weak write changes nothing that was written before; None for none."""

    @property
    def users(self) -> Threads:
        """The thread of each cell."""
        return np.broadcast_to(self.threads[:, None], self.cells.shape)

    @property
    def by_element(self) -> MemoryUse:
        """This use with a row for each element of vectors, and one cell in it: the first."""
        each = max(1, self.elements // self.shadow.granule)
        first = self.cells[:, ::each]
        threads = np.repeat(self.threads, first.shape[1])
        return replace(self, threads=threads, cells=first.reshape(-1, 1))


def element_size(usage: Usage, access: MemoryEvent) -> int:
    """The bytes of an element of what is accessed: of vectors and packed types."""
    count = 1
    for one in usage.modifiers:
        if one in (".v2", ".v4", ".v8"):
            count *= int(one[2:])
        elif one in _PACKED and access.use == "update":
            count *= int(one[-1])
    return access.size // count


def unchanged(wave: Wave, step: Step, use: MemoryUse) -> Bools | None:
    """The cells of a weak write that were written before and in which it changes nothing; None for none."""
    if use.shadow.write is None:
        return None
    written = use.shadow.write[use.cells] != 0
    found = alike(wave, step, use) if written.any() else None
    if found is None or not (found & written).any():
        return None
    return found & written


def alike(wave: Wave, step: Step, use: MemoryUse) -> Bools | None:
    """The cells that already have the value that lanes write; None if unknown."""
    values = _values(wave, step, use.access)
    if values is None:
        return None
    content = use.access.data[use.access.offsets[:, None] + np.arange(use.access.size)]
    return np.asarray((values == content).reshape(*use.cells.shape, -1).all(axis=2), np.bool_)


def _values(wave: Wave, step: Step, access: MemoryEvent) -> Bytes | None:
    """The bytes that each lane writes; None where they cannot be told."""
    if not isinstance(step.action, Store):
        return None
    elements = [
        np.ascontiguousarray(wave.broadcast(value).reshape(-1)[access.lanes])
        for value in step.action.values.run(wave.registers)
    ]
    return np.concatenate([one.view(np.uint8).reshape(access.lanes.size, -1) for one in elements], axis=1)


def turns(cells: Threads) -> Iterator[Threads]:
    """The indices of `cells`, split into turns without duplicate cells, first occurrences first. Past a
    limit, the rest comes at once, and twice, so that each is after all others.
    """
    order = np.argsort(cells, kind="stable")
    first = np.flatnonzero(np.diff(cells[order], prepend=-1))
    turn = np.arange(cells.size) - np.repeat(first, np.diff(first, append=cells.size))
    for number in range(min(int(turn.max(initial=-1)) + 1, _MOST_TURNS)):
        yield order[turn == number]
    left = order[turn >= _MOST_TURNS]
    if left.size:
        yield left
        yield left
