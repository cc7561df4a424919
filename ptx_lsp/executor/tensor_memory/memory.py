"""The Tensor Memory of each block: 128 lanes (rows) by 512 columns of 32 bits, and who holds its columns.

1. An address has the lane in its upper half, the column in its lower half.
2. Columns are allocated in powers of two from 32 on, all lanes at once, at the first place with room, never
   more than by the block's last allocation. What was allocated must be given back, whole, before the block
   ends.
3. Only allocated columns may be used. A warp may load and store a quarter of the lanes: those from 32 times
   its number, modulo 4, on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.wave import Wave, WaveState

Numbers = npt.NDArray[np.int64]
Cells = npt.NDArray[np.uint32]

LANES = 128
COLUMNS = 512
GROUP = 16
"""Accesses use whole groups of so many lanes, save copies of four rows."""
_UNIT = 32
"""Columns are allocated in multiples of these."""


@dataclass(frozen=True)
class Allocation:
    """Columns that a block holds: `line` is that of the instruction, `threads` executed it."""

    first: int
    count: int
    line: int
    threads: Bools

    def text(self) -> str:
        return columns_text(self.first, self.count)


class TensorMemory(WaveState):
    """The Tensor Memory of the blocks of a wave."""

    def __init__(self, wave: Wave) -> None:
        super().__init__(wave)
        blocks = wave.shape[0]
        self._wave = wave
        self.cells: Cells = np.zeros((blocks, LANES, COLUMNS), np.uint32)
        """By block, lane and column."""
        self._used: Bools = np.zeros((blocks, COLUMNS), np.bool_)
        self._held: dict[int, list[Allocation]] = {}
        """By block."""
        self._last: dict[int, Allocation] = {}
        """The last allocation of each block."""
        self._relinquished: dict[int, int] = {}
        """The line at which a block gave up the right to allocate."""

    def place(self, block: int, count: int) -> int | None:
        """The first column with room for `count`; None if there is none."""
        units = self._used[block].reshape(-1, _UNIT).any(axis=1)
        wanted = count // _UNIT
        for first in range(len(units) - wanted + 1):
            if not units[first : first + wanted].any():
                return first * _UNIT
        return None

    def allocate(self, block: int, allocation: Allocation) -> None:
        if block in self._relinquished:
            raise self._error(
                "the block has given up the right to allocate Tensor Memory, by"
                f" `tcgen05.relinquish_alloc_permit` in line {self._relinquished[block]}", allocation.threads,
            )
        last = self._last.get(block)
        if last is not None and allocation.count > last.count:
            raise self._error(
                f"{allocation.count} columns are allocated after {last.count} (line {last.line}): the number"
                " of columns must not increase from one allocation of a block to the next",
                allocation.threads,
            )
        self._last[block] = allocation
        self._held.setdefault(block, []).append(allocation)
        self._used[block, allocation.first : allocation.first + allocation.count] = True

    def free(self, block: int, first: int, count: int, threads: Bools) -> None:
        held = self._held.get(block, [])
        found = next((one for one in held if (one.first, one.count) == (first, count)), None)
        if found is None:
            own = ", ".join(f"{one.text()} (line {one.line})" for one in held) or "nothing"
            raise self._error(
                f"{columns_text(first, count)} of Tensor Memory were not allocated as a whole, or were given"
                f" back before: the block holds {own}", threads,
            )
        held.remove(found)
        self._used[block, first : first + count] = False

    def relinquish(self, block: int, line: int) -> None:
        self._relinquished.setdefault(block, line)

    def held_text(self, block: int) -> str:
        """Names the columns that a block holds, for messages."""
        held = self._held.get(block, [])
        return ", ".join(f"{one.text()} (line {one.line})" for one in held)

    def unallocated(self, blocks: Numbers, first: Numbers, count: int) -> Bools:
        """Whether a block may not use some of the columns from `first` on."""
        columns = first[:, None] + np.arange(count)
        outside = columns >= COLUMNS
        free = ~self._used[blocks[:, None], np.minimum(columns, COLUMNS - 1)]
        return np.asarray((outside | free).any(axis=1), np.bool_)

    def ended(self) -> None:
        """Raises ExecutionError if a block has ended without giving back what it holds."""
        for block, held in self._held.items():
            for one in held:
                raise ExecutionError(
                    f"{one.text()} of Tensor Memory are allocated here and never given back:"
                    f" `tcgen05.dealloc` is missing in block {block_index(self._wave, block)}",
                    "tensor-memory", one.line, self._wave.thread_ids(one.threads),
                )

    def _error(self, message: str, threads: Bools) -> ExecutionError:
        return ExecutionError(message, "tensor-memory", lanes=self._wave.thread_ids(threads))


def columns_text(first: int, count: int) -> str:
    """Names columns, for messages."""
    return f"columns {first} to {first + count - 1}" if count > 1 else f"column {first}"


def block_index(wave: Wave, block: int) -> tuple[int, int, int]:
    """The index in the grid of a block of the wave."""
    mask = np.zeros(wave.shape, np.bool_)
    mask[block, 0] = True
    return wave.thread_ids(mask)[0].block
