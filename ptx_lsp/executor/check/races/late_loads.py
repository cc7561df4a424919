"""Loads that take place later than they stand, after accesses of their thread to other memory (*load
buffering*; PTX ISA, "Memory Consistency Model").

1. A load without `.acquire` may take place at any time until its thread
   - reads or writes a register that it loads, and so before anything that depends on it,
   - uses the same bytes again,
   - or does anything else than to compute, branch, or access memory without `.acquire` and `.release`.
2. It takes place at once, and again at the last moment for some of its lanes, which then have the last value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.races.memory_order import acquires, is_mbarrier, releases
from ptx_lsp.executor.instructions.access import Load, Store
from ptx_lsp.executor.instructions.atomic import Atomic
from ptx_lsp.executor.instructions.compute import Compute
from ptx_lsp.executor.instrumentation.usage import Usage
from ptx_lsp.executor.machine.control import Step, Transfer
from ptx_lsp.executor.machine.observer import MemoryEvent
from ptx_lsp.executor.machine.wave import Wave

_LATE = (0.0, 0.5)


class Settled(NamedTuple):
    """The lanes of a load that take place now: rows of its access."""

    usage: Usage
    event: MemoryEvent
    rows: Bools
    element: int


@dataclass(eq=False)
class _Late:
    """A load that is still to take place for some lanes of its wave."""

    action: Load
    usage: Usage
    events: Sequence[MemoryEvent]
    lanes: Bools

    @property
    def registers(self) -> set[int]:
        return {one for one in self.action.destinations if one is not None}


class LateLoads:
    """See above."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._late_share = random.choice(_LATE)
        self._coins = np.random.default_rng(random.getrandbits(64))
        self._late: WeakKeyDictionary[Wave, list[_Late]] = WeakKeyDictionary()
        self._now: tuple[Step, Usage] | None = None

    def begin(self, wave: Wave, events: Sequence[MemoryEvent]) -> None:
        """The present step is a load."""
        if self._now is None or self._random.random() >= self._late_share:
            return
        step, usage = self._now
        shared = [one for one in events if one.space == ".shared" or one.buffer is not None]
        if not isinstance(step.action, Load) or usage.match is None or acquires(usage) or not shared:
            return
        lanes = np.zeros(wave.shape[0] * wave.shape[1], np.bool_)
        for one in shared:
            lanes[one.lanes] = True
        lanes &= self._coins.random(lanes.size) < 0.5
        if lanes.any():
            self._late.setdefault(wave, []).append(_Late(step.action, usage, shared, lanes))

    def reach(self, wave: Wave, step: Step, usage: Usage, active: Bools) -> Iterator[Settled]:
        """Lanes will execute a step: the loads that take place before."""
        self._now = step, usage
        if wave not in self._late:
            return
        used = {one.number for one in (*usage.reads, *usage.writes)}
        is_free = _is_free(step, usage)
        for late in self._late[wave]:
            if not is_free or used & late.registers:
                yield from self._settle(wave, late, active.reshape(-1))
        self._clean(wave)

    def use(self, wave: Wave, event: MemoryEvent) -> Iterator[Settled]:
        """Lanes use memory: the loads of theirs from there that take place before."""
        if wave not in self._late:
            return
        for late in self._late[wave]:
            for other in late.events:
                if other is not event and other.data.ctypes.data == event.data.ctypes.data:
                    yield from self._settle(wave, late, _overlap(late.lanes.size, other, event))
        self._clean(wave)

    def _clean(self, wave: Wave) -> None:
        left = [one for one in self._late[wave] if one.lanes.any()]
        if left:
            self._late[wave] = left
        else:
            del self._late[wave]

    def _settle(self, wave: Wave, late: _Late, lanes: Bools) -> Iterator[Settled]:
        lanes = lanes & late.lanes
        if not lanes.any():
            return
        late.lanes &= ~lanes
        element = late.action.element
        for event in late.events:
            rows = lanes[event.lanes]
            at = event.offsets[rows][:, None] + np.arange(event.size)
            values = event.data[at].view(element)
            for column, number in enumerate(late.action.destinations):
                if number is not None:
                    result = np.array(wave.broadcast(wave.registers[number])).reshape(-1)
                    result[event.lanes[rows]] = values[:, column].astype(late.action.dtypes[number])
                    wave.registers[number] = result.reshape(wave.shape)
            if rows.any():
                yield Settled(late.usage, event, rows, element.itemsize)


def _is_free(step: Step, usage: Usage) -> bool:
    """Whether loads may take place after a step that does not use their registers."""
    if usage.match is None or is_mbarrier(usage):
        return False
    if isinstance(step.action, Load | Store | Atomic):
        return not (acquires(usage) or releases(usage))
    return isinstance(step.action, Compute | Transfer)


def _overlap(count: int, one: MemoryEvent, other: MemoryEvent) -> Bools:
    """The lanes that use a byte with both accesses."""
    first = np.full(count, -1, np.int64)
    first[one.lanes] = one.offsets
    there = first[other.lanes]
    found = np.zeros(count, np.bool_)
    found[other.lanes] = (
        (there >= 0) & (there < other.offsets + other.size) & (other.offsets < there + one.size)
    )
    return found
