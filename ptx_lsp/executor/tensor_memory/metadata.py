"""The metadata of a sparse A in Tensor Memory (PTX ISA, "Sparsity selector"): which elements of a row are
stored.

Four bits stand for a chunk of two, four or eight elements. The manual shows the layouts in figures.

1. For elements of 16 bits and more, rows come in groups of 16. The lane of row r of the upper eight has the
   first half of its chunks in its lower half and that of row r + 8 in its upper half; the lane 8 below has
   the second halves. The sparsity selector is added to the column.
2. Otherwise the lane of a row has its chunks in two neighbouring columns.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.tensor_memory.memory import Cells

Numbers = npt.NDArray[np.int64]


def columns(type: str) -> int:
    """How many columns it takes."""
    return 1 if _is_wide(type) else 2


def load(cells: Cells, blocks: Numbers, column: int, lanes: Numbers, type: str, selector: int) -> Numbers:
    """The four bits of each chunk of each row: of blocks of the wave (any dimensions), for parts by rows of
    `lanes` (blocks by parts by rows by chunks).
    """
    index = blocks.reshape(*blocks.shape, 1, 1)
    shifts = np.arange(0, 32, 4, dtype=np.uint32)
    if not _is_wide(type):
        words = np.stack([cells[index, lanes, column + at] for at in range(2)], axis=-1)
        found = words[..., None] >> shifts & np.uint32(15)
        return found.reshape(*found.shape[:-2], 16).astype(np.int64)
    words = cells[index, lanes, column + selector]
    groups = words.reshape(*words.shape[:-1], -1, 2, 8)  # groups of 16 rows, halves of chunks, rows
    nibbles = groups[..., None] >> shifts & np.uint32(15)
    found = nibbles.reshape(*nibbles.shape[:-1], 2, 4)  # halves of chunks, 8 rows, halves, chunks
    order = np.moveaxis(found, (-4, -3, -2, -1), (-2, -3, -4, -1))  # halves of rows, rows, halves of chunks
    return order.reshape(*words.shape, 8).astype(np.int64)


def _is_wide(type: str) -> bool:
    return type in (".f16", ".bf16", ".tf32")
