"""Tensor maps, as the executor reads them."""

from __future__ import annotations

import numpy as np

from ptx_lsp.cuda.driver import Driver
from ptx_lsp.cuda.driver_function import Int, Pointer, Size, UInt, driver_function
from ptx_lsp.cuda.host_memory import host_bytes, read_ints, read_words
from ptx_lsp.cuda.results import DriverError, Result
from ptx_lsp.executor.machine.tensor_map_fields import FIELDS, SIZE, Fields, encoded
from ptx_lsp.executor.machine.tensor_map_limits import map_problem

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
    fields = _fields(kind, rank, address, sizes, strides, steps, interleave, swizzle, fill)
    fields["box_dim"] = read_ints(box, rank)
    _write(result, fields)


@driver_function("cuTensorMapEncodeIm2col")
def encode_im2col(
    driver: Driver, result: Pointer, kind: Int, rank: UInt, address: Size, sizes: Pointer, strides: Pointer,
    lower: Pointer, upper: Pointer, channels: UInt, pixels: UInt, steps: Pointer, interleave: Int,
    swizzle: Int, promotion: Int, fill: Int,
) -> None:
    del driver, promotion
    fields = _fields(kind, rank, address, sizes, strides, steps, interleave, swizzle, fill)
    fields["load_mode"], fields["channels"], fields["pixels"] = 1, channels, pixels
    corners = max(0, rank - 2)
    fields["lower"], fields["upper"] = _signed(read_ints(lower, corners)), _signed(read_ints(upper, corners))
    _write(result, fields)


@driver_function("cuTensorMapEncodeIm2colWide")
def encode_im2col_wide(
    driver: Driver, result: Pointer, kind: Int, rank: UInt, address: Size, sizes: Pointer, strides: Pointer,
    lower: Int, upper: Int, channels: UInt, pixels: UInt, steps: Pointer, interleave: Int, mode: Int,
    swizzle: Int, promotion: Int, fill: Int,
) -> None:
    del driver, promotion
    if mode not in (0, 1) or swizzle not in _WIDE_SWIZZLES:
        raise DriverError(Result.INVALID_VALUE)
    fields = _fields(kind, rank, address, sizes, strides, steps, interleave, swizzle, fill)
    fields["load_mode"], fields["channels"], fields["pixels"] = 2 + mode, channels, 0 if mode else pixels
    fields["lower"] = [lower]
    fields["upper"] = [upper]
    _write(result, fields)


@driver_function("cuTensorMapReplaceAddress")
def replace_address(driver: Driver, tensor_map: Pointer, address: Size) -> None:
    del driver
    host_bytes(tensor_map, SIZE).view(FIELDS)["global_address"] = address


def _fields(
    kind: int, rank: int, address: int, sizes: int, strides: int, steps: int, interleave: int, swizzle: int,
    fill: int,
) -> Fields:
    """Those that all tensor maps have; of a tiled one without a box."""
    if (
        not 1 <= rank <= _MOST_DIMENSIONS or not 0 <= kind < len(_ELEMENTS)
        or not 0 <= swizzle < len(_SWIZZLES)
    ):
        raise DriverError(Result.INVALID_VALUE)
    mode, atomicity = _SWIZZLES[swizzle]
    return {
        "global_address": address,
        "global_stride": read_words(strides, rank - 1),
        "global_dim": read_words(sizes, rank),
        "box_dim": [],
        "element_stride": read_ints(steps, rank),
        "elemtype": _ELEMENTS[kind],
        "rank": rank - 1,
        "interleave_layout": interleave,
        "swizzle_mode": mode,
        "swizzle_atomicity": atomicity,
        "fill_mode": fill,
        "load_mode": 0,
        "lower": [],
        "upper": [],
        "channels": 0,
        "pixels": 0,
    }


def _signed(numbers: list[int]) -> list[int]:
    return np.array(numbers, np.uint32).view(np.int32).tolist()


def _write(result: int, fields: Fields) -> None:
    if not all(1 <= size < 1 << 32 for size in fields["global_dim"]) or map_problem(fields):
        raise DriverError(Result.INVALID_VALUE)
    host_bytes(result, SIZE)[:] = encoded(fields)
