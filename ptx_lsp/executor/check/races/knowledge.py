"""The knowledge that each thread of a launch has of the others, see `happens_before.py`."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.races.memory_order import CLUSTER, CTA, GPU, Scope
from ptx_lsp.executor.check.races.released import Threads, Times, raise_rows
from ptx_lsp.executor.machine.launch_config import WARP_SIZE, LaunchConfig
from ptx_lsp.executor.machine.observer import CurrentStep
from ptx_lsp.executor.machine.wave import Wave

WRITE, READ, TENSOR = 1, 2, 3
"""Kinds of what asynchronous operations do, each known by itself: to memory, and to Tensor Memory."""
_MOST_KNOWN = 1 << 24
_CLUSTER = -1


class Knowledge:
    """The clocks of all threads, and how barriers join them."""

    def __init__(self, shape: LaunchConfig) -> None:
        self.now = 1
        self._shape = shape
        self._lanes = shape.lanes
        self._threads = shape.blocks * shape.lanes
        self._since: Times = np.zeros(self._threads, np.int32)
        """For each thread the time up to which it knows its whole block."""
        self._floors: WeakKeyDictionary[Wave, int] = WeakKeyDictionary()
        self._numbers: WeakKeyDictionary[Wave, Threads] = WeakKeyDictionary()
        self._lane: Threads = np.zeros(self._threads, np.int64)
        """The lane of each thread in its wave."""
        self._warps: Times | None = None
        """For each thread what it knows of the lanes of its warp."""
        self._known: Times | None = None
        """For each thread what it knows of all others (`_column`)."""
        self._arrived: dict[int, Times] = {}
        """By the number of a barrier, until when what each thread has done counts that arrived there."""
        sizes = (1, shape.lanes, self._threads)
        self._each = next(n for n in sizes if n == self._threads or self._threads ** 2 // n <= _MOST_KNOWN)
        """So many threads share a column of knowledge."""
        self._columns = -(-self._threads // self._each)
        self._own_columns = self._columns
        self._copying = shape.blocks if self._each < self._threads else 1
        """How many columns there are for each kind of what copies do, once there are any."""

    def threads(self, wave: Wave, lanes: npt.NDArray[np.int64]) -> Threads:
        """The numbers of threads, from flat lanes of a wave."""
        numbers = self._numbers.get(wave)
        if numbers is None:
            numbers = self._numbers[wave] = self._everybody(wave).reshape(-1)
            self._lane[numbers] = np.arange(numbers.size)
        return numbers if lanes is CurrentStep.of(wave).every_lane else numbers.take(lanes)

    def come_later(self, threads: Threads, others: Threads) -> Bools:
        """Whether threads come after others where one instruction makes them take turns."""
        return self._lane[self.thread(threads)] > self._lane[self.thread(others)]

    def floor(self, wave: Wave) -> int:
        """The time up to which all threads of a wave know what their own blocks have done."""
        return self._floors.get(wave, 0)

    def distance(self, threads: Threads, others: Threads) -> npt.NDArray[np.int64]:
        """The smallest scope that has both threads."""
        found = np.where(self._group(CLUSTER, threads) == self._group(CLUSTER, others), CLUSTER, GPU)
        return np.where(self._group(CTA, threads) == self._group(CTA, others), CTA, found)

    def _group(self, scope: Scope, threads: Threads) -> Threads:
        if scope == GPU:
            return np.zeros_like(threads)
        blocks = self.block(threads)
        return blocks if scope == CTA else self._shape.cluster_of(blocks)

    @property
    def thread_count(self) -> int:
        return self._threads

    def block(self, threads: Threads) -> Threads:
        return self.thread(threads) // self._lanes

    def thread(self, numbers: Threads) -> Threads:
        """The threads that began what `copies` has numbers for."""
        return numbers % self._threads

    def is_copy(self, numbers: Threads) -> Bools:
        return numbers >= self._threads

    def copies(self, threads: Threads, kind: int) -> Threads:
        """Indices of what asynchronous operations of threads do."""
        if self._columns == self._own_columns:
            more = TENSOR * self._copying
            self._columns += more
            self._known = None if self._known is None else np.pad(self._known, ((0, 0), (0, more)))
            self._widen(more)
        return threads + self._threads * kind

    def _widen(self, more: int) -> None:
        """There are more columns."""

    def complete(self, threads: Threads, time: int, *, is_read: bool) -> None:
        """Threads know that their copies from up to a time are complete, or have read their sources."""
        if self._known is None:
            self._known = np.zeros((self._threads, self._columns), np.int32)
        for kind in (READ,) if is_read else (READ, WRITE):
            columns = self._column(threads + self._threads * kind)
            np.maximum.at(self._known, (threads, columns), time)

    def _column(self, numbers: Threads) -> Threads:
        kind, threads = np.divmod(numbers, self._threads)
        blocks = threads // self._lanes if self._copying > 1 else 0
        return np.where(
            kind == 0, threads // self._each, self._own_columns + (kind - 1) * self._copying + blocks
        )

    def since(self, threads: Threads) -> Times:
        """The time up to which each thread knows its whole block."""
        return self._since[threads]

    def knows_in_block(
        self, threads: Threads, others: Threads, times: npt.NDArray[np.integer]
    ) -> Bools:
        """Whether a barrier of the block lies between what the others did and each thread's present."""
        return (threads // self._lanes == others // self._lanes) & (self._since[threads] >= times)

    def happens_before(
        self, threads: Threads, others: Threads, times: npt.NDArray[np.integer],
        since: Times | None = None,
    ) -> Bools:
        """Whether what the other thread did at a time happens before the present of each thread, or before
        the moment at which it knew its block up to `since`.
        """
        same_block = threads // self._lanes == others // self._lanes  # never that of a copy
        since = self._since[threads] if since is None else since
        found = (threads == others) | (same_block & (since >= times))
        if self._warps is not None:
            same_warp = threads // WARP_SIZE == others // WARP_SIZE
            found |= same_warp & (self._warps[threads, others % WARP_SIZE] >= times)
        if self._known is not None:
            found |= self._known[threads, self._column(others)] >= times
        return found

    def barrier(self, wave: Wave, arrived: Bools, released: Bools, number: int = 0) -> None:
        """Item 2: threads of each block synchronise."""
        everybody = self._everybody(wave)
        whole = np.logical_and(arrived == released, arrived == wave.live_mask()).all(axis=1)
        whole &= arrived.any(axis=1)
        if whole.any():
            rows = everybody[whole]
            if self._known is not None:
                known = self._known[rows]
                together = np.where(arrived[whole][:, :, None], known, 0).max(axis=1, keepdims=True)
                self._known[rows] = np.maximum(known, together)
            self._since[rows] = self.now
            if (whole | ~wave.live_mask().any(axis=1)).all():
                self._floors[wave] = self.now
        until = np.full(arrived.shape, self.now, np.int32)
        if number in self._arrived:
            until = np.where(released, until, self._arrived[number][everybody])
        for row in np.flatnonzero(arrived.any(axis=1) & ~whole):  # some of a block
            self._meet(everybody[row][arrived[row]], everybody[row][released[row]], until[row][arrived[row]])

    def cluster(self, wave: Wave, arrived: Bools, released: Bools) -> None:
        """Item 2: threads of each cluster synchronise."""
        everybody = self._everybody(wave)
        each = wave.launch.cluster_blocks
        for first in range(0, arrived.shape[0], each):
            rows = slice(first, first + each)
            if arrived[rows].any():
                came = everybody[rows][arrived[rows]]
                self._meet(came, everybody[rows][released[rows]], self._arrived[_CLUSTER][came])

    def warp(self, wave: Wave, arrived: Bools, released: Bools) -> None:
        """Item 2: threads of each warp synchronise."""
        if self._warps is None:
            self._warps = np.zeros((self._threads, WARP_SIZE), np.int32)
        came, went = arrived.reshape(-1, WARP_SIZE), released.reshape(-1, WARP_SIZE)
        everybody = self._everybody(wave).reshape(-1, WARP_SIZE)
        warps, since = self._warps[everybody], self._since[everybody]
        joined = np.where(came[:, :, None], warps, 0).max(axis=1)
        joined = np.where(came, self.now, joined)[:, None, :]
        self._warps[everybody] = np.where(went[:, :, None], np.maximum(warps, joined), warps)
        latest = np.where(came, since, 0).max(axis=1, keepdims=True)
        self._since[everybody] = np.where(went, np.maximum(since, latest), since)
        if self._known is not None:
            known = self._known[everybody]
            most = np.where(came[:, :, None], known, 0).max(axis=1, keepdims=True)
            self._known[everybody] = np.where(went[:, :, None], np.maximum(known, most), known)

    def _everybody(self, wave: Wave) -> Threads:
        """The numbers of the lanes of a wave."""
        return wave.blocks.astype(np.int64) * self._lanes + np.arange(self._lanes)

    def _meet(self, came: Threads, went: Threads, until: Times) -> None:
        came, until = came[until > 0], until[until > 0]
        if came.size and went.size:
            rows = self._rows(came, until).max(axis=0)
            self._join(went, np.broadcast_to(rows, (went.size, rows.size)))

    def _rows(self, threads: Threads, until: Times) -> Times:
        """All that threads know, themselves included, up to a time."""
        rows = np.zeros((threads.size, self._columns), np.int32)
        if self._known is not None:
            rows = self._known[threads]
        index = np.arange(threads.size)
        if self._each > 1:
            rows[index, threads // self._each] = until
            return rows
        blocks = index[:, None], (self.block(threads) * self._lanes)[:, None] + np.arange(self._lanes)
        rows[blocks] = np.maximum(rows[blocks], self._since[threads][:, None])
        if self._warps is not None:
            first = threads // WARP_SIZE * WARP_SIZE
            warps = index[:, None], first[:, None] + np.arange(WARP_SIZE)
            rows[warps] = np.maximum(rows[warps], self._warps[threads])
        rows[index, threads] = until
        return rows

    def _join(self, threads: Threads, rows: Times) -> None:
        """Joins the clock of each thread with a row of its own."""
        if self._known is None:
            self._known = np.zeros((self._threads, self._columns), np.int32)
        raise_rows(self._known, threads, rows)
