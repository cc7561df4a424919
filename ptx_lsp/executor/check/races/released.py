"""The knowledge released at locations, by scope (PTX ISA, "Memory Consistency Model").

1. Of each location the latest time is kept that was released there for each column of knowledge
   (`VectorClocks`), once for each scope that the kernel uses: what a release gives to the threads of its
   scope it also gives to those of the smaller ones.
2. What was released for a scope holds for the group of its thread: the block, the cluster, all.
3. A location has the number of the first thread that has released there; a later release by another thread
   takes its place only if it does not continue the first one.
4. Where several groups have released something for one scope at one location, it holds for all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.races.memory_order import Scope

Threads = npt.NDArray[np.int64]
"""Threads of a launch, by number: block by block, whole warps each."""
Times = npt.NDArray[np.int32]

_MOST_RELEASED = 1 << 24
_NO_GROUP = np.iinfo(np.int64).max


class _Rows:
    """What was released for one scope, by number of the location."""

    def __init__(self, columns: int) -> None:
        self.rows: Times = np.zeros((1, columns), np.int32)
        self.lowest: Threads = np.full(1, _NO_GROUP)
        self.highest: Threads = np.full(1, -1, np.int64)
        """The groups of which threads have released something there."""

    def grow(self, more: int) -> None:
        self.rows = np.pad(self.rows, ((0, more), (0, 0)))
        self.lowest = np.pad(self.lowest, (0, more), constant_values=_NO_GROUP)
        self.highest = np.pad(self.highest, (0, more), constant_values=-1)


class Released:
    """The released knowledge, by number of the location; number 0 is none."""

    def __init__(self, columns: int, scopes: Sequence[Scope]) -> None:
        self._of = {scope: _Rows(columns) for scope in scopes}
        self._size = self._count = 1
        self._most = max(2, _MOST_RELEASED // columns)
        self._first: Threads = np.full(1, -1, np.int64)

    def widen(self, more: int) -> None:
        """More columns."""
        for one in self._of.values():
            one.rows = np.pad(one.rows, ((0, 0), (0, more)))

    def numbered(self, locations: Times, wanted: Bools) -> Times:
        """The locations with numbers for those wanted that have none; past the limit one for all."""
        locations = locations.copy()
        new = wanted & (locations == 0)
        count = int(new.sum())
        locations[new] = np.minimum(self._count + np.arange(count), self._most - 1)
        self._count = min(self._count + count, self._most)
        if self._count > self._size:
            for one in self._of.values():
                one.grow(2 * self._count - self._size)
            self._first = np.pad(self._first, (0, 2 * self._count - self._size), constant_values=-1)
            self._size = 2 * self._count
        return locations

    def copied(self, locations: Times) -> Times:
        """New numbers for locations, with the same knowledge; past the limit the same."""
        at = np.flatnonzero((locations > 0) & (locations < self._most - 1))
        if not at.size or self._count + at.size >= self._most:
            return locations
        wanted = np.zeros(locations.shape, np.bool_)
        wanted[at] = True
        new = self.numbered(np.where(wanted, 0, locations), wanted)
        for one in self._of.values():
            one.rows[new[at]] = one.rows[locations[at]]
            one.lowest[new[at]] = one.lowest[locations[at]]
            one.highest[new[at]] = one.highest[locations[at]]
        self._first[new[at]] = self._first[locations[at]]
        return new

    def clear(self, locations: Times) -> None:
        """Clears the released knowledge of locations."""
        own = locations[(locations > 0) & (locations < self._most - 1)]
        if own.size:
            for one in self._of.values():
                one.rows[own] = 0
                one.lowest[own], one.highest[own] = _NO_GROUP, -1
            self._first[own] = -1

    def is_of(self, locations: Times, threads: Threads) -> Bools:
        """Whether the first release at locations is that of threads (item 3)."""
        return self._first[locations] == threads

    def sign(self, locations: Times, threads: Threads) -> None:
        """Threads have released at locations."""
        new = self._first[locations] < 0
        self._first[locations[new]] = threads[new]

    def give(self, scope: Scope, locations: Times, rows: Times, groups: Threads) -> None:
        """Threads of groups release their knowledge."""
        one = self._of[scope]
        raise_rows(one.rows, locations, rows)
        np.minimum.at(one.lowest, locations, groups)
        np.maximum.at(one.highest, locations, groups)

    def give_columns(self, locations: Times, columns: Threads, time: int | Times) -> None:
        """Releases single columns, for all threads."""
        for one in self._of.values():
            np.maximum.at(one.rows, (locations, columns), time)
            one.lowest[locations], one.highest[locations] = -1, _NO_GROUP

    def rows(self, scope: Scope, locations: Times) -> Times:
        return self._of[scope].rows[locations]

    def holds(self, scope: Scope, locations: Times, groups: Threads) -> Bools:
        """Whether threads of groups may take what was released for a scope."""
        one = self._of[scope]
        lowest, highest = one.lowest[locations], one.highest[locations]
        return (lowest != highest) | (lowest == groups)


def raise_rows(table: Times, places: npt.NDArray[np.integer], rows: Times) -> None:
    """Raises rows of a table to at least those given, several of which may be for one place."""
    each = np.unique(places)
    if each.size == places.size:
        table[places] = np.maximum(table[places], rows)
    elif each.size == 1:
        table[each[0]] = np.maximum(table[each[0]], rows.max(axis=0))
    else:
        np.maximum.at(table, places, rows)  # which takes several times as long
