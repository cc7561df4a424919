"""The heap from which threads allocate memory.

Freed memory is used again only when the rest of the heap is used up, so that what uses it too late finds, for
long, what it left.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_ALIGNMENT = 16

Words = npt.NDArray[np.uint64]


class Heap:
    """`size` bytes of memory from `base` on."""

    def __init__(self, base: int, size: int) -> None:
        self.base = base
        self._size = size
        self._used = 0
        self._live: dict[int, int] = {}
        """The bytes of each allocation, as demanded."""
        self._freed: dict[int, int] = {}
        """Those of what has been given back and is not used again yet, in whole units."""
        self._index: tuple[Words, Words] | None = None
        """Where allocations begin and end, in order; None after a change."""

    @property
    def state(self) -> tuple[int, int, dict[int, int], dict[int, int]]:
        """Its size, the bytes that were ever used, and by address those of allocations and of freed memory.
        """
        return self._size, self._used, self._live, self._freed

    @classmethod
    def of(cls, base: int, size: int, used: int, live: dict[int, int], freed: dict[int, int]) -> Heap:
        """The heap with a `state`."""
        found = cls(base, size)
        found._used, found._live, found._freed = used, live, freed
        return found

    def reset(self) -> None:
        """Nothing is allocated."""
        self._used = 0
        self._index = None
        self._live.clear()
        self._freed.clear()

    def allocate(self, sizes: Words) -> Words:
        """Memory for each of so many bytes; its address, or 0 where there is none left."""
        self._index = None
        unit = np.uint64(_ALIGNMENT)
        demanded = np.minimum(sizes, np.uint64(self._size + 1))
        occupied = np.maximum((demanded + unit - np.uint64(1)) // unit, np.uint64(1)) * unit
        ends = np.cumsum(occupied) + np.uint64(self._used)
        if ends.size and int(ends[-1]) <= self._size:
            found = ends - occupied + np.uint64(self.base)
            self._used = int(ends[-1])
        else:
            found = np.array([self._allocate(size) for size in occupied.tolist()], np.uint64)
        self._live.update(zip(found.tolist(), demanded.tolist(), strict=True))
        self._live.pop(0, None)
        return found

    def outside(self, starts: Words, size: int) -> npt.NDArray[np.bool_]:
        """Which accesses of `size` bytes are not within one allocation."""
        if self._index is None:
            begin = np.array(sorted(self._live), np.uint64)
            length = np.array([self._live[one] for one in begin.tolist()], np.uint64)
            self._index = begin, begin + length
        begin, end = self._index
        if not begin.size:
            return np.ones(starts.shape, np.bool_)
        at = np.searchsorted(begin, starts, side="right")
        return (at == 0) | (starts + np.uint64(size) > end[at - 1])

    def is_freed(self, address: int) -> bool:
        return any(start <= address < start + length for start, length in self._freed.items())

    def _allocate(self, size: int) -> int:
        address = self._unused(size) or self._again(size)
        if not address and self._freed:
            self._join()
            address = self._unused(size) or self._again(size)
        return address

    def _unused(self, size: int) -> int:
        """Memory behind all allocations; 0 where there is not enough."""
        if self._used + size > self._size:
            return 0
        self._used += size
        return self.base + self._used - size

    def _again(self, size: int) -> int:
        """The first freed memory that is large enough; 0 if there is none."""
        for address, length in self._freed.items():
            if length >= size:
                del self._freed[address]
                if length > size:
                    self._freed[address + size] = length - size
                return address
        return 0

    def _join(self) -> None:
        """Joins neighbours; the last goes back to what is unused."""
        joined: list[tuple[int, int]] = []
        for start, length in sorted(self._freed.items()):
            if joined and sum(joined[-1]) == start:
                joined[-1] = joined[-1][0], joined[-1][1] + length
            else:
                joined.append((start, length))
        if joined and sum(joined[-1]) == self.base + self._used:
            self._used -= joined.pop()[1]
        self._freed = dict(joined)

    def free(self, address: int) -> str:
        """Gives memory back; why it cannot be, "" if it can."""
        if not address:
            return ""
        size = self._live.pop(address, None)
        if size is not None:
            self._index = None
            self._freed[address] = -(-max(size, 1) // _ALIGNMENT) * _ALIGNMENT
            return ""
        if address in self._freed:
            return f"the memory at {address:#x} is freed twice"
        for start, length in self._live.items():
            if start < address < start + length:
                return f"{address:#x} is freed, but the memory that `malloc` returned begins at {start:#x}"
        return f"{address:#x} is freed, but `malloc` has not returned it"
