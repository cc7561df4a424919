"""Tensor maps of the CUDA driver: the fields that the executor reads, and what the driver refuses."""

from __future__ import annotations

import ctypes
from typing import cast

import numpy as np
import pytest

from ptx_lsp.cuda.api.tensor_maps import encode_im2col_wide, encode_tiled
from ptx_lsp.cuda.driver import Driver
from ptx_lsp.cuda.driver_function import Int, Pointer, Size, UInt
from ptx_lsp.cuda.results import DriverError, Result
from ptx_lsp.executor.machine.tensor_map_fields import FIELDS, SIZE

_NOBODY = cast("Driver", None)  # pyrefly: ignore[invalid-cast]
"""The functions do not look at the driver."""
_FLOAT16, _PADDED_FOUR = 6, 14


_KINDS = {"sizes": ctypes.c_uint64, "strides": ctypes.c_uint64}


class Arrays:
    """Arrays of C, and the tensor map."""

    def __init__(self, **given: list[int]) -> None:
        self.result = np.zeros(SIZE, np.uint8)
        self._kept = {
            name: (_KINDS.get(name, ctypes.c_uint32) * len(values))(*values) for name, values in given.items()
        }

    def __getattr__(self, name: str) -> Pointer:
        return Pointer(ctypes.addressof(self._kept[name]))

    @property
    def place(self) -> Pointer:
        return Pointer(self.result.ctypes.data)


def wide(mode: int, *, swizzle: int = 3, interleave: int = 0, corner: int = -1, pixels: int = 16) -> np.void:
    """The fields of a map for images of 64 channels, 9 pixels and 4 rows."""
    c = Arrays(sizes=[64, 9, 4, 2], strides=[128, 1152, 4608], steps=[1, 2, 1, 1])
    encode_im2col_wide(
        _NOBODY, c.place, Int(_FLOAT16), UInt(4), Size(0x1000), c.sizes, c.strides, Int(corner), Int(-2),
        UInt(64), UInt(pixels), c.steps, Int(interleave), Int(mode), Int(swizzle), Int(0), Int(0),
    )
    return c.result.view(FIELDS)[0]


@pytest.mark.parametrize("mode", [0, 1])
def test_columns_along_the_width(mode: int) -> None:
    found = wide(mode)
    assert int(found["load_mode"]) == 2 + mode
    assert [int(found["lower"][0]), int(found["upper"][0])] == [-1, -2]
    assert [int(found["channels"]), int(found["pixels"])] == [64, 0 if mode else 16]
    assert found["element_stride"].tolist() == [1, 2, 1, 1, 0]
    assert (int(found["swizzle_mode"]), int(found["elemtype"])) == (3, 6)


@pytest.mark.parametrize(("mode", "swizzle", "interleave"), [
    (2, 3, 0), (-1, 3, 0), (0, 0, 0), (0, 1, 0), (0, 5, 0), (0, 6, 0), (0, 3, 1), (0, 3, 3),
])
def test_columns_that_the_driver_refuses(mode: int, swizzle: int, interleave: int) -> None:
    with pytest.raises(DriverError) as caught:
        wide(mode, swizzle=swizzle, interleave=interleave)
    assert caught.value.result is Result.INVALID_VALUE


@pytest.mark.parametrize(("corner", "pixels"), [(40_000, 16), (-40_000, 16), (0, 0), (0, 70_000)])
def test_numbers_that_have_no_room(corner: int, pixels: int) -> None:
    with pytest.raises(DriverError) as caught:
        wide(0, corner=corner, pixels=pixels)
    assert caught.value.result is Result.INVALID_VALUE


@pytest.mark.parametrize(("sizes", "strides", "steps"), [
    ([64, 0], [128], [1, 1]), ([64, 1 << 33], [128], [1, 1]), ([64, 4], [136], [1, 1]),
    ([64, 4], [1 << 40], [1, 1]), ([64, 4], [128], [1, 0]), ([64, 4], [128], [1, 9]),
])
def test_sizes_strides_and_steps_that_the_driver_refuses(
    sizes: list[int], strides: list[int], steps: list[int]
) -> None:
    c = Arrays(sizes=sizes, strides=strides, box=[64, 2], steps=steps)
    with pytest.raises(DriverError):
        encode_tiled(
            _NOBODY, c.place, Int(_FLOAT16), UInt(2), Size(0x1000), c.sizes, c.strides, c.box, c.steps,
            Int(0), Int(0), Int(0), Int(0),
        )


def test_padded_elements_have_boxes_of_128() -> None:
    for box in (128, 64):
        c = Arrays(sizes=[256, 4], strides=[128], box=[box, 2], steps=[1, 1])
        arguments = (
            _NOBODY, c.place, Int(_PADDED_FOUR), UInt(2), Size(0x1000), c.sizes, c.strides, c.box, c.steps,
            Int(0), Int(0), Int(0), Int(0),
        )
        if box == 128:
            encode_tiled(*arguments)
            assert int(c.result.view(FIELDS)[0]["elemtype"]) == 14
        else:
            with pytest.raises(DriverError):
                encode_tiled(*arguments)
