"""The copies of a run that are kept, in the order of the moments at which they were made."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from ptx_lsp.debug.snapshot import Copier, Snapshot

_FEWEST = 3


class Copy(NamedTuple):
    """The state before an instruction, by its number less one, and how many characters were printed."""

    event: int
    snapshot: Snapshot
    printed: int


class Copies:
    """When copies need more memory than is granted, every other one is given up, but not the first, from
    which every later moment can be reached.
    """

    def __init__(self, copier: Copier, most_bytes: int) -> None:
        self._copier = copier
        self._kept: list[Copy] = []
        self.most_bytes = most_bytes

    @property
    def size(self) -> int:
        """The bytes that copies take."""
        return self._copier.size

    @property
    def start(self) -> int:
        """The number of the last instruction before all that can be reached."""
        return self._kept[0].event if self._kept else 0

    @property
    def last(self) -> int:
        """The position of the last copy; -1 if there are none."""
        return len(self._kept) - 1

    def before(self, event: int) -> int:
        """The position of the last copy from which the moment can be reached."""
        return max(0, bisect_right(self._kept, event - 1, key=_event) - 1)

    def at(self, position: int) -> Copy | None:
        """A copy; None if there are none."""
        return self._kept[position] if self._kept else None

    def restored(self, copy: Copy) -> object:
        """The state of a copy."""
        return self._copier.restore(copy.snapshot)

    def add(self, event: int, state: object, printed: int) -> None:
        """Copies a state, unless there is a copy of it."""
        at = bisect_right(self._kept, event, key=_event)
        if at and self._kept[at - 1].event == event:
            return
        self._kept.insert(at, Copy(event, self._copier.copy(state), printed))
        if self._copier.size > self.most_bytes and len(self._kept) > _FEWEST:
            self._keep(self._kept[:-1:2] + self._kept[-1:])

    def forget_from(self, event: int) -> None:
        """Forgets the copies of what comes from an instruction on."""
        self._keep([one for one in self._kept if one.event < event])

    def clear(self) -> None:
        """Forgets all copies."""
        self._keep([])

    def _keep(self, kept: list[Copy]) -> None:
        self._kept = kept
        self._copier.keep(one.snapshot for one in kept)


def _event(copy: Copy) -> int:
    return copy.event
