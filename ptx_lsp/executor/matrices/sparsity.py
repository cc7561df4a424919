"""The metadata of sparse matrices: the positions of the stored elements (PTX ISA, "Sparse matrix storage").
The manual shows in figures which lane has the metadata of which row.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.matrices.fragments import Words

_Scalar = TypeVar("_Scalar", bound=np.generic)

Indices = npt.NDArray[np.int64]


def expanded(matrix: Words, metadata: Words, selector: int, type: str) -> Words:
    """A whole matrix (warps, 1, rows, columns) from half of its columns."""
    half = matrix.shape[-1]
    codes = _codes(metadata, selector, half // kept(type), by_halves=type in (".f16", ".bf16", ".tf32"))
    return spread(matrix, codes[:, None], type)


def spread(matrix: npt.NDArray[_Scalar], codes: Indices, type: str) -> npt.NDArray[_Scalar]:
    """A whole matrix from half of its columns, and four bits for each chunk of each row."""
    *rows, half = matrix.shape
    chunk, _ = _CHUNKS.get(type, (4, 2))
    first, second = codes & 3, codes >> 2 & 3
    places: Indices
    match kept(type):
        case 1:
            places = first[..., None] >> 1
        case 2:
            places = np.stack([first, second], axis=-1)
        case _:  # pairs of elements
            places = np.stack([2 * first, 2 * first + 1, 2 * second, 2 * second + 1], axis=-1)
    starts = chunk * np.arange(codes.shape[-1], dtype=np.int64)[:, None]
    columns: Indices = (starts + places).reshape(*rows, half)
    found = np.zeros((*rows, 2 * half), matrix.dtype)
    np.put_along_axis(found, columns, matrix, axis=-1)
    return found


def kept(type: str) -> int:
    """How many elements of a chunk are stored."""
    return _CHUNKS.get(type, (4, 2))[1]


_CHUNKS = {".tf32": (2, 1), ".s4": (8, 4), ".u4": (8, 4), ".e2m1 packed": (8, 4)}
"""How many elements a chunk has, and how many of them are kept."""


def _codes(metadata: Words, selector: int, chunks: int, *, by_halves: bool) -> Indices:
    """Four bits for each chunk of each row (warps, 16, chunks).

    A lane has 4 chunks of a row and, in the upper half, 4 of the row 8 below (`by_halves`), or 8 of one row.
    """
    warps = metadata.shape[0]
    shifts = np.arange(0, 32, 4, dtype=np.uint32)
    words = metadata.reshape(warps, 8, 4)
    nibbles = (words[..., None].astype(np.uint32) >> shifts & np.uint32(15)).astype(np.int64)
    found = np.zeros((warps, 16, chunks), np.int64)
    each = 4 if by_halves else 8
    parts = chunks // each
    lanes = parts if by_halves else 2 * parts  # in a group of four
    first = selector * lanes
    for part in range(parts):
        span = slice(part * each, part * each + each)
        if by_halves:
            found[:, :8, span] = nibbles[:, :, first + part, :4]
            found[:, 8:, span] = nibbles[:, :, first + part, 4:]
        else:
            found[:, :8, span] = nibbles[:, :, first + 2 * part]
            found[:, 8:, span] = nibbles[:, :, first + 2 * part + 1]
    return found
