"""Which thread of a warp has which cell in `tcgen05.ld` and `tcgen05.st` (PTX ISA, "Matrix fragments for
shape .32x32b" to "... .16x32bx2").

The manual shows the shapes in figures. A row is a lane of Tensor Memory, counted from that of the address.

1. `.32x32b`: thread t has row t, register j column j.
2. `.16x64b`: thread t has row t / 4 + 8 (t mod 2) and column (t / 2) mod 2, each further register two columns
   to the right.
3. `.16x128b`: thread t has column t mod 4 of row t / 4, the second register that of the row 8 below, the
   following pairs four columns to the right.
4. `.16x256b`: like `.16x128b`, with pairs of neighbouring columns.
5. `.16x32bx2`: threads 0 to 15 have rows 0 to 15 from the address on, threads 16 to 31 the same rows from the
   second address on; register j has column j.
6. With `.pack::16b` and `.unpack::16b` a register holds the lower halves of two columns, the left one in its
   lower half; the numbers above count such pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]

_THREADS: Numbers = np.arange(32, dtype=np.int64).reshape(-1, 1)


@dataclass(frozen=True, eq=False)
class Shape:
    """For each thread and register the row and the column, both relative to the address; `second` is whether
    the column counts from the second address. There are `height` rows and `width` columns.
    """

    rows: Numbers
    columns: Numbers
    second: Numbers
    height: int
    width: int


def shape(name: str, times: int) -> Shape:
    """The shape with this name (".16x64b"), repeated to the right."""
    second = np.zeros_like(_THREADS)
    match name:
        case ".32x32b" | ".16x32bx2":
            at = np.arange(times).reshape(1, -1)
            rows, columns, width = _THREADS + 0 * at, at + 0 * _THREADS, times
            if name == ".16x32bx2":
                rows, second = rows % 16, _THREADS // 16
        case ".16x64b":
            at = np.arange(times).reshape(1, -1)
            rows = _THREADS // 4 + 8 * (_THREADS % 2) + 0 * at
            columns, width = _THREADS // 2 % 2 + 2 * at, 2 * times
        case ".16x128b":
            at = np.arange(2 * times).reshape(1, -1)
            rows = _THREADS // 4 + 8 * (at % 2)
            columns, width = _THREADS % 4 + 4 * (at // 2), 4 * times
        case _:
            at = np.arange(4 * times).reshape(1, -1)
            rows = _THREADS // 4 + 8 * (at // 2 % 2)
            columns, width = 2 * (_THREADS % 4) + at % 2 + 8 * (at // 4), 8 * times
    return Shape(rows, columns, second + 0 * rows, 32 if name == ".32x32b" else 16, width)
