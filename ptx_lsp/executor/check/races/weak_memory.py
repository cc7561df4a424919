"""Values other than the last one that loads may see (PTX ISA, "Memory Consistency Model").

1. A write of a thread is *hidden* for a while, which is often none: a load of another thread then finds what
   was there before, or the write, each lane by chance. It finds the write where that happens before the load
   (`VectorClocks`), or where a load that has found it does: so no thread sees two values in the wrong order,
   and threads may see two writes in different orders.
2. A load may take place later than it stands (`LateLoads`).
3. Atomic operations see the last write. Copies and mbarriers, too, and what they write is visible at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.concurrent_uses import Cells, Words, thread_of, time_of, use_words
from ptx_lsp.executor.check.races.happens_before import VectorClocks
from ptx_lsp.executor.check.races.late_loads import LateLoads
from ptx_lsp.executor.check.races.released import Threads, Times
from ptx_lsp.executor.instructions.access import Load, Store
from ptx_lsp.executor.instructions.atomic import Atomic
from ptx_lsp.executor.machine.address_resolution import Resolved, ResolvedAddress
from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.memory import Bytes
from ptx_lsp.executor.machine.observer import MemoryEvent, Observer
from ptx_lsp.executor.machine.wave import Wave

_AT_ONCE = (0.0, 0.5)
_SEEN = (0.0, 0.5)
_LONGEST = 256  # less than what looks like a livelock
_MOST_PAIRS = 1 << 22


class _Seen(NamedTuple):
    """Threads that have read `size` bytes from an offset each, as last written."""

    offsets: Cells
    size: int
    threads: Threads
    time: int


@dataclass(eq=False)
class _Hidden:
    """For each byte of a memory the value before the last write, who wrote it and when, and until when it is
    hidden. `released` are the numbers of locations (`VectorClocks`) before the last write, -1 for the same.
    """

    before: Bytes
    writes: Words
    until: npt.NDArray[np.int64]
    released: Times
    seen: list[_Seen] = field(default_factory=list[_Seen])


class _Access(NamedTuple):
    """An access of the present step. For a load: the bytes that are hidden from each lane, None for none."""

    event: MemoryEvent
    hidden: _Hidden | None
    bytes_hidden: Bools | None


class WeakMemory(Observer):
    """See above. Gives `Spaces` the values."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._at_once, self._seen = random.choice(_AT_ONCE), random.choice(_SEEN)
        """How many writes are visible at once, and how many loads see a hidden one."""
        self._coins = np.random.default_rng(random.getrandbits(64))
        self._order: VectorClocks | None = None
        self._shared: WeakKeyDictionary[Wave, _Hidden] = WeakKeyDictionary()
        self._global: dict[int, _Hidden] = {}
        self._accesses: list[_Access] = []
        """Those of the present step."""
        self.late = LateLoads(random)

    @property
    def order(self) -> VectorClocks:
        """The order of the launch."""
        assert self._order is not None
        return self._order

    def follow(self, order: VectorClocks) -> None:
        """A launch begins, with its order."""
        self._order = order

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        self._accesses = []

    def accessed(self, wave: Wave, step: Step, access: MemoryEvent) -> None:
        if isinstance(step.action, Load):
            hidden = self._of(wave, access, made=False)
            element = step.action.element.itemsize
            bytes_hidden = None if hidden is None else self._hidden(wave, access, hidden, element)
            self._accesses.append(_Access(access, hidden, bytes_hidden))
        elif isinstance(step.action, Store | Atomic) and access.use in ("write", "update"):
            hidden = self._of(wave, access, made=True)
            if hidden is not None:
                self._hide(wave, access, hidden)
            self._accesses.append(_Access(access, hidden, None))

    def older(self, wave: Wave, found: Resolved) -> Resolved:
        self.late.begin(wave, [one.event for one in self._accesses])
        result: Resolved = []
        for (place, part), (access, hidden, bytes_hidden) in zip(found, self._accesses, strict=False):
            changed = place
            if hidden is not None and bytes_hidden is not None and access.lanes.size == place.offsets.size:
                at = access.offsets[:, None] + np.arange(access.size)
                values = np.where(bytes_hidden, hidden.before[at], access.data[at])
                offsets = np.arange(access.lanes.size, dtype=np.uint64) * np.uint64(access.size)
                offsets = offsets.reshape(place.offsets.shape)
                changed = ResolvedAddress(values.reshape(-1), offsets, place.space, place.buffer)
            result.append((changed, part))
        return result if len(result) == len(found) else found

    # -- releases -------------------------------------------------------------------------------

    def locations(self, access: MemoryEvent, unit: int, locations: Times) -> Times:
        """The numbers of the locations that a strong load reads, of so many bytes each: where it sees an
        older value, those before the last write.
        """
        found = self._noted(access)
        if found is None or found.hidden is None or found.bytes_hidden is None:
            return locations
        stale = found.bytes_hidden.reshape(access.lanes.size, -1, unit).any(axis=2).reshape(-1)
        at = (access.offsets[:, None] + np.arange(0, access.size, unit)).reshape(-1)
        before = found.hidden.released[at]
        return np.where(stale & (before >= 0), before, locations)

    def replaced(self, access: MemoryEvent, offsets: Cells, locations: Times) -> None:
        """A strong write gives locations other numbers than these."""
        found = self._noted(access)
        if found is not None and found.hidden is not None:
            found.hidden.released[offsets] = locations

    def _noted(self, access: MemoryEvent) -> _Access | None:
        return next((one for one in self._accesses if one.event is access), None)

    # -- hidden writes --------------------------------------------------------------------------

    def _of(self, wave: Wave, access: MemoryEvent, *, made: bool) -> _Hidden | None:
        if access.space == ".shared":
            found = self._shared.get(wave)
        elif access.buffer is not None:
            found = self._global.get(access.buffer.base)
        else:
            return None
        if found is None and made:
            size = access.data.size
            found = _Hidden(
                np.zeros(size, np.uint8), np.zeros(size, np.int64), np.zeros(size, np.int64),
                np.full(size, -1, np.int32),
            )
            if access.buffer is None:
                self._shared[wave] = found
            else:
                self._global[access.buffer.base] = found
        return found

    def _hidden(self, wave: Wave, access: MemoryEvent, hidden: _Hidden, element: int) -> Bools | None:
        """The bytes that are hidden from the lanes of a load; None for none."""
        at = access.offsets[:, None] + np.arange(access.size)
        late = hidden.until[at] > self.order.now
        if not late.any():
            return None
        rows, columns = np.nonzero(late)
        threads = self.order.threads(wave, access.lanes)
        bytes_late, users = at[rows, columns], threads[rows]
        words = hidden.writes[bytes_late]
        free = ~self.order.happens_before(users, thread_of(words), time_of(words))
        free[free] = ~self._is_seen(hidden, bytes_late[free], users[free], time_of(words[free]))
        coins = self._coins.random((access.lanes.size, access.size // element)) >= self._seen
        late[rows, columns] = free & np.repeat(coins, element, axis=1)[rows, columns]
        self._see(hidden, access, self.order.threads(wave, access.lanes), ~late, element)
        return late if late.any() else None

    def _is_seen(
        self, hidden: _Hidden, at: Cells, users: Threads, times: npt.NDArray[np.int64]
    ) -> Bools:
        """Whether a load that has found the last write of a byte happens before the present of its user."""
        found = np.zeros(at.shape, np.bool_)
        for seen in hidden.seen:
            if at.size * seen.offsets.size > _MOST_PAIRS:
                return np.ones(at.shape, np.bool_)
            behind = at[:, None] - seen.offsets
            mine, other = np.nonzero((behind >= 0) & (behind < seen.size) & (times[:, None] < seen.time))
            when = np.full(mine.shape, seen.time, np.int64)
            found[mine[self.order.happens_before(users[mine], seen.threads[other], when)]] = True
        return found

    def sees_last(self, wave: Wave, access: MemoryEvent, rows: Bools, element: int) -> None:
        """Some of the lanes of a load see the last write after all."""
        hidden = self._of(wave, access, made=False)
        if hidden is not None:
            found = np.repeat(rows[:, None], access.size, axis=1)
            self._see(hidden, access, self.order.threads(wave, access.lanes), found, element)

    def _see(
        self, hidden: _Hidden, access: MemoryEvent, threads: Threads, found: Bools, element: int
    ) -> None:
        """Threads see the last write of bytes."""
        now = self.order.now
        whole = found.reshape(access.lanes.size, -1, element).all(axis=2)
        offsets = access.offsets[:, None] + np.arange(0, access.size, element)
        seen = _Seen(offsets[whole], element, np.repeat(threads, whole.sum(axis=1)), now)
        hidden.seen = [*(one for one in hidden.seen if one.time + _LONGEST > now), seen]

    def _hide(self, wave: Wave, access: MemoryEvent, hidden: _Hidden) -> None:
        now, random = self.order.now, self._random
        at = access.offsets[:, None] + np.arange(access.size)
        hidden.before[at] = access.data[at]
        hidden.released[at] = -1
        words = use_words(self.order.threads(wave, access.lanes), now)
        hidden.writes[at] = words[:, None]
        hidden.until[at] = 0 if random.random() < self._at_once else now + random.randrange(1, _LONGEST)
