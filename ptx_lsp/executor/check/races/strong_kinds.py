"""Strong accesses that are strong for each other (*morally strong*, PTX ISA, "Memory Consistency Model").

Two strong accesses of different threads are so if the scope of each has the other's thread, and if they
access the same bytes; elements of vectors are accesses of their own.
"""

from __future__ import annotations

from array import array

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.races.happens_before import VectorClocks
from ptx_lsp.executor.check.races.memory_order import GPU, Scope
from ptx_lsp.executor.check.races.released import Threads


class Accesses:
    """The lines of all accesses by their times, and the scopes and sizes of strong ones."""

    def __init__(self) -> None:
        self._lines = array("i")
        self._kinds = array("h")

    def note(self, time: int, line: int, kind: int = 0) -> None:
        missing = time + 1 - len(self._lines)
        if missing > 0:
            self._lines.extend([0] * missing)
            self._kinds.extend([0] * missing)
        self._lines[time] = line
        self._kinds[time] = max(self._kinds[time], kind)

    def lines(self, times: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
        return np.frombuffer(self._lines, np.int32)[times]

    def not_for_each_other(
        self, order: VectorClocks, kind: int, users: Threads, others: Threads, times: npt.NDArray[np.integer]
    ) -> Bools:
        """Whether strong accesses of a kind, and others at times, are not strong for each other."""
        kinds = np.frombuffer(self._kinds, np.int16)[times]
        scopes = np.minimum(kinds & 3, kind & 3)
        return (kinds >> 2 != kind >> 2) | (order.distance(users, others) > scopes)


def kind_of(scope: Scope, size: int) -> int:
    """The number of strong accesses of a scope and size."""
    return size << 2 | scope


def may_differ(kinds: set[int]) -> bool:
    """Whether accesses of some of these kinds may not be strong for each other."""
    return len(kinds) > 1 or any(one & 3 != GPU for one in kinds)
