"""The knowledge released at locations, and its scope (PTX ISA, "Memory Consistency Model").

1. Of each location the latest time is kept that was released there for each column of knowledge (`Order`).
2. A release of scope `.cta`, or by fences of that scope alone, holds for the block of its thread; and an
   acquire of that scope takes what its own block released.
3. Where several blocks have released something at one location, it holds for all.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools

Threads = npt.NDArray[np.int64]
"""Threads of a launch, by number: block by block, whole warps each."""
Times = npt.NDArray[np.int32]

_MOST_RELEASED = 1 << 24
_NO_BLOCK = np.iinfo(np.int64).max


class Released:
    """The released knowledge, by number of the location; number 0 is none."""

    def __init__(self, columns: int) -> None:
        self._rows: Times = np.zeros((1, columns), np.int32)
        self._lowest: Threads = np.full(1, _NO_BLOCK)
        self._highest: Threads = np.full(1, -1, np.int64)
        """The blocks of which threads have released something there."""
        self._is_wide: Bools = np.zeros(1, np.bool_)
        """Whether something was released for other blocks."""
        self._count = 1
        self._most = max(2, _MOST_RELEASED // columns)

    def widen(self, more: int) -> None:
        """More columns."""
        self._rows = np.pad(self._rows, ((0, 0), (0, more)))

    def numbered(self, locations: Times, wanted: Bools) -> Times:
        """The locations with numbers for those wanted that have none; past the limit one for all."""
        locations = locations.copy()
        new = wanted & (locations == 0)
        count = int(new.sum())
        locations[new] = np.minimum(self._count + np.arange(count), self._most - 1)
        self._count = min(self._count + count, self._most)
        missing = 2 * self._count - self._rows.shape[0]
        if self._count > self._rows.shape[0]:
            self._rows = np.pad(self._rows, ((0, missing), (0, 0)))
            self._lowest = np.pad(self._lowest, (0, missing), constant_values=_NO_BLOCK)
            self._highest = np.pad(self._highest, (0, missing), constant_values=-1)
            self._is_wide = np.pad(self._is_wide, (0, missing))
        return locations

    def clear(self, locations: Times) -> None:
        """Clears the released knowledge of locations."""
        own = locations[(locations > 0) & (locations < self._most - 1)]
        self._rows[own] = 0
        self._lowest[own], self._highest[own], self._is_wide[own] = _NO_BLOCK, -1, False

    def give(self, locations: Times, rows: Times, blocks: Threads, wide: Bools) -> None:
        """Threads of blocks release their knowledge."""
        raise_rows(self._rows, locations, rows)
        np.minimum.at(self._lowest, locations, blocks)
        np.maximum.at(self._highest, locations, blocks)
        np.logical_or.at(self._is_wide, locations, wide)

    def give_columns(self, locations: Times, columns: Threads, time: int) -> None:
        """Releases single columns, for all blocks."""
        np.maximum.at(self._rows, (locations, columns), time)
        self._lowest[locations], self._highest[locations] = -1, _NO_BLOCK

    def rows(self, locations: Times) -> Times:
        return self._rows[locations]

    def holds(self, locations: Times, blocks: Threads, *, near: bool) -> Bools:
        """Whether threads of blocks may take what was released; `near`: with an acquire of scope `.cta`."""
        lowest, highest = self._lowest[locations], self._highest[locations]
        found = (lowest != highest) | (lowest == blocks)
        return found if near else found | self._is_wide[locations]


def raise_rows(table: Times, places: npt.NDArray[np.integer], rows: Times) -> None:
    """Raises rows of a table to at least those given, several of which may be for one place."""
    each = np.unique(places)
    if each.size == places.size:
        table[places] = np.maximum(table[places], rows)
    elif each.size == 1:
        table[each[0]] = np.maximum(table[each[0]], rows.max(axis=0))
    else:
        np.maximum.at(table, places, rows)  # which takes several times as long
