"""Tensor maps, as the executor reads them."""

from __future__ import annotations

import numpy as np

from ptx_lsp.cuda.driver import Driver
from ptx_lsp.cuda.driver_function import Int, Pointer, Size, UInt, driver_function
from ptx_lsp.cuda.host_memory import host_bytes, read_ints, read_words
from ptx_lsp.cuda.results import DriverError, Result
from ptx_lsp.executor.machine.tensor_map import FIELDS, LETTERS, SIZE, SLICES, map_problem

_Fields = np.ndarray[tuple[int], np.dtype[np.void]]

_ELEMENTS = 0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 11, 12, 13, 14, 15
"""By the number of `CUtensorMapDataType` the number for `tensormap.replace`."""
_SWIZZLES = (0, 0), (1, 0), (2, 0), (3, 0), (3, 1), (3, 2), (3, 3)
"""By `CUtensorMapSwizzle` mode and atomicity."""
_WIDE_SWIZZLES = 2, 3, 4
"""Those of `cuTensorMapEncodeIm2colWide`: 64B, and 128B with pieces of 16 or 32 bytes."""
_MOST_DIMENSIONS = 5


@driver_function("cuTensorMapEncodeTiled")
def encode_tiled(
    driver: Driver, result: Pointer, kind: Int, rank: UInt, address: Size, sizes: Pointer, strides: Pointer,
    box: Pointer, steps: Pointer, interleave: Int, swizzle: Int, promotion: Int, fill: Int,
) -> None:
    del driver, promotion
    data = _encoded(kind, rank, address, sizes, strides, steps, interleave, swizzle, fill)
    data["box_dim"][0, :rank] = read_ints(box, rank)
    _write(result, data)


@driver_function("cuTensorMapEncodeIm2col")
def encode_im2col(
    driver: Driver, result: Pointer, kind: Int, rank: UInt, address: Size, sizes: Pointer, strides: Pointer,
    lower: Pointer, upper: Pointer, channels: UInt, pixels: UInt, steps: Pointer, interleave: Int,
    swizzle: Int, promotion: Int, fill: Int,
) -> None:
    del driver, promotion
    data = _encoded(kind, rank, address, sizes, strides, steps, interleave, swizzle, fill)
    corners = rank - 2
    data["load_mode"], data["channels"], data["pixels"] = 1, channels, pixels
    data["lower"][0, :corners] = np.array(read_ints(lower, corners), np.uint32).view(np.int32)
    data["upper"][0, :corners] = np.array(read_ints(upper, corners), np.uint32).view(np.int32)
    _write(result, data)


@driver_function("cuTensorMapEncodeIm2colWide")
def encode_im2col_wide(
    driver: Driver, result: Pointer, kind: Int, rank: UInt, address: Size, sizes: Pointer, strides: Pointer,
    lower: Int, upper: Int, channels: UInt, pixels: UInt, steps: Pointer, interleave: Int, mode: Int,
    swizzle: Int, promotion: Int, fill: Int,
) -> None:
    del driver, promotion
    if mode not in (0, 1) or swizzle not in _WIDE_SWIZZLES:
        raise DriverError(Result.INVALID_VALUE)
    data = _encoded(kind, rank, address, sizes, strides, steps, interleave, swizzle, fill)
    data["load_mode"], data["channels"], data["pixels"] = 2 + mode, channels, pixels
    data["lower"][0, 0], data["upper"][0, 0] = lower, upper
    _write(result, data)


@driver_function("cuTensorMapReplaceAddress")
def replace_address(driver: Driver, tensor_map: Pointer, address: Size) -> None:
    del driver
    host_bytes(tensor_map, SIZE).view(FIELDS)["global_address"] = address


def _encoded(
    kind: int, rank: int, address: int, sizes: int, strides: int, steps: int, interleave: int, swizzle: int,
    fill: int,
) -> _Fields:
    if (
        not 1 <= rank <= _MOST_DIMENSIONS or not 0 <= kind < len(_ELEMENTS)
        or not 0 <= swizzle < len(_SWIZZLES) or not 0 <= interleave < len(SLICES)
    ):
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


def _write(result: int, data: _Fields) -> None:
    if map_problem(data[0]):
        raise DriverError(Result.INVALID_VALUE)
    host_bytes(result, SIZE)[:] = data.view(np.uint8)
