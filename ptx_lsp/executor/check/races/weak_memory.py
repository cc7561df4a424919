"""Older values that loads may see where nothing orders the last write before them (PTX ISA, "Memory
Consistency Model").

1. A write of a thread becomes visible to all others after a delay, which is often none. Until then a load of
   a thread that the write does not happen before (`VectorClocks`) finds what was there before the write.
2. All others see it from the same moment on, so a load never sees something older than an earlier load that
   happens before it. Behaviours in which threads see two writes in different orders do not occur, nor loads
   that see a later write.
3. Atomic operations see the last write. Copies and mbarriers, too, and what they write is visible at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.concurrent_uses import Words, thread_of, time_of, use_words
from ptx_lsp.executor.check.races.happens_before import VectorClocks
from ptx_lsp.executor.instructions.access import Load, Store
from ptx_lsp.executor.instructions.atomic import Atomic
from ptx_lsp.executor.machine.address_resolution import Resolved, ResolvedAddress
from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.memory import Bytes
from ptx_lsp.executor.machine.observer import MemoryEvent, Observer
from ptx_lsp.executor.machine.wave import Wave

_AT_ONCE = 0.5
_LONGEST = 256  # less than what looks like a livelock


@dataclass(eq=False)
class _Hidden:
    """For each byte of a memory the value before the last write, who wrote it and when, and until when it is
    hidden.
    """

    before: Bytes
    writes: Words
    until: npt.NDArray[np.int64]


class WeakMemory(Observer):
    """See above. Gives `Spaces` the values."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._order: VectorClocks | None = None
        self._shared: WeakKeyDictionary[Wave, _Hidden] = WeakKeyDictionary()
        self._global: dict[int, _Hidden] = {}
        self._loads: list[tuple[MemoryEvent, _Hidden | None, Bools | None]] = []
        """The loads of the present step, with the bytes that are hidden from each lane."""

    def follow(self, order: VectorClocks) -> None:
        """The order of the launch."""
        self._order = order

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        self._loads = []

    def accessed(self, wave: Wave, step: Step, access: MemoryEvent) -> None:
        if isinstance(step.action, Load):
            hidden = self._of(wave, access, made=False)
            bytes_hidden = None if hidden is None else self._hidden(wave, access, hidden)
            self._loads.append((access, hidden, bytes_hidden))
        elif isinstance(step.action, Store | Atomic) and access.use in ("write", "update"):
            hidden = self._of(wave, access, made=True)
            if hidden is not None:
                self._hide(wave, access, hidden)

    def stale(self, access: MemoryEvent) -> Bools | None:
        """The lanes of a load that see something older; None for none."""
        for event, _, bytes_hidden in self._loads:
            if event is access and bytes_hidden is not None:
                return np.asarray(bytes_hidden.any(axis=1), np.bool_)
        return None

    def older(self, wave: Wave, found: Resolved) -> Resolved:
        result: Resolved = []
        for (place, part), (access, hidden, bytes_hidden) in zip(found, self._loads, strict=False):
            changed = place
            if hidden is not None and bytes_hidden is not None and access.lanes.size == place.offsets.size:
                at = access.offsets[:, None] + np.arange(access.size)
                values = np.where(bytes_hidden, hidden.before[at], access.data[at])
                offsets = np.arange(access.lanes.size, dtype=np.uint64) * np.uint64(access.size)
                offsets = offsets.reshape(place.offsets.shape)
                changed = ResolvedAddress(values.reshape(-1), offsets, place.space, place.buffer)
            result.append((changed, part))
        return result if len(result) == len(found) else found

    def _of(self, wave: Wave, access: MemoryEvent, *, made: bool) -> _Hidden | None:
        if access.space == ".shared":
            found = self._shared.get(wave)
        elif access.buffer is not None:
            found = self._global.get(access.buffer.base)
        else:
            return None
        if found is None and made:
            size = access.data.size
            found = _Hidden(np.zeros(size, np.uint8), np.zeros(size, np.int64), np.zeros(size, np.int64))
            if access.buffer is None:
                self._shared[wave] = found
            else:
                self._global[access.buffer.base] = found
        return found

    def _hidden(self, wave: Wave, access: MemoryEvent, hidden: _Hidden) -> Bools | None:
        """The bytes that are hidden from the lanes of a load; None for none."""
        assert self._order is not None
        at = access.offsets[:, None] + np.arange(access.size)
        late = hidden.until[at] > self._order.now
        if not late.any():
            return None
        rows, columns = np.nonzero(late)
        words = hidden.writes[at[rows, columns]]
        threads = self._order.threads(wave, access.lanes)[rows]
        late[rows, columns] = ~self._order.happens_before(threads, thread_of(words), time_of(words))
        return late if late.any() else None

    def _hide(self, wave: Wave, access: MemoryEvent, hidden: _Hidden) -> None:
        assert self._order is not None
        now, random = self._order.now, self._random
        at = access.offsets[:, None] + np.arange(access.size)
        hidden.before[at] = access.data[at]
        words = use_words(self._order.threads(wave, access.lanes), now)
        hidden.writes[at] = words[:, None]
        hidden.until[at] = 0 if random.random() < _AT_ONCE else now + random.randrange(1, _LONGEST)
