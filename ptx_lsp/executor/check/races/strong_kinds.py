"""Strong accesses that are strong for each other (*morally strong*, PTX ISA, "Memory Consistency Model").

Two strong accesses of different threads are so if the scope of each has the other's thread, and if they
access the same bytes; elements of vectors are accesses of their own.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.concurrent_uses import Cells, ConcurrentUses, thread_of, time_of
from ptx_lsp.executor.check.races.happens_before import VectorClocks
from ptx_lsp.executor.check.races.memory_order import GPU, Scope
from ptx_lsp.executor.check.races.released import Threads

_OBSERVES = 1 << 10


class Accesses:
    """The lines of all accesses by their times, and the scopes and sizes of strong ones."""

    def __init__(self) -> None:
        self._lines = array("i")
        self._kinds = array("h")

    def note(self, time: int, line: int, kind: int = 0, *, observes: bool = False) -> None:
        """An access at a time; `observes`: a strong one that reads, atomic operations included."""
        missing = time + 1 - len(self._lines)
        if missing > 0:
            self._lines.extend([0] * missing)
            self._kinds.extend([0] * missing)
        self._lines[time] = line
        self._kinds[time] = max(self._kinds[time], kind | _OBSERVES if observes else kind)

    def lines(self, times: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
        return np.frombuffer(self._lines, np.int32)[times]

    def not_for_each_other(
        self, order: VectorClocks, kind: int, users: Threads, others: Threads, times: npt.NDArray[np.integer]
    ) -> Bools:
        """Whether strong accesses of a kind, and others at times, are not strong for each other."""
        return _differ(order, np.frombuffer(self._kinds, np.int16)[times], kind, users, others)

    def observed(
        self, order: VectorClocks, uses: Sequence[ConcurrentUses], cells: Cells, users: Threads,
        writers: Threads, times: npt.NDArray[np.integer],
    ) -> Bools:
        """For each strong write to a cell, whether a strong read that happens before the present of its user
        has observed it, or a later value: the write then comes before all that the user does (*causality
        order*).
        """
        found = np.zeros(cells.shape, np.bool_)
        kinds = np.frombuffer(self._kinds, np.int16)
        for one in uses:
            for at, words in one.at(order, cells):
                readers, read = thread_of(words), time_of(words)
                after = read > times[at]
                after |= (read == times[at]) & order.come_later(readers, writers[at])
                after &= kinds[read] & _OBSERVES != 0
                at, readers, read = at[after], readers[after], read[after]
                good = order.happens_before(users[at], readers, read)
                good &= ~_differ(order, kinds[read], kinds[times[at]], readers, writers[at])
                found[at[good]] = True
        return found


def _differ(
    order: VectorClocks, kinds: npt.NDArray[np.int16], others: npt.NDArray[np.int16] | int,
    users: Threads, writers: Threads,
) -> Bools:
    sizes = (kinds ^ others) & ~_OBSERVES
    return (sizes >> 2 != 0) | (order.distance(users, writers) > np.minimum(kinds & 3, others & 3))


def kind_of(scope: Scope, size: int) -> int:
    """The number of strong accesses of a scope and size."""
    return size << 2 | scope


def may_differ(kinds: set[int]) -> bool:
    """Whether accesses of some of these kinds may not be strong for each other."""
    return len(kinds) > 1 or any(one & 3 != GPU for one in kinds)
