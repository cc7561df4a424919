"""Memory: copies, and setting it to a value."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from ptx_lsp.cuda.driver import Driver
from ptx_lsp.cuda.driver_function import Byte, Pointer, Short, Size, UInt, driver_function
from ptx_lsp.cuda.results import DriverError, Result

_ARRAY = 3


@driver_function(
    "cuMemcpy", "cuMemcpyAsync", "cuMemcpyHtoD_v2", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoH_v2",
    "cuMemcpyDtoHAsync_v2", "cuMemcpyDtoD_v2", "cuMemcpyDtoDAsync_v2",
)
def copy(driver: Driver, target: Size, source: Size, size: Size) -> None:
    if size:
        driver.memory.writable_at(target, size)[:] = driver.memory.bytes_at(source, size)


@driver_function("cuMemcpyPeer", "cuMemcpyPeerAsync")
def copy_between_devices(
    driver: Driver, target: Size, target_context: Size, source: Size, source_context: Size, size: Size
) -> None:
    del target_context, source_context
    copy(driver, target, source, size)


class _Copy2D(ctypes.Structure):
    """`CUDA_MEMCPY2D`."""

    _fields_ = (
        ("source_x", ctypes.c_size_t), ("source_y", ctypes.c_size_t), ("source_kind", ctypes.c_uint),
        ("source_host", ctypes.c_uint64), ("source_device", ctypes.c_uint64),
        ("source_array", ctypes.c_uint64), ("source_pitch", ctypes.c_size_t),
        ("target_x", ctypes.c_size_t), ("target_y", ctypes.c_size_t), ("target_kind", ctypes.c_uint),
        ("target_host", ctypes.c_uint64), ("target_device", ctypes.c_uint64),
        ("target_array", ctypes.c_uint64), ("target_pitch", ctypes.c_size_t),
        ("width", ctypes.c_size_t), ("height", ctypes.c_size_t),
    )


class Copy3D(ctypes.Structure):
    """`CUDA_MEMCPY3D`."""

    _fields_ = (
        ("source_x", ctypes.c_size_t), ("source_y", ctypes.c_size_t), ("source_z", ctypes.c_size_t),
        ("source_level", ctypes.c_size_t), ("source_kind", ctypes.c_uint),
        ("source_host", ctypes.c_uint64), ("source_device", ctypes.c_uint64),
        ("source_array", ctypes.c_uint64), ("reserved0", ctypes.c_uint64),
        ("source_pitch", ctypes.c_size_t), ("source_height", ctypes.c_size_t),
        ("target_x", ctypes.c_size_t), ("target_y", ctypes.c_size_t), ("target_z", ctypes.c_size_t),
        ("target_level", ctypes.c_size_t), ("target_kind", ctypes.c_uint),
        ("target_host", ctypes.c_uint64), ("target_device", ctypes.c_uint64),
        ("target_array", ctypes.c_uint64), ("reserved1", ctypes.c_uint64),
        ("target_pitch", ctypes.c_size_t), ("target_height", ctypes.c_size_t),
        ("width", ctypes.c_size_t), ("height", ctypes.c_size_t), ("depth", ctypes.c_size_t),
    )


@driver_function("cuMemcpy2D_v2", "cuMemcpy2DUnaligned_v2", "cuMemcpy2DAsync_v2")
def copy_2d(driver: Driver, description: Pointer) -> None:
    one = _Copy2D.from_address(description)
    target = _start(one.target_kind, one.target_host, one.target_device)
    source = _start(one.source_kind, one.source_host, one.source_device)
    target += one.target_y * one.target_pitch + one.target_x
    source += one.source_y * one.source_pitch + one.source_x
    _copy_rows(driver, target, one.target_pitch, source, one.source_pitch, one.width, one.height)


@driver_function("cuMemcpy3D_v2", "cuMemcpy3DAsync_v2")
def copy_3d(driver: Driver, description: Pointer) -> None:
    copy_box(driver, Copy3D.from_address(description))


def copy_box(driver: Driver, one: Copy3D) -> None:
    """Copies a box."""
    target = _start(one.target_kind, one.target_host, one.target_device)
    source = _start(one.source_kind, one.source_host, one.source_device)
    for z in range(one.depth):
        to = target + one.target_x
        to += ((one.target_z + z) * one.target_height + one.target_y) * one.target_pitch
        of = source + one.source_x
        of += ((one.source_z + z) * one.source_height + one.source_y) * one.source_pitch
        _copy_rows(driver, to, one.target_pitch, of, one.source_pitch, one.width, one.height)


def _start(kind: int, host: int, device: int) -> int:
    if kind == _ARRAY:
        raise DriverError(Result.NOT_SUPPORTED, "CUDA arrays are not supported")
    return host if kind == 1 else device


def _copy_rows(
    driver: Driver, target: int, target_pitch: int, source: int, source_pitch: int, width: int, height: int
) -> None:
    for row in range(height if width else 0):
        copy(driver, Size(target + row * target_pitch), Size(source + row * source_pitch), Size(width))


@driver_function("cuMemsetD8_v2", "cuMemsetD8Async")
def set_bytes(driver: Driver, target: Size, value: Byte, count: Size) -> None:
    _fill(driver, target, value, 1, (count, 1, count))


@driver_function("cuMemsetD16_v2", "cuMemsetD16Async")
def set_halves(driver: Driver, target: Size, value: Short, count: Size) -> None:
    _fill(driver, target, value, 2, (2 * count, 1, count))


@driver_function("cuMemsetD32_v2", "cuMemsetD32Async")
def set_words(driver: Driver, target: Size, value: UInt, count: Size) -> None:
    _fill(driver, target, value, 4, (4 * count, 1, count))


@driver_function("cuMemsetD2D8_v2", "cuMemsetD2D8Async")
def set_rows_of_bytes(
    driver: Driver, target: Size, pitch: Size, value: Byte, width: Size, height: Size
) -> None:
    _fill(driver, target, value, 1, (pitch, height, width))


@driver_function("cuMemsetD2D16_v2", "cuMemsetD2D16Async")
def set_rows_of_halves(
    driver: Driver, target: Size, pitch: Size, value: Short, width: Size, height: Size
) -> None:
    _fill(driver, target, value, 2, (pitch, height, width))


@driver_function("cuMemsetD2D32_v2", "cuMemsetD2D32Async")
def set_rows_of_words(
    driver: Driver, target: Size, pitch: Size, value: UInt, width: Size, height: Size
) -> None:
    _fill(driver, target, value, 4, (pitch, height, width))


def _fill(driver: Driver, target: int, value: int, size: int, rows: Sequence[int]) -> None:
    """`rows` are the bytes from one row to the next, their number, and the elements of each."""
    pitch, height, width = rows
    for row in range(height if width else 0):
        part = driver.memory.writable_at(target + row * pitch, width * size)
        part.reshape(-1, size)[:] = np.frombuffer(value.to_bytes(size, "little"), np.uint8)
