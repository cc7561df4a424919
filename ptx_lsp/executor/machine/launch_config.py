"""The sizes of a launch: grid, blocks, clusters and memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

WARP_SIZE = 32
Dimensions: TypeAlias = tuple[int, int, int]
Numbers: TypeAlias = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class LaunchConfig:
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
    uses_dynamic_bytes: bool = False
    """Whether the kernel names dynamic shared memory."""
    allocated_bytes: int = 0
    """The shared memory that a device gives to a block: static and dynamic, in whole units."""
    resident_blocks: int = 1 << 32
    """How many blocks are resident at once on the largest device."""
    reserved: range = range(0)
    """The addresses of the shared memory that the system reserves, if the kernel asks for them. It is zero at
    first, as the barriers of `cooperative_groups` in it have to be.
    """

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

    def cluster_of(self, blocks: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The numbers of the clusters of blocks, which are numbered by their places in the grid."""
        return blocks if self.cluster_blocks == 1 else self._clusters[blocks]

    @cached_property
    def _clusters(self) -> npt.NDArray[np.int64]:
        found = np.zeros(self.blocks, np.int64)
        found[self.order] = np.arange(self.blocks) // self.cluster_blocks
        return found


def index(flat: int, sizes: Dimensions) -> Dimensions:
    """The index in three dimensions of what has the number `flat`."""
    x, y, _ = sizes
    return flat % x, flat // x % y, flat // (x * y)
