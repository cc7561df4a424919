"""The happens-before relation: the acts of other threads that precede a thread's current one (PTX ISA,
"Memory Consistency Model").

1. Time is a counter of executed instructions; a thread's acts are named by it. What a thread *knows* of
   another is a time: the other's acts up to then happen before what the thread does now.
2. Barriers of a block, and `bar.warp.sync`: released threads know all that the arrived threads have done and
   know. A thread that arrives without waiting contributes its acts until then; with
   `barrier.cluster.arrive.relaxed`, only its acts before its last fence.
3. A release is a write with `.release` or `.acq_rel`, or a strong write after a fence, which releases what
   was done before the fence. An acquire is a read with `.acquire` or `.acq_rel`, or a strong read before a
   fence, which takes effect there. An acquire read of a location synchronises with the release writes to it.
   Atomic operations continue the release sequence, even those of one instruction, in thread order. Scopes:
   see `released.py`.
4. The effects of a thread's asynchronous operations are named by the time at which they began. They happen
   before the acts of threads that know them: the thread itself after it has waited for its group, and threads
   that acquire from the mbarrier on which the operation completes. Here, blocks are tracked as a whole.
5. If exact tracking would need too much memory, a thread that acquires from another knows everything that the
   other's block has done. An order may then be assumed that does not exist, never the reverse.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.races.released import Released, Threads, Times, raise_rows
from ptx_lsp.executor.machine.launch_config import WARP_SIZE, LaunchConfig
from ptx_lsp.executor.machine.wave import Wave

_WRITE, _READ = 1, 2
"""Kinds of what a copy does, each known by itself."""
_MOST_KNOWN = 1 << 24
_CLUSTER = -1


class VectorClocks:
    """The vector clocks of all threads of a launch."""

    def __init__(self, shape: LaunchConfig, *, has_near_fences: bool = False) -> None:
        """`has_near_fences`: whether there are fences of scope `.cta`."""
        self.now = 1
        self._lanes = shape.lanes
        self._threads = shape.blocks * shape.lanes
        self._since: Times = np.zeros(self._threads, np.int32)
        """For each thread the time up to which it knows its whole block."""
        self._warps: Times | None = None
        """For each thread what it knows of the lanes of its warp."""
        self._known: Times | None = None
        """For each thread what it knows of all others (`_column`)."""
        self._pending: Times | None = None
        """What strong reads found, until a fence."""
        self._near: Times | None = None
        """Of that, what a fence of scope `.cta` takes; None where there is none."""
        self._has_near_fences = has_near_fences
        self._fenced: Times = np.zeros(self._threads, np.int32)
        self._fenced_widely: Bools = np.zeros(self._threads, np.bool_)
        self._arrived: dict[int, Times] = {}
        """By the number of a barrier, until when what each thread has done counts that arrived there."""
        sizes = (1, shape.lanes, self._threads)
        self._each = next(n for n in sizes if n == self._threads or self._threads ** 2 // n <= _MOST_KNOWN)
        """So many threads share a column of knowledge."""
        self._columns = -(-self._threads // self._each)
        self._released = Released(self._columns)
        self._own_columns = self._columns
        self._copying = shape.blocks if self._each < self._threads else 1
        """How many columns there are for each kind of what copies do, once there are any."""

    def threads(self, wave: Wave, lanes: npt.NDArray[np.int64]) -> Threads:
        """The numbers of threads, from flat lanes of a wave."""
        rows, columns = np.divmod(lanes, self._lanes)
        return wave.blocks[rows, 0].astype(np.int64) * self._lanes + columns

    def block(self, threads: Threads) -> Threads:
        return self.thread(threads) // self._lanes

    def thread(self, numbers: Threads) -> Threads:
        """The threads that began what `copies` has numbers for."""
        return numbers % self._threads

    def is_copy(self, numbers: Threads) -> Bools:
        return numbers >= self._threads

    def copies(self, threads: Threads, *, writes: bool) -> Threads:
        """Indices of the data that asynchronous operations of threads write or read."""
        if self._columns == self._own_columns:
            more = ((0, 0), (0, 2 * self._copying))
            self._columns += 2 * self._copying
            self._released.widen(2 * self._copying)
            self._known = None if self._known is None else np.pad(self._known, more)
            self._pending = None if self._pending is None else np.pad(self._pending, more)
            self._near = None if self._near is None else np.pad(self._near, more)
        return threads + self._threads * (_WRITE if writes else _READ)

    def complete(self, threads: Threads, time: int, *, is_read: bool) -> None:
        """Threads know that their copies from up to a time are complete, or have read their sources."""
        if self._known is None:
            self._known = np.zeros((self._threads, self._columns), np.int32)
        for kind in (_READ,) if is_read else (_READ, _WRITE):
            columns = self._column(threads + self._threads * kind)
            np.maximum.at(self._known, (threads, columns), time)

    def complete_at(self, threads: Threads, time: int, locations: Times, places: Threads) -> Times:
        """Copies of threads are complete, and release to `locations[places]`. Returns the current numbers of
        these locations.
        """
        wanted = np.zeros(locations.shape, np.bool_)
        wanted[places] = True
        locations = self._released.numbered(locations, wanted)
        for kind in (_READ, _WRITE):
            columns = self._column(threads + self._threads * kind)
            self._released.give_columns(locations[places], columns, time)
        return locations

    def _column(self, numbers: Threads) -> Threads:
        kind, threads = np.divmod(numbers, self._threads)
        blocks = threads // self._lanes if self._copying > 1 else 0
        return np.where(
            kind == 0, threads // self._each, self._own_columns + (kind - 1) * self._copying + blocks
        )

    def happens_before(self, threads: Threads, others: Threads, times: Times) -> Bools:
        """Whether what the other thread did at a time happens before the present of each thread."""
        same_block = threads // self._lanes == others // self._lanes  # never that of a copy
        found = (threads == others) | (same_block & (self._since[threads] >= times))
        if self._warps is not None:
            same_warp = threads // WARP_SIZE == others // WARP_SIZE
            found |= same_warp & (self._warps[threads, others % WARP_SIZE] >= times)
        if self._known is not None:
            found |= self._known[threads, self._column(others)] >= times
        return found

    def arrive(self, threads: Threads, barrier: int = _CLUSTER, *, relaxed: bool = False) -> None:
        """Threads arrive at a barrier, or that of the cluster, without waiting."""
        arrived = self._arrived.setdefault(barrier, np.zeros(self._threads, np.int32))
        arrived[threads] = self._fenced[threads] if relaxed else self.now

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

    def fence(
        self, threads: Threads, *, acquires: bool = True, releases: bool = True, near: bool = False
    ) -> None:
        """Item 3; a fence of one or both kinds. `near`: of scope `.cta`."""
        if releases:
            self._fenced[threads] = self.now
            self._fenced_widely[threads] |= not near
        if acquires:
            for pending in (self._near,) if near else (self._pending, self._near):
                if pending is not None:
                    self._join(threads, pending[threads])
                    pending[threads] = 0

    def release(
        self, threads: Threads, locations: Times, places: Threads, *, fence: bool, update: bool,
        near: bool = False,
    ) -> Times:
        """A strong write of each thread to `locations[places]`; the numbers that `locations` have then.

        `fence`: it releases what was done before the last fence only. `update`: what was released there
        stays. `near`: its scope is `.cta`.
        """
        upto = self._fenced[threads] if fence else np.full(threads.shape, self.now, np.int32)
        if not update:
            self._released.clear(locations)
        gives = upto > 0
        if not gives.any():
            return locations
        wanted = np.zeros(locations.shape, np.bool_)
        wanted[places[gives]] = True
        locations = self._released.numbered(locations, wanted)
        threads = threads[gives]
        wide = self._fenced_widely[threads] if fence else np.ones(threads.shape, np.bool_)
        self._released.give(
            locations[places[gives]], self._rows(threads, upto[gives]), self.block(threads), wide & (not near)
        )
        return locations

    def gives(self, threads: Threads, *, fence: bool) -> bool:
        """Whether a strong write of these threads would release something."""
        return not fence or bool(self._fenced[threads].any())

    def acquire(self, threads: Threads, locations: Times, *, fence: bool, near: bool = False) -> None:
        """A strong read of locations. `fence`: it takes effect at the next fence. `near`: scope `.cta`."""
        finds = locations > 0
        finds[finds] = self._released.holds(locations[finds], self.block(threads[finds]), near=near)
        if not finds.any():
            return
        threads, locations = threads[finds], locations[finds]
        if not fence:
            self._join(threads, self._released.rows(locations))
            return
        self._pending = self._kept(self._pending, threads, locations)
        if self._has_near_fences:
            close = self._released.holds(locations, self.block(threads), near=True)
            self._near = self._kept(self._near, threads[close], locations[close])

    def _kept(self, pending: Times | None, threads: Threads, locations: Times) -> Times:
        if pending is None:
            pending = np.zeros((self._threads, self._columns), np.int32)
        raise_rows(pending, threads, self._released.rows(locations))
        return pending

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
