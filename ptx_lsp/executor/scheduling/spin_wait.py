"""Thread groups that busy-wait on memory, such as on a lock or flag."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.machine.wave import Wave

_FEWEST = 32


@dataclass
class _SpinWait:
    """At one block: the lanes that have looked, those that did last, and how many are to do so next."""

    looked: Bools
    last: Bools
    count: int
    first: int = 0
    """The lane from which on they do."""


class SpinWaits:
    """The spin waits of a wave, by the blocks at which groups read memory."""

    def __init__(self, wave: Wave) -> None:
        self._wave = wave
        self._polls: dict[int, _SpinWait] = {}
        self._fresh: set[int] = set()
        """Blocks at which nobody has looked since `again`."""

    def has_looked(self, block: int, lanes: Bools) -> bool:
        """Whether lanes at a block have all looked since `again`."""
        poll = self._polls.get(block)
        return poll is not None and block not in self._fresh and not (lanes & ~poll.looked).any()

    @property
    def any_looked(self) -> bool:
        return len(self._fresh) < len(self._polls)

    def again(self) -> None:
        """Nobody else can go on: all may look again."""
        self._fresh.update(self._polls)

    def look(self, block: int, lanes: Bools) -> Bools:
        """Of the lanes at a block those that look now; the others count as if they had."""
        poll = self._polls.get(block)
        if poll is None:
            poll = self._polls[block] = _SpinWait(lanes, lanes, lanes.size)
            chosen = lanes
        else:
            self._adapt(poll, lanes)
            chosen = self._chosen(poll, lanes)
        poll.looked, poll.last = lanes, chosen
        self._fresh.discard(block)
        return chosen

    def _adapt(self, poll: _SpinWait, lanes: Bools) -> None:
        came, looked = int(np.count_nonzero(poll.last & lanes)), int(np.count_nonzero(poll.last))
        if 0 < came < looked:
            poll.count = max(_FEWEST, min(poll.count, looked) // 2)
        else:
            poll.count = min(2 * poll.count, lanes.size)

    def _chosen(self, poll: _SpinWait, lanes: Bools) -> Bools:
        there = np.flatnonzero(lanes)
        if there.size <= poll.count:
            return lanes
        start = int(np.searchsorted(there, poll.first))
        turn = np.take(there, np.arange(start, start + poll.count), mode="wrap")
        poll.first = int(turn[-1]) + 1
        chosen = np.zeros(lanes.shape, np.bool_)
        chosen.reshape(-1)[turn] = True
        return chosen
