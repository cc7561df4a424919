"""The 16 barriers of a block, and the barrier of a cluster: the waiting threads, and their release.

1. Threads wait individually. A warp has arrived when all its threads that have not exited have, and then
   counts as 32 threads (PTX ISA, `barrier`).
2. A barrier without a count takes all warps of the block that have threads left; one with a count takes that
   many threads. If more arrive at once, the warps arrive in order.
3. Threads that arrive without waiting count in the same way, but do not contribute to a reduction.
4. A thread waits at the barrier of its cluster until each thread of the cluster that has not exited has
   arrived as often as itself. A thread that has not arrived since its last wait waits for itself: a deadlock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.machine.control import Barrier, ClusterBarrier, Step
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.machine.observer import Observer
from ptx_lsp.executor.machine.wave import Wave

Counts = npt.NDArray[np.int64]
_BARRIERS = 16
_Scalar = TypeVar("_Scalar", bound=np.generic)


@dataclass
class Party:
    """Threads that wait at one instruction; they continue at block `onward`."""

    step: Step
    onward: int
    lanes: Bools


class Gone(NamedTuple):
    """Threads that continue at block `onward`."""

    onward: int
    lanes: Bools | None


class Barriers:
    """The barriers of the blocks of a wave."""

    def __init__(self, wave: Wave, observer: Observer | None) -> None:
        self._wave = wave
        self._observer = observer
        self._meetings: dict[int, _Meeting] = {}

    def arrive(self, step: Step, barrier: Barrier, onward: int, mask: Bools | None) -> list[Gone]:
        """Lanes arrive at a barrier. Returns the released threads, these or others."""
        wave = self._wave
        if (
            mask is None and barrier.kind == ".sync" and barrier.number >= 0
            and not barrier.is_counted and barrier.number not in self._meetings
        ):
            self._tell(step, wave.exists, wave.exists, barrier.number)
            return [Gone(onward, None)]
        values = barrier.operands.run(wave.registers)
        counts = np.asarray(values[1], np.int64) if barrier.is_counted else np.zeros((1, 1), np.int64)
        votes = np.asarray(values[-1], np.bool_)
        full = wave.full_mask(mask)
        odd = full & (counts % WARP_SIZE != 0)
        if odd.any():
            message = f"the thread count of a barrier must be a multiple of {WARP_SIZE}"
            raise ExecutionError(message, "out-of-bounds", lanes=wave.thread_ids(odd))
        numbers = wave.broadcast(np.asarray(values[0], np.int64))
        found: list[Gone] = []
        for number in np.unique(numbers[full]).tolist():
            lanes = full & (numbers == number)
            if not 0 <= number < _BARRIERS:
                message = f"barrier {number} does not exist; the barriers are 0 to {_BARRIERS - 1}"
                raise ExecutionError(message, "out-of-bounds", lanes=wave.thread_ids(lanes))
            meeting = self._meetings.setdefault(number, _Meeting(wave))
            meeting.add(step, barrier, onward, lanes, counts, votes)
            if barrier.kind == ".arrive":
                found.append(Gone(onward, wave.normal(lanes)))
            found += self._released(number)
        return found

    def left(self) -> list[Gone]:
        """Threads have exited. Returns the threads that they release."""
        return [released for number in list(self._meetings) for released in self._released(number)]

    def waiting(self) -> list[tuple[str, Party]]:
        """All who wait, and at what."""
        return [
            (f"at barrier {number}, which {meeting.reached(party)} threads have reached", party)
            for number, meeting in self._meetings.items() for party in meeting.parties
        ]

    def _released(self, number: int) -> list[Gone]:
        meeting = self._meetings[number]
        found: list[Gone] = []
        while True:
            released, arrived = meeting.complete()
            if released is None:
                break
            if not released.any():
                continue
            step = meeting.parties[-1].step
            found += meeting.release(released)
            self._tell(step, arrived, released, number)
        if meeting.is_over:
            del self._meetings[number]
        return found

    def _tell(self, step: Step, arrived: Bools, released: Bools, number: int) -> None:
        if self._observer is not None:
            self._observer.met(self._wave, step, arrived, released, number)


class _Meeting:
    """One barrier of all blocks of a wave."""

    def __init__(self, wave: Wave) -> None:
        self._wave = wave
        self.parties: list[Party] = []
        self._arrivals: Counts = np.zeros(wave.shape, np.int64)
        """How often a lane has arrived while others of its warp have not."""
        self._arrived: Bools = np.zeros(wave.shape, np.bool_)
        self._counted: Counts = np.zeros(wave.shape[0], np.int64)
        """The threads of warps that have arrived, for each block."""
        self._wanted: Counts = np.zeros(wave.shape[0], np.int64)
        """The count that the instructions tell; 0 for all."""
        self._votes: Bools = np.zeros(wave.shape, np.bool_)

    @property
    def is_over(self) -> bool:
        return not (self.parties or self._arrivals.any() or self._counted.any())

    def add(
        self, step: Step, barrier: Barrier, onward: int, lanes: Bools, counts: Counts, votes: Bools
    ) -> None:
        wanted = np.where(lanes, counts, 0).max(axis=1)
        self._wanted = np.where(wanted > 0, wanted, self._wanted)
        if barrier.kind == ".arrive":
            self._arrivals += lanes
            self._arrived = self._arrived | lanes
            return
        self._votes = np.where(lanes, votes, self._votes)
        for party in self.parties:
            if (party.step, party.onward) == (step, onward):
                party.lanes = party.lanes | lanes
                return
        self.parties.append(Party(step, onward, lanes))

    def reached(self, party: Party) -> str:
        """How many threads have reached the barrier in the first block of these, of how many."""
        block = int(np.argmax(party.lanes.any(axis=1)))
        living = _warps(self._wave, self._wave.live_mask())[block]
        waits: Bools = np.logical_or.reduce([one.lanes for one in self.parties])
        waiting = _warps(self._wave, waits)[block]
        is_whole = waiting.any(axis=1) & ~(living & ~waiting).any(axis=1)
        counts = np.where(is_whole, WARP_SIZE, np.count_nonzero(waiting, axis=1))
        everyone = WARP_SIZE * int(np.count_nonzero(living.any(axis=1)))
        arrived = int(counts.sum() + self._counted[block] + np.count_nonzero(self._arrivals[block]))
        return f"{arrived} of {int(self._wanted[block]) or everyone}"

    def complete(self) -> tuple[Bools | None, Bools]:
        """The lanes that go on now, where the barrier of some block is complete, and all that made it so."""
        wave = self._wave
        living = _warps(wave, wave.live_mask())
        waits = np.zeros(wave.shape, np.bool_)
        for party in self.parties:
            waits = waits | party.lanes
        waiting = _warps(wave, waits)
        arrived = waiting.any(axis=2) & ~(living & ~waiting).any(axis=2)
        self._count(living)
        places = self._counted.reshape(-1, 1) + WARP_SIZE * np.cumsum(arrived, axis=1)
        all_of_them = WARP_SIZE * np.count_nonzero(living.any(axis=2), axis=1)
        wanted = np.where(self._wanted > 0, self._wanted, all_of_them)
        done = (places[:, -1] >= wanted) & (places[:, -1] > 0)
        if not done.any():
            return None, waits
        chosen = arrived & done.reshape(-1, 1) & (places <= wanted.reshape(-1, 1))
        rest = wanted - WARP_SIZE * np.count_nonzero(chosen, axis=1)
        self._counted = np.where(done, np.maximum(self._counted - rest, 0), self._counted)
        released = np.repeat(chosen, WARP_SIZE, axis=1) & waits
        made = released | self._arrived & done.reshape(-1, 1)
        self._arrived = self._arrived & ~done.reshape(-1, 1)
        still = (waits & ~released).any(axis=1) | (self._counted > 0) | self._arrivals.any(axis=1)
        self._wanted = np.where(done & ~still, 0, self._wanted)
        return released, made

    def release(self, released: Bools) -> list[Gone]:
        """Lets lanes go, with the result of a reduction where they asked for one."""
        wave = self._wave
        holds = np.count_nonzero(self._votes & released, axis=1).reshape(-1, 1)
        members = np.count_nonzero(released, axis=1).reshape(-1, 1)
        found: list[Gone] = []
        for party in self.parties:
            lanes = party.lanes & released
            if not lanes.any():
                continue
            party.lanes = party.lanes & ~released
            barrier = party.step.action
            assert isinstance(barrier, Barrier)
            if barrier.destination is not None:
                dtype = wave.registers[barrier.destination].dtype
                results = {".popc": holds, ".and": holds == members, ".or": holds > 0}
                wave.write(barrier.destination, results[barrier.kind].astype(dtype), wave.normal(lanes))
            found.append(Gone(party.onward, wave.normal(lanes)))
        self.parties = [party for party in self.parties if party.lanes.any()]
        return found

    def _count(self, living: Bools) -> None:
        """Counts the warps of which all lanes that are left have arrived."""
        if not self._arrivals.any():
            return
        arrivals = _warps(self._wave, self._arrivals)
        fewest: Counts = np.where(living, arrivals, np.iinfo(np.int64).max).min(axis=2)
        least: Counts = np.where(living.any(axis=2), fewest, arrivals.max(axis=2))
        self._counted = self._counted + WARP_SIZE * least.sum(axis=1)
        left = np.maximum(arrivals - least[:, :, None], 0)
        self._arrivals = left.reshape(self._wave.shape)


class ClusterBarriers:
    """The cluster barriers of a wave."""

    def __init__(self, wave: Wave, observer: Observer | None) -> None:
        self._wave = wave
        self._observer = observer
        self._counts: tuple[Counts, Counts] | None = None
        """How often each thread has arrived and waited; None before any has."""
        self._parties: list[Party] = []

    def arrive(
        self, step: Step, barrier: ClusterBarrier, onward: int, mask: Bools | None
    ) -> list[Gone]:
        """Lanes arrive or wait. Returns the released threads."""
        wave = self._wave
        if self._counts is None:
            self._counts = np.zeros(wave.shape, np.int64), np.zeros(wave.shape, np.int64)
        arrivals, waits = self._counts
        if barrier.kind == ".arrive":
            arrivals += wave.full_mask(mask)
            return [Gone(onward, mask), *self.left()]
        missing = wave.full_mask(mask) & (arrivals <= waits)
        if missing.any():
            message = "threads wait at the cluster barrier without having arrived"
            raise ExecutionError(message, "deadlock", step.line, wave.thread_ids(missing))
        waits += wave.full_mask(mask)
        self._parties.append(Party(step, onward, wave.full_mask(mask)))
        return self.left()

    def left(self) -> list[Gone]:
        """Threads have exited. Returns the threads that they release."""
        if self._counts is None or not self._parties:
            return []
        wave, (arrivals, _) = self._wave, self._counts
        cluster = (-1, wave.launch.cluster_blocks * wave.shape[1])
        most = np.iinfo(np.int64).max
        least = np.where(wave.live_mask(), arrivals, most).reshape(cluster).min(axis=1, keepdims=True)
        free = (arrivals.reshape(cluster) <= least).reshape(wave.shape)
        found: list[Gone] = []
        step, everyone = self._parties[-1].step, np.zeros(wave.shape, np.bool_)
        for party in self._parties:
            lanes = party.lanes & free
            if lanes.any():
                party.lanes = party.lanes & ~free
                everyone = everyone | lanes
                found.append(Gone(party.onward, wave.normal(lanes)))
        self._parties = [party for party in self._parties if party.lanes.any()]
        if found and self._observer is not None:
            self._observer.met(wave, step, arrivals > 0, everyone, None)
        return found

    def waiting(self) -> list[tuple[str, Party]]:
        """All who wait, and at what."""
        return [
            (f"at the cluster barrier, which {self._absent(party)} threads have not reached", party)
            for party in self._parties
        ]

    def _absent(self, party: Party) -> int:
        """How many of the cluster of the first of these threads have not arrived as often as it has."""
        assert self._counts is not None
        arrivals, _ = self._counts
        first = np.unravel_index(np.argmax(party.lanes), party.lanes.shape)
        wave = self._wave
        rows = slice(int(first[0]) // wave.launch.cluster_blocks * wave.launch.cluster_blocks, None)
        late = (wave.live_mask() & (arrivals < arrivals[first]))[rows][: wave.launch.cluster_blocks]
        return int(np.count_nonzero(late))


def _warps(wave: Wave, lanes: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    """Blocks by warps by lanes."""
    return lanes.reshape(wave.shape[0], -1, WARP_SIZE)
