"""The other blocks of a cluster, as instructions reach them that work in several at once."""

from __future__ import annotations

import numpy as np

from ptx_lsp.executor.program import Array
from ptx_lsp.executor.threads import Indices, Threads


def peers(row: Threads, offsets: Indices, masks: Array) -> tuple[Indices, Indices]:
    """For places in shared memory the same places in each block of the cluster that a mask names: positions
    in the row, and offsets in the shared memory of the wave.
    """
    which = np.flatnonzero(np.bitwise_and(masks, 1))  # a cluster is one block
    return which, offsets[which]
