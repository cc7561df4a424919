"""Asynchronous operations in flight.

1. An operation takes place at the latest moment that the manual allows: when its thread waits for its group,
   or when a thread tests an mbarrier that it completes on; what nothing waits for, when all threads have
   ended. A kernel that does not wait therefore reads the old contents of memory. With `Wave.hastens` some
   take place earlier: at once, or at any moment until then. Observers learn when threads have waited.
2. Operations of a thread that take place together do so in the order in which they began.
3. A bulk copy reads its source when the thread waits with `.read`, or when it takes place.
4. An arrival by `cp.async.mbarrier.arrive` comes when the mbarrier is tested, or when the thread waits for
   the copies before it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from random import Random
from typing import Protocol

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.asynchronous.mbarrier import Barriers
from ptx_lsp.executor.instructions.threads import Indices
from ptx_lsp.executor.machine.wave import Wave, WaveState


class Transfer(Protocol):
    """The operations that an instruction has begun, one per thread (a row, see `threads`)."""

    def read(self, chosen: Bools) -> None:
        """Reads the sources of some of them."""
        ...

    def land(self, chosen: Bools) -> None:
        """Writes the data that was read, or the current source data; completes on the mbarriers."""
        ...


class Awaited(ABC):
    """A transfer that reports when threads have waited for it, whenever it took place."""

    @abstractmethod
    def waited(self, chosen: Bools, *, is_read: bool) -> None:
        """Threads have waited for some of them; with `is_read`, only until their sources were read."""


@dataclass(eq=False)
class _Entry:
    lanes: Indices
    groups: Indices
    transfer: Transfer
    barriers: Indices | None
    left: Bools
    """Which have not taken place."""
    unwaited: Bools


class Queue:
    """Operations in the order in which they began, and in groups where they are committed to some."""

    def __init__(self, wave: Wave) -> None:
        self._wave = wave
        self._entries: list[_Entry] = []
        self._committed = np.zeros(wave.shape[0] * wave.shape[1], np.int64)

    @property
    def any_left(self) -> bool:
        return any(entry.left.any() for entry in self._entries)

    def begin(
        self, lanes: Indices, transfer: Transfer, barriers: Indices | None = None
    ) -> None:
        """`barriers` are the positions of the mbarriers to complete on, see `Barriers`."""
        if not lanes.size:
            return
        every = np.ones(lanes.shape, np.bool_)
        self._entries.append(_Entry(lanes, self._committed[lanes], transfer, barriers, every, every))
        if self._wave.eager:
            self._advance(len(self._entries) - 1)

    def hasten(self, random: Random) -> None:
        """One of the operations takes place now."""
        if self._entries:
            self._advance(random.randrange(len(self._entries)))

    def _advance(self, number: int) -> None:
        """An operation takes place, with all earlier ones of the same threads."""
        entry = self._entries[number]
        for earlier in self._entries[:number]:
            _land(earlier, earlier.left & np.isin(earlier.lanes, entry.lanes))
        _land(entry, entry.left)
        self._clean()

    def commit(self, lanes: Indices) -> None:
        """Groups the operations that these threads have begun since their last group."""
        self._committed[lanes] += 1

    def wait(self, lanes: Indices, newest: int, *, only_read: bool = False) -> None:
        """Completes all but the newest groups of these threads."""
        first_left = np.zeros(self._committed.shape, np.int64)
        first_left[lanes] = self._committed[lanes] - newest
        for entry in self._entries:
            chosen = entry.unwaited & (entry.groups < first_left[entry.lanes])
            if not only_read:
                _complete(entry, chosen)
            elif chosen.any():
                if (unread := chosen & entry.left).any():
                    entry.transfer.read(unread)
                if isinstance(entry.transfer, Awaited):
                    entry.transfer.waited(chosen, is_read=True)
        self._clean()

    def wait_all(self, lanes: Indices | None = None) -> None:
        """Completes all operations of these threads (None: all threads), grouped or not."""
        for entry in self._entries:
            left = entry.unwaited
            _complete(entry, left if lanes is None else left & np.isin(entry.lanes, lanes))
        self._clean()

    def wait_barriers(self, at: Indices) -> None:
        """Completes the operations of these mbarriers, with all earlier ones of the same threads."""
        for number, entry in enumerate(self._entries):
            if entry.barriers is None:
                continue
            finished = entry.unwaited & np.isin(entry.barriers, at)
            if not finished.any():
                continue
            for earlier in self._entries[:number]:
                _complete(earlier, earlier.unwaited & np.isin(earlier.lanes, entry.lanes[finished]))
            _complete(entry, finished)
        self._clean()

    def _clean(self) -> None:
        self._entries = [entry for entry in self._entries if entry.unwaited.any()]


def _land(entry: _Entry, chosen: Bools) -> None:
    if chosen.any():
        entry.left = entry.left & ~chosen
        entry.transfer.land(chosen)


def _complete(entry: _Entry, chosen: Bools) -> None:
    """Threads have waited for operations, which take place now if they have not yet."""
    if chosen.any():
        _land(entry, entry.left & chosen)
        entry.unwaited = entry.unwaited & ~chosen
        if isinstance(entry.transfer, Awaited):
            entry.transfer.waited(chosen, is_read=False)


class Others(Protocol):
    """Operations in flight that are tracked elsewhere."""

    @property
    def any_left(self) -> bool: ...

    def hasten(self, random: Random) -> None: ...

    def complete(self) -> None: ...

    def wait_barriers(self, at: Indices) -> None: ...


class Pending(WaveState):
    """The operations in flight in a wave: `cp.async` copies, bulk groups, operations that complete on
    mbarriers, and those of other packages.
    """

    def __init__(self, wave: Wave) -> None:
        self.barriers = Barriers(wave)
        self.copies = Queue(wave)
        self.bulk = Queue(wave)
        self.on_mbarriers = Queue(wave)
        self._others: list[Others] = []
        self.is_impatient = False
        """Whether the next test of an mbarrier leaves operations under way that it could wait for."""

    def add(self, others: Others) -> None:
        """Tracks these operations, too."""
        self._others.append(others)

    @property
    def any_left(self) -> bool:
        return any(queue.any_left for queue in (*self._queues, *self._others))

    @property
    def _queues(self) -> tuple[Queue, ...]:
        return self.copies, self.bulk, self.on_mbarriers

    def hasten(self, random: Random) -> None:
        """Some of the operations take place now."""
        for queue in (*self._queues, *self._others):
            queue.hasten(random)

    def complete(self) -> None:
        """Completes everything, waited for or not."""
        for queue in self._queues:
            queue.wait_all()
        for others in self._others:
            others.complete()

    def wait_barriers(self, at: Indices) -> None:
        """Completes the operations that tested mbarriers wait for."""
        self.copies.wait_barriers(at)
        self.on_mbarriers.wait_barriers(at)
        for others in self._others:
            others.wait_barriers(at)


def pending(wave: Wave) -> Pending:
    """The pending operations of a wave."""
    return Pending.of(wave)
