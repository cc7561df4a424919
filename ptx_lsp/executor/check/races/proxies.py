"""Fences between proxies (PTX ISA, "Proxies").

1. What a thread has written is there for an asynchronous operation of another proxy if some thread has
   executed a fence between the two: the write happens before the fence, and the fence before the operation.
2. Of each thread the last few fences are kept. What a thread knew at a fence of its own block is exact;
   beyond that, what it knows now counts.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.races.happens_before import VectorClocks
from ptx_lsp.executor.check.races.memory_order import Proxy
from ptx_lsp.executor.check.races.released import Threads, Times

_KEPT = 4
_MOST_PAIRS = 1 << 20


class ProxyFences:
    """The fences of all threads between the generic proxy and others."""

    def __init__(self) -> None:
        self._times: dict[Proxy, list[Times]] = {}
        """The last fences of each thread, the newest first."""
        self._since: dict[Proxy, list[Times]] = {}
        """Up to when each thread knew its block then."""

    def fence(self, order: VectorClocks, threads: Threads, proxy: Proxy) -> None:
        if proxy not in self._times:
            self._times[proxy] = [np.zeros(order.thread_count, np.int32) for _ in range(_KEPT)]
            self._since[proxy] = [np.zeros(order.thread_count, np.int32) for _ in range(_KEPT)]
        for kept, new in (self._times, order.now), (self._since, order.since(threads)):
            rings = kept[proxy]
            for older, newer in zip(rings[:0:-1], rings[-2::-1], strict=True):
                older[threads] = newer[threads]
            rings[0][threads] = new

    def between(
        self, order: VectorClocks, writers: Threads, times: npt.NDArray[np.integer], users: Threads,
        proxy: Proxy,
    ) -> Bools:
        """For each write, whether a fence stands between it and the present of its user."""
        found = np.zeros(writers.shape, np.bool_)
        for fenced, since in zip(self._times.get(proxy, ()), self._since.get(proxy, ()), strict=True):
            found |= (fenced[writers] >= times) & order.happens_before(users, writers, fenced[writers])
            found |= self._fenced_by(order, users, fenced, since, writers, times)
        left = np.flatnonzero(~found)
        if not left.size or proxy not in self._times:
            return found
        fencing = np.flatnonzero(self._times[proxy][0])
        if fencing.size * left.size > _MOST_PAIRS:
            found[left] = True  # rather none than a wrong one
            return found
        who, which = np.repeat(fencing, left.size), np.tile(left, fencing.size)
        for fenced, since in zip(self._times[proxy], self._since[proxy], strict=True):
            good = self._fenced_by(order, who, fenced, since, writers[which], times[which])
            good &= order.happens_before(users[which], who, fenced[who])
            found[which[good]] = True
        return found

    def _fenced_by(
        self, order: VectorClocks, who: Threads, fenced: Times, since: Times, writers: Threads,
        times: npt.NDArray[np.integer],
    ) -> Bools:
        """Whether the writes happen before the fences of these threads."""
        return (fenced[who] >= times) & order.happens_before(who, writers, times, since[who])
