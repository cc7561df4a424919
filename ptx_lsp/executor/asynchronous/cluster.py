"""The other blocks of a cluster, for instructions that access several at once."""

from __future__ import annotations

import numpy as np

from ptx_lsp.executor.arithmetic.program import Array
from ptx_lsp.executor.instructions.threads import Indices, Threads


def peers(row: Threads, offsets: Indices, masks: Array) -> tuple[Indices, Indices]:
    """For places in shared memory the same places in each block of the cluster that a mask names: positions
    in the row, and offsets in the shared memory of the wave.
    """
    blocks, stride = row.wave.launch.cluster_blocks, row.wave.shared.shape[1]
    positions: list[Indices] = []
    places: list[Indices] = []
    for rank in range(blocks):
        which = np.flatnonzero(np.bitwise_and(np.right_shift(masks, rank), 1))
        here = offsets[which]
        block = here // stride
        positions.append(which)
        places.append(here + (block // blocks * blocks + rank - block) * stride)
    return np.concatenate(positions), np.concatenate(places)
