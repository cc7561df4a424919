"""How elements are packed in chunks of shared memory and in cells of Tensor Memory (PTX ISA, "Packing formats
of elements in Tensor and Shared memory"); their values are doubles.

1. Elements of 8 bits and more, and with `.kind::mxf4` and `.kind::mxf4nvf4` those of 4 bits, stand side by
   side.
2. Otherwise 16 elements of 6 or 4 bits fill 16 bytes of shared memory: they stand side by side at the
   beginning. In Tensor Memory each has a byte: 6 bits its lower bits, 4 bits the ones in the middle.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.floats import Doubles
from ptx_lsp.executor.arithmetic.formats import FORMATS
from ptx_lsp.executor.matrices import elements

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.unsignedinteger]

_WIDTHS = {".e2m1": 4, ".e2m3": 6, ".e3m2": 6}


def in_chunk(type: str, *, packed: bool) -> int:
    """How many elements 16 bytes of shared memory hold."""
    return 32 if packed else 128 // elements.width(type)


def in_cell(type: str, *, packed: bool) -> int:
    """How many elements a cell of Tensor Memory holds."""
    return 8 if packed else max(32 // elements.width(type), 1)


def of_chunks(chunks: Bytes, type: str, *, packed: bool) -> Doubles:
    """The elements of chunks (any dimensions by 16 bytes), in place of the bytes."""
    if type in _WIDTHS:
        return _narrow(chunks if packed else _spread(chunks, _WIDTHS[type]), type, packed=packed)
    return elements.decoder(type)(chunks.view(f"u{elements.width(type) // 8}"))


def of_cells(cells: npt.NDArray[np.uint32], type: str, *, packed: bool) -> Doubles:
    """The elements of cells (any dimensions by columns)."""
    cells = np.ascontiguousarray(cells)
    if type in _WIDTHS:
        found = cells.view(np.uint8)
        if type == ".e2m1" and not packed:
            found = found >> np.uint8(2)
        return _narrow(found, type, packed=packed)
    return elements.decoder(type)(cells.view(f"u{elements.width(type) // 8}"))


def unpacked(chunks: Bytes, width: int) -> Bytes:
    """The 16 elements of 4 or 6 bits at the beginning of chunks, as `tcgen05.cp` decompresses them: a byte
    each, as Tensor Memory has them.
    """
    found = _spread(chunks, width)
    return found << np.uint8(2) if width == 4 else found


def _spread(chunks: Bytes, width: int) -> Bytes:
    bits = np.unpackbits(chunks[..., : 2 * width], axis=-1, bitorder="little")
    grouped = bits.reshape(*chunks.shape[:-1], 16, width)
    return np.packbits(grouped, axis=-1, bitorder="little")[..., 0]


def _narrow(codes: Bytes, type: str, *, packed: bool) -> Doubles:
    if packed:
        codes = np.stack([codes & np.uint8(15), codes >> np.uint8(4)], axis=-1).reshape(*codes.shape[:-1], -1)
    return FORMATS[type].decoded(codes.astype(np.uint32)).astype(np.float64)
