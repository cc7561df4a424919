"""The uses of one kind of the cells of a memory: all that may not be ordered with what comes.

1. Uses are put aside as they come, and those that all threads know before another use asks for them are
   dropped: reads between two barriers cost nothing else.
2. Else the last two uses of each cell stand in arrays. What they displace is kept in lists, unless its thread
   is the one that displaces it or that is known to have been ordered before it: a later use that is ordered
   after the new one is ordered after the old one, too.
3. Past a limit the oldest in the lists are forgotten; and if very many uses are aside, what they displace.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.races.happens_before import VectorClocks
from ptx_lsp.executor.check.races.released import Threads

Cells = npt.NDArray[np.int64]
Words = npt.NDArray[np.int64]
"""A time and a thread each (`use_words`); 0 for none."""

_MOST_ASIDE = 1 << 22
_MOST_KEPT = 1 << 21
_SHIFT = 32
_THREAD = (1 << _SHIFT) - 1


class Pairs(NamedTuple):
    """Uses that are not ordered: rows and columns of the cells that were asked for, and what is there."""

    rows: Cells
    columns: Cells
    others: Threads
    times: npt.NDArray[np.int64]


class ConcurrentUses:
    """See above."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._aside: list[tuple[Cells, Threads, int]] = []
        self._size_aside = 0
        self._last: Words | None = None
        self._earlier: Words | None = None
        self._more: list[tuple[Cells, Words]] = []
        self._more_size = self._newest_more = 0
        self._crowded: Bools | None = None
        """The cells that `_more` has something of."""
        self.newest = 0
        """The time of the last use."""

    def refine(self, by: int) -> None:
        """Splits each cell into several."""
        parts = np.arange(by)
        self._count *= by
        self._aside = [
            ((cells[:, :, None] * by + parts).reshape(len(cells), -1), threads, time)
            for cells, threads, time in self._aside
        ]
        self._size_aside *= by
        self._more_size *= by
        if self._last is not None and self._earlier is not None:
            self._last, self._earlier = np.repeat(self._last, by), np.repeat(self._earlier, by)
        self._more = [
            ((cells[:, None] * by + parts).reshape(-1), np.repeat(words, by)) for cells, words in self._more
        ]
        self._crowded = None if self._crowded is None else np.repeat(self._crowded, by)

    def add(self, order: VectorClocks, cells: Cells, threads: Threads, time: int) -> None:
        """Threads use a row of cells each."""
        self.newest = time
        self._aside.append((cells, threads, time))
        self._size_aside += cells.size
        if self._size_aside > _MOST_ASIDE:
            self._put_in(order, lists=False)

    def forget(self, floor: int) -> None:
        """All that comes is ordered after uses up to a time."""
        if self._aside and self._aside[0][2] <= floor:
            self._aside = [one for one in self._aside if one[2] > floor]
            self._size_aside = sum(one[0].size for one in self._aside)
        if self._more and self._newest_more <= floor:
            self._more = []
            self._more_size, self._crowded = 0, None

    def last(self, order: VectorClocks, cells: Cells) -> list[Words]:
        """The last two uses of cells."""
        if not self.newest:
            return []
        self._put_in(order)
        return [table[cells] for table in (self._last, self._earlier) if table is not None]

    def unordered(self, order: VectorClocks, cells: Cells, actors: Threads) -> Iterator[Pairs]:
        """The uses of these cells that do not happen before the present of the actors, one for each row."""
        self._put_in(order)
        for table in (self._last, self._earlier):
            if table is not None:
                words = table[cells]
                suspect = (words != 0) & (thread_of(words) != actors[:, None])
                if suspect.any():
                    rows, columns = np.nonzero(suspect)
                    yield from _astray(order, actors, rows, columns, words[rows, columns])
        if self._crowded is None or not (crowded := self._crowded[cells]).any():
            return
        rows, columns = np.nonzero(crowded)
        for found, words in self._listed(cells[rows, columns]):
            suspect = thread_of(words) != actors[rows[found]]
            found, words = found[suspect], words[suspect]
            yield from _astray(order, actors, rows[found], columns[found], words)

    def at(self, order: VectorClocks, cells: Cells) -> Iterator[tuple[Cells, Words]]:
        """The uses of these cells that are kept: indices in `cells`, and the use of each."""
        if not self.newest:
            return
        self._put_in(order)
        for table in (self._last, self._earlier):
            if table is not None:
                words = table[cells]
                found = np.flatnonzero(words)
                yield found, words[found]
        yield from self._listed(cells)

    def _listed(self, wanted: Cells) -> Iterator[tuple[Cells, Words]]:
        """The uses in the lists: indices in `wanted`, and the use of each."""
        by_cell = np.argsort(wanted, kind="stable")
        ordered = wanted[by_cell]
        for at, words in self._more:
            first, last = (np.searchsorted(ordered, at, side) for side in ("left", "right"))
            counts = last - first
            hit = np.flatnonzero(counts)
            if hit.size:
                index = np.repeat(hit, counts[hit])
                ends = np.cumsum(counts[hit])
                place = first[index] + np.arange(index.size) - np.repeat(ends - counts[hit], counts[hit])
                yield by_cell[place], words[index]

    def drop(self, cells: Cells) -> None:
        """A use that comes after all of these cells' has been looked at: they need not be kept."""
        if self._crowded is None or not self._crowded[cells].any():
            return
        gone = np.zeros(self._count, np.bool_)
        gone[cells] = True
        self._more = [
            (at[left], words[left]) for at, words in self._more if (left := ~gone[at]).any()
        ]
        self._more_size = sum(at.size for at, _ in self._more)
        self._crowded[cells] = False

    def _put_in(self, order: VectorClocks, *, lists: bool = True) -> None:
        """Item 2, for all that is aside; without `lists`, what is displaced is forgotten."""
        if not self._aside:
            return
        if self._last is None or self._earlier is None:
            self._last, self._earlier = np.zeros((2, self._count), np.int64)
        for cells, threads, time in self._aside:
            words = np.broadcast_to(use_words(threads, time)[:, None], cells.shape)
            before = self._last[cells]
            moved = (before != 0) & (thread_of(before) != threads[:, None])
            if moved.any():
                at = cells[moved]
                if lists:
                    self._keep(order, at, self._earlier[at], words[moved], before[moved])
                self._earlier[at] = before[moved]
            self._last[cells] = words
            lost = self._last[cells] != words  # several lanes use the same cell
            if lost.any():
                at, those = cells[lost], words[lost]
                if lists:
                    self._keep(order, at, self._earlier[at], those, those)
                self._earlier[at] = those
                lost = self._earlier[at] != those
                if lists:
                    self._list(at[lost], those[lost])
        self._aside = []
        self._size_aside = 0

    def _keep(self, order: VectorClocks, cells: Cells, old: Words, new: Words, other: Words) -> None:
        """Lists what is displaced, unless it is ordered before a use that stays."""
        users = thread_of(new)
        left = (old != 0) & (thread_of(old) != users) & (old != other)
        if left.any():
            at = np.flatnonzero(left)
            here = order.thread(users[at])
            known = order.knows_in_block(here, thread_of(old[at]), time_of(old[at]))
            at = at[~known]
            self._list(cells[at], old[at])

    def _list(self, cells: Cells, words: Words) -> None:
        if not cells.size:
            return
        if self._crowded is None:
            self._crowded = np.zeros(self._count, np.bool_)
        self._crowded[cells] = True
        self._more.append((cells, words))
        self._more_size += cells.size
        self._newest_more = max(self._newest_more, int(time_of(words).max()))
        while len(self._more) > 1 and self._more_size > _MOST_KEPT:
            self._more_size -= self._more.pop(0)[0].size


def use_words(threads: Threads, time: int) -> Words:
    """Uses of threads at a time, as words."""
    return threads + (time << _SHIFT)


def thread_of(words: Words) -> Threads:
    return words & _THREAD


def time_of(words: Words) -> npt.NDArray[np.int64]:
    return words >> _SHIFT


def _astray(
    order: VectorClocks, actors: Threads, rows: Cells, columns: Cells, words: Words
) -> Iterator[Pairs]:
    others, times = thread_of(words), time_of(words)
    known = order.happens_before(actors[rows], others, times)
    if not known.all():
        bad = ~known
        yield Pairs(rows[bad], columns[bad], others[bad], times[bad])
