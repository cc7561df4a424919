"""Tensor maps, as the executor reads them."""

from __future__ import annotations

import numpy as np

from ptx_lsp.cuda.driver import Driver
from ptx_lsp.cuda.driver_function import Int, Pointer, Size, UInt, driver_function
from ptx_lsp.cuda.host_memory import host_bytes, read_ints, read_words
from ptx_lsp.cuda.results import DriverError, Result
from ptx_lsp.executor.machine.tensor_map import FIELDS, LETTERS, SIZE

_ELEMENTS = 0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 11, 12, 13, 14, 15
"""By the number of `CUtensorMapDataType` the number for `tensormap.replace`."""
_SWIZZLES = (0, 0), (1, 0), (2, 0), (3, 0), (3, 1), (3, 2), (3, 3)
"""By `CUtensorMapSwizzle` mode and atomicity."""
_MOST_DIMENSIONS = 5


@driver_function("cuTensorMapEncodeTiled")
def encode_tiled(
    driver: Driver, result: Pointer, kind: Int, rank: UInt, address: Size, sizes: Pointer, strides: Pointer,
    box: Pointer, steps: Pointer, interleave: Int, swizzle: Int, promotion: Int, fill: Int,
) -> None:
    del driver, promotion
    data = _encoded(kind, rank, address, sizes, strides, steps, interleave, swizzle, fill)
    data["box_dim"][0, :rank] = read_ints(box, rank)
    host_bytes(result, SIZE)[:] = data.view(np.uint8)


@driver_function("cuTensorMapEncodeIm2col")
def encode_im2col(
    driver: Driver, result: Pointer, kind: Int, rank: UInt, address: Size, sizes: Pointer, strides: Pointer,
    lower: Pointer, upper: Pointer, channels: UInt, pixels: UInt, steps: Pointer, interleave: Int,
    swizzle: Int, promotion: Int, fill: Int,
) -> None:
    del driver, promotion
    data = _encoded(kind, rank, address, sizes, strides, steps, interleave, swizzle, fill)
    corners = rank - 2
    data["is_im2col"], data["channels"], data["pixels"] = 1, channels, pixels
    data["lower"][0, :corners] = np.array(read_ints(lower, corners), np.uint32).view(np.int32)
    data["upper"][0, :corners] = np.array(read_ints(upper, corners), np.uint32).view(np.int32)
    host_bytes(result, SIZE)[:] = data.view(np.uint8)


@driver_function("cuTensorMapReplaceAddress")
def replace_address(driver: Driver, tensor_map: Pointer, address: Size) -> None:
    del driver
    host_bytes(tensor_map, SIZE).view(FIELDS)["global_address"] = address


def _encoded(
    kind: int, rank: int, address: int, sizes: int, strides: int, steps: int, interleave: int, swizzle: int,
    fill: int,
) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    if not 1 <= rank <= _MOST_DIMENSIONS or kind >= len(_ELEMENTS) or swizzle >= len(_SWIZZLES):
        raise DriverError(Result.INVALID_VALUE)
    data = np.zeros(1, FIELDS)
    data["global_address"] = address
    data["global_dim"][0, :rank] = read_words(sizes, rank)
    data["global_stride"][0, : rank - 1] = read_words(strides, rank - 1)
    data["element_stride"][0, :rank] = read_ints(steps, rank)
    data["elemtype"], data["rank"], data["interleave_layout"] = _ELEMENTS[kind], rank - 1, interleave
    data["swizzle_mode"], data["swizzle_atomicity"] = _SWIZZLES[swizzle]
    data["fill_mode"], data["letters"] = fill, LETTERS
    return data
