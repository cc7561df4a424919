"""Warp compaction: a compacted copy of a wave's active lanes, so that the cost is proportional to their
number.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Array, Bools, Registers
from ptx_lsp.executor.machine.wave import Wave

_Scalar = TypeVar("_Scalar", bound=np.generic)


class CompactedWave(Wave):
    """The lanes of a mask, in one row. Registers are copied on their first read; `put_back` writes the
    modified ones. Memory is shared with the wave.
    """

    def __init__(self, wave: Wave, mask: Bools) -> None:
        self._wave = wave
        self._lanes = np.flatnonzero(mask)
        count = self._lanes.size
        self.launch = wave.launch
        self.shape = (1, count)
        self.count = count
        self.exists = np.ones(self.shape, np.bool_)
        self.live = None
        self.blocks = self._of(wave.blocks)
        self.threads = self._of(wave.threads)
        self.block_rows = self._of(wave.block_rows)
        self.local_rows = self._of(wave.local_rows)
        self.shared, self.local = wave.shared, wave.local
        self.local_bytes = wave.local_bytes
        self.states = {}
        self.executed = wave.executed
        self.cancel = None
        self._narrowed = _CompactedRegisters(wave.registers, self)
        self.registers: Registers = self._narrowed

    def write_back(self) -> None:
        """Writes the registers that changed back to the wave."""
        self._wave.executed = self.executed
        for number in self._narrowed.written:
            whole = np.array(self._wave.broadcast(self._wave.registers[number]))
            whole.reshape(-1)[self._lanes] = self.broadcast(self.registers[number])[0]
            self._wave.registers[number] = whole

    def expanded(self, mask: Bools | None) -> Bools | None:
        """A mask of the compacted lanes as a mask of the wave."""
        whole = np.zeros(self._wave.shape, np.bool_)
        whole.reshape(-1)[self._lanes] = True if mask is None else mask[0]
        return self._wave.normal(whole)

    def compacted(self, value: Array) -> Array:
        """A value of the wave, for the compacted lanes."""
        return value if value.size == 1 else self._of(value)

    def _of(self, value: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
        rows, columns = self._wave.shape
        if value.shape == (rows, columns):
            return value.reshape(-1)[self._lanes].reshape(1, -1)
        if value.shape[1] == columns:
            return value[0, self._lanes % columns].reshape(1, -1)
        return value[self._lanes // columns, 0].reshape(1, -1)


class _CompactedRegisters:
    """The registers of a wave for the compacted lanes."""

    def __init__(self, registers: Registers, part: CompactedWave) -> None:
        self._registers = registers
        self._compacted = part
        self._values: dict[int, Array] = {}
        self.written: set[int] = set()

    def __getitem__(self, number: int, /) -> Array:
        found = self._values.get(number)
        if found is None:
            found = self._values[number] = self._compacted.compacted(self._registers[number])
        return found

    def __setitem__(self, number: int, value: Array, /) -> None:
        self._values[number] = value
        self.written.add(number)
