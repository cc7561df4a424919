"""The scales of blocks of A and B in Tensor Memory (PTX ISA, "Block Scaling for tcgen05.mma").

The manual shows the layouts in figures.

1. The scales of rows 0 to 31 of A are in lanes 0 to 31 of the first column, those of the next 32 rows in the
   next column, and so on; the same holds for the columns of B. All four quarters of the lanes have a copy.
   Where B's columns are in two parts (`datapath.py`), its scales are, too.
2. A cell has four scales of its row. The number of the first one is in the instruction descriptor. Those
   after the fourth are in the next group of columns, one for each 32 rows, rounded up to whole 128.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.floats import Doubles
from ptx_lsp.executor.arithmetic.formats import FORMATS
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.tensor_memory.memory import Cells

Numbers = npt.NDArray[np.int64]

_QUARTERS = 4
_IN_COLUMN = 32
_IN_CELL = 4


def columns(rows: int, scales: int, first: int) -> int:
    """How many columns the scales of some rows take."""
    groups = -(-(first + scales) // _IN_CELL)
    return (groups - 1) * _stride(rows) + -(-rows // _IN_COLUMN)


def load(
    cells: Cells, blocks: Numbers, column: int, rows: int, scales: int, first: int, type: str, *,
    parts: int = 1, name: str = "A",
) -> Doubles:
    """The scales of blocks of the wave (blocks by rows by scales)."""
    each = rows // parts
    row = np.arange(rows)
    own = row % each
    number = first + np.arange(scales)
    at = column + own[:, None] // _IN_COLUMN + number // _IN_CELL * _stride(each)
    copies = _QUARTERS // parts
    quarters = row // each * copies + np.arange(copies)[:, None]
    lanes = (_IN_COLUMN * quarters + own % _IN_COLUMN)[:, :, None]
    shape = (blocks.size, copies, rows, scales)
    index = blocks.reshape(-1, 1, 1, 1)
    found = cells[np.broadcast_to(index, shape), np.broadcast_to(lanes, shape), np.broadcast_to(at, shape)]
    codes = found >> (8 * (number % _IN_CELL)).astype(np.uint32) & np.uint32(0xFF)
    if (codes != codes[:, :1]).any():
        raise ExecutionError(
            f"the scales of {name} differ between the quarters of the lanes, which must have equal copies",
            "tensor-memory",
        )
    return FORMATS[type].decoded(codes[:, 0]).astype(np.float64)


def _stride(rows: int) -> int:
    """How many columns are between two groups of scales."""
    return -(-rows // 128) * _IN_CELL
