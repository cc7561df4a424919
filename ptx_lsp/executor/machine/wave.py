"""A wave: a batch of blocks executed together, one array lane per thread, with their registers and memory.

CUDA's best-practices guide calls the blocks that are resident at once a *wave*; AMD's wave is a warp.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from random import Random
from typing import Self, TypeVar, cast

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Array, Bools, Registers
from ptx_lsp.executor.machine.errors import Lane
from ptx_lsp.executor.machine.launch_config import LaunchConfig, Numbers, index
from ptx_lsp.executor.machine.memory import Addresses, Bytes
from ptx_lsp.executor.machine.register_file import RegisterLayout

_Scalar = TypeVar("_Scalar", bound=np.generic)

_AT_ONCE = 0.25
_GIVES_UP = 0.25


class WaveState:
    """State of a wave besides registers and memory, such as the calls of its lanes. A module that needs state
    derives a class from this one; each wave has at most one instance of it.
    """

    def __init__(self, wave: Wave) -> None:
        """Of a wave that has none so far."""

    @classmethod
    def of(cls, wave: Wave) -> Self:
        """The state of the wave, created on first use."""
        found = wave.states.get(cls)
        if found is None:
            found = wave.states[cls] = cls(wave)
        return cast("Self", found)

    def digest(self) -> bytes:
        """Differs where threads would go on in another way."""
        return b""

    def ended(self) -> None:
        """Called when all threads of the wave have exited."""

    @classmethod
    def existing(cls, wave: Wave) -> Self | None:
        """The state of the wave; None if it was not created yet."""
        return cast("Self | None", wave.states.get(cls))


class Wave:
    """Some of the blocks of a launch, in whole clusters.

    A mask selects lanes; None selects all. Lanes that fill up the last warp of a block do not exist:
    registers may be written there, memory may not.
    """

    registers: Registers

    def __init__(self, shape: LaunchConfig, frame: RegisterLayout, blocks: Numbers) -> None:
        """`blocks` are numbers of blocks, see `Shape.order`."""
        count = blocks.size
        self.launch = shape
        self.shape = (count, shape.lanes)
        self.exists: Bools = np.broadcast_to(np.arange(shape.lanes) < shape.threads, self.shape)
        self.count = count * shape.threads
        self.live: Bools | None = None
        """The threads that have not exited; None if none has."""
        self.blocks: Numbers = blocks.reshape(-1, 1)
        """The block of each lane, and the index of its thread in the block."""
        self.threads: Numbers = np.arange(shape.lanes, dtype=np.uint32).reshape(1, -1)
        self.block_rows: Addresses = np.arange(count, dtype=np.uint64).reshape(-1, 1)
        """Where, of `shared`, the memory of each lane's block is."""
        self.shared: Bytes = np.zeros((count, _row(shape.shared_bytes)), np.uint8)
        self.local: Bytes = np.zeros((count * shape.lanes, _row(shape.local_bytes)), np.uint8)
        """One row per lane; it grows with the stack."""
        self.local_bytes = shape.local_bytes
        """How many bytes of a row are in use."""
        self.states: dict[type[WaveState], WaveState] = {}
        """See `WaveState`."""
        self.hastens: Random | None = None
        """Chooses the asynchronous operations that take place before they must; None: none does."""
        self.impatient: Random | None = None
        """Chooses the tests of mbarriers that fail before they must; None: none does."""
        self.cancel: Callable[[], int | None] | None = None
        """Cancels a cluster that has not started: the number of its first block, None if all have started.
        The function is None if the wave is the whole launch.
        """
        self.executed = 0
        self.size = len(frame)
        """How many registers there are."""
        self.registers = [np.zeros((1, 1), frame.dtypes[number]) for number in range(self.size)]

    @cached_property
    def local_rows(self) -> Addresses:
        """Where, of `local`, the memory of each lane is."""
        rows, lanes = self.shape
        return np.arange(rows * lanes, dtype=np.uint64).reshape(self.shape)

    @property
    def running_blocks(self) -> int:
        """How many blocks have threads that have not exited."""
        return self.shape[0] if self.live is None else int(np.count_nonzero(self.live.any(axis=1)))

    @property
    def eager(self) -> bool:
        """Whether the asynchronous operation that begins now takes place at once."""
        return self.hastens is not None and self.hastens.random() < _AT_ONCE

    def gives_up(self) -> bool:
        """Whether a test of an mbarrier fails, if the phase is not complete now."""
        return self.impatient is not None and self.impatient.random() < _GIVES_UP

    def write(self, number: int, value: Array, mask: Bools | None) -> None:
        """Gives a register the value, in the lanes of `mask`."""
        if mask is not None:
            value = np.where(mask, value, self.registers[number])
        self.registers[number] = value

    def broadcast(self, value: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
        """The value with an element for each lane, not to be written."""
        if value.shape == self.shape:
            return value  # most have it, and NumPy takes long to find out
        return np.broadcast_to(value, self.shape)

    def present(self, mask: Bools | None) -> Bools | None:
        """The lanes of `mask` that exist; None where that is every element of an array."""
        if mask is not None:
            return mask
        return None if self.count == self.shape[0] * self.shape[1] else self.exists

    def full_mask(self, mask: Bools | None) -> Bools:
        """The mask itself; for None that of all threads."""
        return self.exists if mask is None else mask

    def live_mask(self) -> Bools:
        """The threads that have not exited."""
        return self.full_mask(self.live)

    def normal(self, mask: Bools) -> Bools | None:
        """None for a mask of all threads."""
        return None if np.count_nonzero(mask) == self.count else mask

    def thread_ids(self, mask: Array) -> tuple[Lane, ...]:
        """The first 32 threads of a mask."""
        found = np.flatnonzero(np.logical_and(mask, self.exists))[:32]
        blocks, threads = (
            np.broadcast_to(numbers, self.shape).reshape(-1)[found].tolist()
            for numbers in (self.blocks, self.threads)
        )
        return tuple(
            Lane(index(block, self.launch.grid), index(thread, self.launch.block))
            for block, thread in zip(blocks, threads, strict=True)
        )


def _row(size: int) -> int:
    """The bytes between one block's or thread's memory and the next one's: wide accesses stay aligned."""
    return -(-size // 16) * 16
