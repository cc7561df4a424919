"""The users of each byte of a memory: shadow arrays with one cell per smallest access size."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.check.concurrent_uses import Cells, ConcurrentUses, Words
from ptx_lsp.executor.check.rewrites import Rewrites
from ptx_lsp.executor.machine.memory import Buffer
from ptx_lsp.executor.machine.observer import MemoryEvent
from ptx_lsp.executor.machine.wave import Wave

Numbers = npt.NDArray[np.int32]


class Shadow:
    """The shadow of a memory of `size` bytes.

    Of weak writes the last one is kept, as each follows all others or is in a race; of the rest all that are
    not ordered.
    """

    def __init__(self, size: int, granule: int) -> None:
        self._size = size
        self.granule = granule
        self.write: Words | None = None
        """The last weak write of each cell, see `use_words`."""
        self.newest_write = 0
        """The time of the last weak write anywhere."""
        self.reads = ConcurrentUses(self.count)
        self.strong_reads = ConcurrentUses(self.count)
        self.strong_writes = ConcurrentUses(self.count)
        self.strong_kinds: set[int] = set()
        """The kinds of strong accesses (`StrongKinds`)."""
        self.has_copies = False
        """Whether asynchronous copies use the memory."""
        self.rewrites: Rewrites | None = None
        """Writes of existing values; None while there are none."""
        self._locations: Numbers | None = None

    @property
    def count(self) -> int:
        return -(-self._size // self.granule)

    def cells(self, offsets: Cells, size: int) -> Cells:
        """The cells of accesses, a row for each; finer cells from now on where an access is smaller."""
        every = int(np.bitwise_or.reduce(offsets, initial=size))
        granule = min(every & -every, self.granule)
        if granule < self.granule:
            self._refine(self.granule // granule)
        if size == self.granule:
            return (offsets // size)[:, None]
        return offsets[:, None] // self.granule + np.arange(size // self.granule)

    def _refine(self, by: int) -> None:
        self.granule //= by
        self.write = None if self.write is None else np.repeat(self.write, by)
        for one in (self.reads, self.strong_reads, self.strong_writes):
            one.refine(by)
        if self._locations is not None:
            self._locations = np.repeat(self._locations, by)
        if self.rewrites is not None:
            self.rewrites.refine(by)

    def written(self) -> Words:
        """The last weak writes, to be changed."""
        if self.write is None:
            self.write = np.zeros(self.count, np.int64)
        return self.write

    def locations(self, cells: Cells) -> Numbers:
        """The numbers of locations (`VectorClocks`); 0 for none."""
        if self._locations is None:
            return np.zeros(cells.shape, np.int32)
        return self._locations[cells]

    def set_locations(self, cells: Cells, numbers: Numbers) -> None:
        if self._locations is None:
            if not numbers.any():
                return
            self._locations = np.zeros(self.count, np.int32)
        self._locations[cells] = numbers


class Shadows:
    """The shadows of the shared and global memory of a launch."""

    def __init__(self) -> None:
        self._shared: WeakKeyDictionary[Wave, Shadow] = WeakKeyDictionary()
        self._global: dict[int, tuple[Buffer, Shadow]] = {}

    def of(self, wave: Wave, access: MemoryEvent) -> Shadow | None:
        """The shadow of the memory of an access; None where threads share none that they can write."""
        if access.space == ".shared":
            return self.of_shared(wave, access.size & -access.size)
        if access.buffer is None or not access.data.flags.writeable:
            return None
        key = access.buffer.base
        if key not in self._global:
            shadow = Shadow(access.data.size, access.size & -access.size)
            self._global[key] = access.buffer, shadow
        return self._global[key][1]

    def of_shared(self, wave: Wave, granule: int) -> Shadow:
        """The shadow of the shared memory of a wave."""
        if wave not in self._shared:
            self._shared[wave] = Shadow(wave.shared.size, granule)
        return self._shared[wave]
