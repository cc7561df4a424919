"""Blocks that run together, all their threads as lanes of arrays: registers, memory, who is where."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.errors import Lane
from ptx_lsp.executor.frame import Frame
from ptx_lsp.executor.memory import Addresses, Bytes
from ptx_lsp.executor.program import Array, Bools, Registers
from ptx_lsp.executor.specials import special

if TYPE_CHECKING:
    from ptx_lsp.executor.control import Step
    from ptx_lsp.executor.pending import Pending
    from ptx_lsp.executor.routines import Activations
    from ptx_lsp.executor.starts import Starts

WARP_SIZE = 32
Dimensions = tuple[int, int, int]
Numbers = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Shape:
    """A launch: how many blocks, how many threads in each, and the bytes that each has.

    `cluster` has the blocks of a cluster in each dimension, by which `grid` can be divided; `workspace` is
    the address of the memory in which the blocks of a cooperative launch wait for one another, 0 for none.
    """

    grid: Dimensions
    block: Dimensions
    shared_bytes: int
    dynamic_bytes: int
    local_bytes: int
    cluster: Dimensions = (1, 1, 1)
    is_explicit_cluster: bool = False
    workspace: int = 0

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

    @property
    def cluster_blocks(self) -> int:
        return self.cluster[0] * self.cluster[1] * self.cluster[2]

    @cached_property
    def order(self) -> Numbers:
        """The blocks, each by its place in the grid: cluster after cluster, in the order of their ranks."""
        flat = np.arange(self.blocks, dtype=np.uint32)
        if self.cluster_blocks == 1:
            return flat
        cluster, rank = np.zeros((2, self.blocks), np.int64)
        clusters, ranks = 1, 1
        for at, (size, inner) in enumerate(zip(self.grid, self.cluster, strict=True)):
            index = flat // (1, self.grid[0], self.grid[0] * self.grid[1])[at] % size
            cluster += index // inner * clusters
            rank += index % inner * ranks
            clusters *= size // inner
            ranks *= inner
        return flat[np.lexsort((rank, cluster))]


class Wave:
    """Some of the blocks of a launch, whole clusters.

    A mask says which lanes are meant; None is all of them. Lanes that fill up the last warp of a block do
    not exist: registers may be written there, memory may not.
    """

    registers: Registers

    def __init__(self, shape: Shape, frame: Frame, blocks: Numbers) -> None:
        """`blocks` are numbers of blocks, see `Shape.order`."""
        count = blocks.size
        self.launch = shape
        self.shape = (count, shape.lanes)
        self.exists: Bools = np.broadcast_to(np.arange(shape.lanes) < shape.threads, self.shape)
        self.count = count * shape.threads
        self.live: Bools | None = None
        """The threads that have not ended; None while all are there."""
        self.blocks: Numbers = blocks.reshape(-1, 1)
        """The number of the block of each lane, and that of the thread in it."""
        self.threads: Numbers = np.arange(shape.lanes, dtype=np.uint32).reshape(1, -1)
        self.block_rows: Addresses = np.arange(count, dtype=np.uint64).reshape(-1, 1)
        """Where, of `shared`, the memory of each lane's block is; and, of `local`, its own."""
        self.local_rows: Addresses = np.arange(count * shape.lanes, dtype=np.uint64).reshape(self.shape)
        self.shared: Bytes = np.zeros((count, _row(shape.shared_bytes)), np.uint8)
        self.local: Bytes = np.zeros((count * shape.lanes, _row(shape.local_bytes)), np.uint8)
        """A row for each lane; it grows where the stack does."""
        self.local_bytes = shape.local_bytes
        """How many bytes of a row are in use."""
        self.activations: Activations | None = None
        """The calls that lanes are in; None before the first."""
        self.pending: Pending | None = None
        """Asynchronous operations; None while there are none."""
        self.eager = False
        """Whether asynchronous operations take place at once."""
        self.starts: Starts | None = None
        """The clusters that have not started; None where the wave is all that there is."""
        self.executed = 0
        self.active: Bools | None = None
        """The threads that execute the present step."""
        self.step: Step | None = None
        """The present step. Both are kept up to date for observers only."""
        self.size = len(frame)
        """How many registers there are."""
        self.registers = [np.zeros((1, 1), frame.dtypes[number]) for number in range(self.size)]
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

    def full(self, mask: Bools | None) -> Bools:
        """The mask itself; for None that of all threads."""
        return self.exists if mask is None else mask

    def living(self) -> Bools:
        """The threads that have not ended."""
        return self.full(self.live)

    def normal(self, mask: Bools) -> Bools | None:
        """None for a mask of all threads."""
        return None if np.count_nonzero(mask) == self.count else mask

    def who(self, mask: Array) -> tuple[Lane, ...]:
        """The first 32 threads of a mask."""
        found = np.flatnonzero(np.logical_and(mask, self.exists))[:32]
        blocks, threads = (
            np.broadcast_to(numbers, self.shape).reshape(-1)[found].tolist()
            for numbers in (self.blocks, self.threads)
        )
        return tuple(
            Lane(_index(block, self.launch.grid), _index(thread, self.launch.block))
            for block, thread in zip(blocks, threads, strict=True)
        )


def _row(size: int) -> int:
    """The bytes between one block's or thread's memory and the next one's: wide accesses stay aligned."""
    return -(-size // 16) * 16


def _index(flat: int, sizes: Dimensions) -> Dimensions:
    x, y, _ = sizes
    return flat % x, flat // x % y, flat // (x * y)
