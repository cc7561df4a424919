"""Blocks that run together, all their threads as lanes of arrays: registers, memory, who is where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ptx_lsp.executor.errors import Lane
from ptx_lsp.executor.frame import Frame
from ptx_lsp.executor.memory import Bytes
from ptx_lsp.executor.program import Array, Bools

if TYPE_CHECKING:
    from ptx_lsp.executor.pending import Pending

WARP_SIZE = 32
Dimensions = tuple[int, int, int]


@dataclass(frozen=True)
class Shape:
    """A launch: how many blocks, how many threads in each, and the bytes that each has."""

    grid: Dimensions
    block: Dimensions
    shared_bytes: int
    dynamic_bytes: int
    local_bytes: int

    @property
    def blocks(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def lanes(self) -> int:
        """The threads of a block, rounded up to whole warps."""
        return -(-self.threads // WARP_SIZE) * WARP_SIZE


class Wave:
    """Blocks `first` to `first + count` of a launch.

    A mask says which lanes are meant; None is all of them. Lanes that fill up the last warp of a block do
    not exist: registers may be written there, memory may not.
    """

    def __init__(self, shape: Shape, frame: Frame, first: int, count: int) -> None:
        self.launch = shape
        self.first = first
        self.shape = (count, shape.lanes)
        self.exists: Bools = np.broadcast_to(np.arange(shape.lanes) < shape.threads, self.shape)
        self.count = count * shape.threads
        self.live: Bools | None = None
        """The threads that have not ended; None while all are there."""
        self.blocks = np.arange(first, first + count, dtype=np.uint32).reshape(-1, 1)
        self.threads = np.arange(shape.lanes, dtype=np.uint32).reshape(1, -1)
        self.shared: Bytes = np.zeros((count, _row(shape.shared_bytes)), np.uint8)
        self.local: Bytes = np.zeros((count * shape.lanes, _row(shape.local_bytes)), np.uint8)
        self.pending: Pending | None = None
        """Asynchronous operations; None while there are none."""
        self.eager = False
        """Whether asynchronous operations take place at once."""
        self.executed = 0
        self.registers: list[Array] = [
            np.zeros((1, 1), frame.dtypes[number]) for number in range(len(frame))
        ]
        for name, number in frame.specials.items():
            self.registers[number] = special(self, name).astype(frame.dtypes[number])

    def write(self, number: int, value: Array, mask: Bools | None) -> None:
        """Gives a register the value, in the lanes of `mask`."""
        if mask is not None:
            value = np.where(mask, value, self.registers[number])
        self.registers[number] = value

    def everywhere(self, value: Array) -> Array:
        """The value with an element for each lane."""
        return np.broadcast_to(value, self.shape)

    def present(self, mask: Bools | None) -> Bools | None:
        """The lanes of `mask` that exist; None where that is every element of an array."""
        if mask is not None:
            return mask
        return None if self.count == self.shape[0] * self.shape[1] else self.exists

    def normal(self, mask: Bools) -> Bools | None:
        """None for a mask of all threads."""
        return None if np.count_nonzero(mask) == self.count else mask

    def who(self, mask: Array) -> tuple[Lane, ...]:
        """The first 32 threads of a mask."""
        found = np.argwhere(np.logical_and(mask, self.exists))[:32].tolist()
        return tuple(
            Lane(_index(self.first + block, self.launch.grid), _index(thread, self.launch.block))
            for block, thread in found
        )


def _row(size: int) -> int:
    """The bytes between one block's or thread's memory and the next one's: wide accesses stay aligned."""
    return -(-size // 16) * 16


def special(wave: Wave, name: str) -> Array:
    """What a special register holds in each lane (PTX ISA, "Special Registers")."""
    register, _, component = name.partition(".")
    if register in _VECTORS:
        sizes = _VECTORS[register](wave.launch)
        index = _INDICES.get(register)
        axis = "xyzw".find(component)
        if axis == 3:
            return np.full((1, 1), 0 if index else 1, np.uint32)
        if index is None:
            return np.full((1, 1), sizes[axis], np.uint32)
        below = int(np.prod(sizes[:axis], dtype=np.int64))
        flat = np.floor_divide(index(wave), np.uint32(below)) if below > 1 else index(wave)
        return np.remainder(flat, np.uint32(sizes[axis])) if axis < 2 else flat
    found = _SCALARS.get(register)
    return found(wave) if found is not None else np.zeros((1, 1), np.uint32)


_VECTORS: dict[str, Callable[[Shape], Dimensions]] = {
    "%tid": lambda launch: launch.block,
    "%ntid": lambda launch: launch.block,
    "%ctaid": lambda launch: launch.grid,
    "%nctaid": lambda launch: launch.grid,
    # A cluster is one block.
    "%clusterid": lambda launch: launch.grid,
    "%nclusterid": lambda launch: launch.grid,
    "%cluster_ctaid": lambda launch: (1, 1, 1),
    "%cluster_nctaid": lambda launch: (1, 1, 1),
}
_INDICES: dict[str, Callable[[Wave], Array]] = {
    "%tid": lambda wave: wave.threads,
    "%ctaid": lambda wave: wave.blocks,
    "%clusterid": lambda wave: wave.blocks,
    "%cluster_ctaid": lambda wave: _one(0),
}


def _lane(wave: Wave) -> Array:
    return wave.threads % np.uint32(WARP_SIZE)


def _one(value: int) -> Array:
    return np.full((1, 1), value, np.uint32)


_SCALARS: dict[str, Callable[[Wave], Array]] = {
    "%laneid": _lane,
    "%warpid": lambda wave: wave.threads // np.uint32(WARP_SIZE),
    "%nwarpid": lambda wave: _one(64),
    "%nsmid": lambda wave: _one(1),
    "%cluster_nctarank": lambda wave: _one(1),
    "%lanemask_eq": lambda wave: np.left_shift(np.uint32(1), _lane(wave)),
    "%lanemask_lt": lambda wave: np.left_shift(np.uint32(1), _lane(wave)) - np.uint32(1),
    "%lanemask_le": lambda wave: np.left_shift(np.uint32(2), _lane(wave)) - np.uint32(1),
    "%lanemask_ge": lambda wave: ~(np.left_shift(np.uint32(1), _lane(wave)) - np.uint32(1)),
    "%lanemask_gt": lambda wave: ~(np.left_shift(np.uint32(2), _lane(wave)) - np.uint32(1)),
    "%total_smem_size": lambda wave: _one(wave.launch.shared_bytes),
    "%dynamic_smem_size": lambda wave: _one(wave.launch.dynamic_bytes),
}


def _index(flat: int, sizes: Dimensions) -> Dimensions:
    x, y, _ = sizes
    return flat % x, flat // x % y, flat // (x * y)
