"""The happens-before relation: `Order` compared with textbook vector clocks, one per thread."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.races.happens_before import VectorClocks
from ptx_lsp.executor.check.races.knowledge import WRITE
from ptx_lsp.executor.machine.launch_config import LaunchConfig
from ptx_lsp.executor.machine.register_file import RegisterLayout
from ptx_lsp.executor.machine.wave import Wave
from tests.strength import seeds

BLOCKS, LANES = 3, 64
THREADS = BLOCKS * LANES
KNOWN = THREADS + 2 * BLOCKS
"""Of copies it is known what each block reads and writes by them."""
Clock = list[int]


class Reference:
    """Each thread's clock has, for each other thread, the time up to which it knows that thread."""

    def __init__(self) -> None:
        self.clocks: list[Clock] = [[0] * KNOWN for _ in range(THREADS)]
        self.pending: list[Clock] = [[0] * KNOWN for _ in range(THREADS)]
        self.fenced = [0] * THREADS
        self.released: dict[int, Clock] = {}
        self.first: dict[int, int] = {}
        """Who was the first to release there: its later writes continue that."""

    def full(self, thread: int, now: int) -> Clock:
        clock = list(self.clocks[thread])
        clock[thread] = now
        return clock

    def meet(self, arrived: list[int], released: list[int], now: int) -> None:
        together = [0] * KNOWN
        for thread in arrived:
            together = _most(together, self.full(thread, now))
        for thread in released:
            self.clocks[thread] = _most(self.clocks[thread], together)

    def fence(self, thread: int, now: int, *, acquires: bool, releases: bool) -> None:
        if releases:
            self.fenced[thread] = now
        if acquires:
            self.clocks[thread] = _most(self.clocks[thread], self.pending[thread])
            self.pending[thread] = [0] * KNOWN

    def complete(self, thread: int, time: int, kinds: tuple[int, ...], into: Clock) -> None:
        for kind in kinds:
            at = THREADS + kind * BLOCKS + thread // LANES
            into[at] = max(into[at], time)

    def release(self, thread: int, place: int, now: int, *, fence: bool, update: bool) -> None:
        if not update and self.first.get(place) != thread:
            self.released.pop(place, None)
            self.first.pop(place, None)
        upto = self.fenced[thread] if fence else now
        if upto:
            before = self.released.get(place, [0] * KNOWN)
            self.released[place] = _most(before, self.full(thread, upto))
            self.first.setdefault(place, thread)

    def acquire(self, thread: int, place: int, *, fence: bool) -> None:
        if place in self.released:
            into = self.pending if fence else self.clocks
            into[thread] = _most(into[thread], self.released[place])

    def knows(self, thread: int, other: int, time: int) -> bool:
        return thread == other or self.clocks[thread][other] >= time


def _most(a: Clock, b: Clock) -> Clock:
    return [max(x, y) for x, y in zip(a, b, strict=True)]


def column(number: int) -> int:
    """Where a clock has what a thread does, or what its copies write or read."""
    kind, thread = divmod(number, THREADS)
    return thread if kind == 0 else THREADS + (kind - 1) * BLOCKS + thread // LANES


def mask(threads: list[int]) -> Bools:
    found = np.zeros((BLOCKS, LANES), np.bool_)
    found.reshape(-1)[threads] = True
    return found


@pytest.mark.parametrize("seed", seeds(6, 20))
def test_vector_clocks(seed: int) -> None:
    random = Random(seed)
    shape = LaunchConfig((BLOCKS, 1, 1), (LANES, 1, 1), 0, 0, 0)
    wave = Wave(shape, RegisterLayout(), np.arange(BLOCKS, dtype=np.uint32))
    order, reference = VectorClocks(shape), Reference()
    places: dict[int, int] = {}
    begun: list[tuple[int, int]] = []
    known = more = 0
    for _ in range(160):
        order.now += 1
        now = order.now
        block = random.randrange(BLOCKS)
        of_block = list(range(block * LANES, (block + 1) * LANES))
        thread, place = random.randrange(THREADS), random.randrange(3)
        numbers, at = np.array([thread]), np.zeros(1, np.int64)
        match random.randrange(13):
            case 0:
                order.barrier(wave, mask(of_block), mask(of_block))
                reference.meet(of_block, of_block, now)
            case 1:
                some = sorted(random.sample(of_block, random.randrange(2, 40)))
                released = some[: random.randrange(1, len(some))]
                order.barrier(wave, mask(some), mask(released))
                reference.meet(some, released, now)
            case 2 | 3:
                first = random.randrange(THREADS // 32) * 32
                some = sorted(random.sample(range(first, first + 32), random.randrange(1, 33)))
                order.warp(wave, mask(some), mask(some))
                reference.meet(some, some, now)
            case 4:
                acquires, releases = random.choice([(True, True), (True, False), (False, True)])
                order.fence(numbers, acquires=acquires, releases=releases)
                reference.fence(thread, now, acquires=acquires, releases=releases)
            case 5 | 6:
                fence, update = random.random() < 0.5, random.random() < 0.5
                thread = random.randrange(0, THREADS, 40)  # often the same one
                numbers = np.array([thread])
                before = np.array([places.get(place, 0)], np.int32)
                after = order.release(numbers, before, at, fence=fence, update=update)
                places[place] = int(after[0])
                reference.release(thread, place, now, fence=fence, update=update)
            case 7 if begun:
                thread, time = random.choice(begun)
                is_read = random.random() < 0.5
                order.complete(np.array([thread]), time, is_read=is_read)
                reference.complete(thread, time, (1,) if is_read else (0, 1), reference.clocks[thread])
            case 8 if begun:
                thread, time = random.choice(begun)
                before = np.array([places.get(place, 0)], np.int32)
                places[place] = int(order.complete_at(np.array([thread]), time, before, at)[0])
                released = reference.released.setdefault(place, [0] * KNOWN)
                reference.complete(thread, time, (0, 1), released)
            case 9:
                order.copies(numbers, WRITE)
                begun.append((thread, now))
            case _:
                fence = random.random() < 0.5
                order.acquire(numbers, np.array([places.get(place, 0)], np.int32), fence=fence)
                reference.acquire(thread, place, fence=fence)
        others = range(THREADS * 3 if begun else THREADS)
        pairs = [(random.randrange(THREADS), random.choice(others)) for _ in range(60)]
        times = [random.randrange(1, now + 1) for _ in pairs]
        found = order.happens_before(
            np.array([a for a, _ in pairs]), np.array([b for _, b in pairs]), np.array(times, np.int32)
        )
        want = [reference.knows(a, column(b), t) for (a, b), t in zip(pairs, times, strict=True)]
        # A release by a fence may be taken to give what its thread has learned since: never less.
        assert all(one or not two for one, two in zip(found.tolist(), want, strict=True))
        known += sum(want)
        more += np.count_nonzero(found) - sum(want)
    assert known > 100
    assert more <= known / 50
