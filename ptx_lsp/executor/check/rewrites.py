"""Threads that write the value that a byte already has.

1. Writes of one value to a byte, one after another, are one write by several threads, and it does not matter
   in which order they come.
2. Who reads the byte must come after one of them, its own counted: all others write the same.
3. Who writes something else must come after all of them.
4. Of very many pairs of threads at a byte it is taken for granted that they are in order.
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
Times = npt.NDArray[np.integer]

_MOST_PAIRS = 1 << 22
_MOST_KEPT = 1 << 22


class _Batch(NamedTuple):
    """The writes of one instruction, by cells in order."""

    cells: Cells
    threads: Threads
    time: int
    line: int


class Rewrites:
    """The rewrites of one memory, beside the last known write of each cell (`Shadow`)."""

    def __init__(self) -> None:
        self._batches: list[_Batch] = []
        self._kept = 0
        self._forgotten = 0
        """The time up to which writes are not kept any more."""

    def add(self, cells: Cells, threads: Threads, time: int, line: int) -> None:
        """Threads write the existing value to cells, or the value that others write at the same time."""
        order = np.argsort(cells, kind="stable")
        self._batches.append(_Batch(cells[order], threads[order], time, line))
        self._kept += cells.size
        while self._kept > _MOST_KEPT and len(self._batches) > 1:
            oldest = self._batches.pop(0)
            self._kept -= oldest.cells.size
            self._forgotten = oldest.time

    def refine(self, by: int) -> None:
        """Splits each cell into several."""
        parts = np.arange(by)
        self._batches = [
            one._replace(
                cells=(one.cells[:, None] * by + parts).reshape(-1), threads=np.repeat(one.threads, by)
            )
            for one in self._batches
        ]

    def known(self, order: VectorClocks, cells: Cells, users: Threads, since: Times) -> Bools:
        """Item 2: the users ordered after some write to their cells since a time."""
        found = self._own(cells, users, since) | (since <= self._forgotten)
        left = np.flatnonzero(~found)
        for one, first, counts in self._matches(cells[left], since[left]):
            if counts.sum() > _MOST_PAIRS:
                found[left[counts > 0]] = True
                continue
            at, writes = _pairs(first, counts)
            times = np.full(at.shape, one.time, np.int32)
            found[left[at[order.happens_before(users[left[at]], one.threads[writes], times)]]] = True
        return found

    def unknown(
        self, order: VectorClocks, cells: Cells, users: Threads, since: Times
    ) -> Iterator[tuple[Cells, Threads, int]]:
        """Item 3: the users not ordered after a write to their cells since a time (their indices in `cells`),
        the writer, and its line.
        """
        for one, first, counts in self._matches(cells, since):
            if counts.sum() <= _MOST_PAIRS:
                at, writes = _pairs(first, counts)
                astray = ~order.happens_before(
                    users[at], one.threads[writes], np.full(at.shape, one.time, np.int32)
                )
                if astray.any():
                    yield at[astray], one.threads[writes[astray]], one.line

    def _own(self, cells: Cells, users: Threads, since: Times) -> Bools:
        """Which users have written to their cells themselves."""
        found = np.zeros(cells.shape, np.bool_)
        for one in self._since(since):
            most = max(int(one.cells[-1]), int(cells.max())) + 1
            found |= np.isin(users * most + cells, one.threads * most + one.cells) & (since <= one.time)
        return found

    def _matches(self, cells: Cells, since: Times) -> Iterator[tuple[_Batch, Cells, Cells]]:
        """For each batch where the writes to each cell begin in it, and how many there are."""
        for one in self._since(since):
            first, last = (np.searchsorted(one.cells, cells, side) for side in ("left", "right"))
            counts = np.where(since <= one.time, last - first, 0)
            if counts.any():
                yield one, first, counts

    def _since(self, since: Times) -> Iterator[_Batch]:
        """The batches that came at one of these times or later."""
        for one in reversed(self._batches):
            if not since.size or one.time < since.min():
                return
            yield one


def _pairs(first: Cells, counts: Cells) -> tuple[Cells, Cells]:
    """The places in `first`, each as often as it counts, and with each another place from there on."""
    at = np.repeat(np.arange(counts.size), counts)
    return at, first[at] + np.arange(at.size) - np.repeat(np.cumsum(counts) - counts, counts)
