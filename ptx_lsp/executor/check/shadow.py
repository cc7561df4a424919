"""The last users of each byte of a memory: shadow arrays with one cell per smallest access size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.check.rewrites import Rewrites

Slot = Literal["write", "strong write", "read", "earlier read", "strong read"]
Cells = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]


@dataclass
class Uses:
    """For each cell a thread, the time of its use (0: none) and the line; negative for `.cta` scope."""

    thread: Numbers
    time: Numbers
    line: Numbers

    @classmethod
    def of(cls, count: int) -> Uses:
        return cls(*(np.zeros(count, np.int32) for _ in range(3)))

    def refined(self, by: int) -> Uses:
        return Uses(*(np.repeat(one, by) for one in (self.thread, self.time, self.line)))

    def set(
        self, cells: Cells, thread: npt.NDArray[np.int64], time: int, line: int
    ) -> None:
        self.thread[cells] = thread
        self.time[cells] = time
        self.line[cells] = line


class Shadow:
    """The shadow of a memory of `size` bytes."""

    def __init__(self, size: int, granule: int) -> None:
        self._size = size
        self.granule = granule
        self.slots: dict[Slot, Uses] = {}
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
            by = self.granule // granule
            self.granule = granule
            self.slots = {name: uses.refined(by) for name, uses in self.slots.items()}
            if self._locations is not None:
                self._locations = np.repeat(self._locations, by)
            if self.rewrites is not None:
                self.rewrites.refine(by)
        return offsets[:, None] // self.granule + np.arange(size // self.granule)

    def slot(self, name: Slot) -> Uses:
        """The uses of a kind, to be written."""
        if name not in self.slots:
            self.slots[name] = Uses.of(self.count)
        return self.slots[name]

    def locations(self, cells: Cells) -> Numbers:
        """The numbers of locations (`Order`); 0 for none."""
        if self._locations is None:
            return np.zeros(cells.shape, np.int32)
        return self._locations[cells]

    def set_locations(self, cells: Cells, numbers: Numbers) -> None:
        if self._locations is None:
            if not numbers.any():
                return
            self._locations = np.zeros(self.count, np.int32)
        self._locations[cells] = numbers
