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
   Atomic operations continue the release sequence, even those of one instruction, in thread order, and so do
   strong writes of the thread that has released. Fences and accesses hold for the threads of their scope
   (`released.py`).
   A `fence.sc` comes before or after every other one whose scope includes its thread, which counts where
   `sequential` is asked for.
4. The effects of a thread's asynchronous operations are named by the time at which they began. They happen
   before the acts of threads that know them: the thread itself after it has waited for its group, and threads
   that acquire from the mbarrier on which the operation completes. Here, blocks are tracked as a whole.
5. If exact tracking would need too much memory, a thread that acquires from another knows everything that the
   other's block has done. An order may then be assumed that does not exist, never the reverse.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ptx_lsp.executor.check.races.knowledge import READ, TENSOR, WRITE, Knowledge
from ptx_lsp.executor.check.races.memory_order import CLUSTER, GPU, Scope
from ptx_lsp.executor.check.races.released import Released, Threads, Times, raise_rows
from ptx_lsp.executor.machine.launch_config import LaunchConfig

_CLUSTER = -1


class VectorClocks(Knowledge):
    """The vector clocks of all threads of a launch."""

    def __init__(
        self, shape: LaunchConfig, scopes: Collection[Scope] = (), *, sequential: bool = False
    ) -> None:
        """`scopes` are those of fences and strong accesses. `sequential`: the order of `fence.sc` counts."""
        super().__init__(shape)
        self._scopes = sorted({GPU, *scopes})
        self._pending: dict[Scope, Times] = {}
        """What strong reads found, until a fence of a scope."""
        self._fenced: dict[Scope, Times] = {
            scope: np.zeros(self._threads, np.int32) for scope in self._scopes
        }
        """When a thread has had its last fence of a scope or a larger one."""
        self._sequential: dict[tuple[Scope, int], Times] | None = {} if sequential else None
        """What the last `fence.sc` of a scope has handed on, by the group of its thread."""
        self._released = Released(self._columns, self._scopes)

    def _widen(self, more: int) -> None:
        self._released.widen(more)
        self._pending = {scope: np.pad(one, ((0, 0), (0, more))) for scope, one in self._pending.items()}
        if self._sequential is not None:
            self._sequential = {key: np.pad(row, (0, more)) for key, row in self._sequential.items()}

    def complete_at(
        self, threads: Threads, time: int, locations: Times, places: Threads, *, is_commit: bool = False
    ) -> Times:
        """Copies of threads, or what they have committed, are complete, and release to `locations[places]`.
        A commit also releases the copies that its thread knows to be complete. Returns the current numbers of
        these locations.
        """
        wanted = np.zeros(locations.shape, np.bool_)
        wanted[places] = True
        locations = self._released.numbered(locations, wanted)
        for kind in (READ, TENSOR) if is_commit else (READ, WRITE):
            columns = self._column(threads + self._threads * kind)
            self._released.give_columns(locations[places], columns, time)
        if is_commit and self._known is not None:
            columns = np.arange(self._own_columns, self._columns)[:, None]
            self._released.give_columns(locations[places], columns, self._known[threads, columns])
        return locations

    def arrive(self, threads: Threads, barrier: int = _CLUSTER, *, relaxed: bool = False) -> None:
        """Threads arrive at a barrier, or that of the cluster, without waiting."""
        arrived = self._arrived.setdefault(barrier, np.zeros(self._threads, np.int32))
        fenced = self._fenced[CLUSTER if CLUSTER in self._fenced else GPU]
        arrived[threads] = fenced[threads] if relaxed else self.now

    def fence(
        self, threads: Threads, *, acquires: bool = True, releases: bool = True, scope: Scope = GPU,
        sequential: bool = False,
    ) -> None:
        """Item 3; a fence of one or both kinds."""
        for one in self._scopes:
            if one > scope:
                break
            if acquires and one in self._pending:
                self._join(threads, self._pending[one][threads])
                self._pending[one][threads] = 0
            if sequential and self._sequential is not None:
                self._in_order(self._sequential, one, threads)
            if releases:
                self._fenced[one][threads] = self.now

    def _in_order(
        self, before: dict[tuple[Scope, int], Times], scope: Scope, threads: Threads
    ) -> None:
        groups = self._group(scope, threads)
        for group in np.unique(groups).tolist():
            here = threads[groups == group]
            row = self._rows(here, np.full(here.shape, self.now, np.int32)).max(axis=0)
            last = before.get((scope, group))
            before[scope, group] = now = row if last is None else np.maximum(row, last)
            self._join(here, np.broadcast_to(now, (here.size, now.size)))

    def release(
        self, threads: Threads, locations: Times, places: Threads, *, fence: bool, update: bool,
        scope: Scope = GPU,
    ) -> Times:
        """A strong write of each thread to `locations[places]`; the numbers that `locations` have then.

        `fence`: it releases what was done before the last fence only. `update`: what was released there
        stays. So does what the same thread has released there.
        """
        if self._sequential is not None:  # loads may still see what was there before
            locations = self._released.copied(locations)
        writers = np.zeros(locations.shape, np.int64)
        writers[places] = threads
        if not update:
            self._released.clear(locations[~self._released.is_of(locations, writers)])
        signed = np.zeros(locations.shape, np.bool_)
        for one in self._scopes:
            if one > scope:
                break
            upto = self._fenced[one][threads] if fence else np.full(threads.shape, self.now, np.int32)
            gives = upto > 0
            if not gives.any():
                continue
            wanted = np.zeros(locations.shape, np.bool_)
            wanted[places[gives]] = True
            locations = self._released.numbered(locations, wanted)
            signed |= wanted
            giving = threads[gives]
            self._released.give(
                one, locations[places[gives]], self._rows(giving, upto[gives]), self._group(one, giving)
            )
        self._released.sign(locations[signed], writers[signed])
        return locations

    def gives(self, threads: Threads, *, fence: bool) -> bool:
        """Whether a strong write of these threads would release something."""
        return not fence or any(bool(one[threads].any()) for one in self._fenced.values())

    def acquire(
        self, threads: Threads, locations: Times, *, fence: bool, scope: Scope = GPU
    ) -> None:
        """A strong read of locations. `fence`: it takes effect at the next fence."""
        found = locations > 0
        if not found.any():
            return
        threads, locations = threads[found], locations[found]
        for one in self._scopes:
            if one > scope:
                break
            holds = self._released.holds(one, locations, self._group(one, threads))
            if not holds.any():
                continue
            rows = self._released.rows(one, locations[holds])
            if fence:
                if one not in self._pending:
                    self._pending[one] = np.zeros((self._threads, self._columns), np.int32)
                raise_rows(self._pending[one], threads[holds], rows)
            else:
                self._join(threads[holds], rows)
