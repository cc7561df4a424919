"""Launches of kernels, and of functions of the host."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from ptx_lsp.cuda.driver import Driver
from ptx_lsp.cuda.driver_function import Pointer, Size, UInt, driver_function
from ptx_lsp.cuda.host_memory import host_bytes, read_word
from ptx_lsp.cuda.launches import LaunchShape
from ptx_lsp.cuda.modules import Kernel
from ptx_lsp.cuda.results import DriverError, Result

_COOPERATIVE, _CLUSTER = 2, 4
_BUFFER, _BUFFER_SIZE = 1, 2


class _Attribute(ctypes.Structure):
    """`CUlaunchAttribute`."""

    _fields_ = (("number", ctypes.c_uint), ("padding", ctypes.c_uint), ("value", ctypes.c_uint * 16))


class _Config(ctypes.Structure):
    """`CUlaunchConfig`."""

    _fields_ = (
        ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared_bytes", ctypes.c_uint),
        ("stream", ctypes.c_uint64), ("attributes", ctypes.c_uint64), ("count", ctypes.c_uint),
    )


@driver_function("cuLaunchKernel")
def launch(
    driver: Driver, kernel: Size, grid_x: UInt, grid_y: UInt, grid_z: UInt, block_x: UInt, block_y: UInt,
    block_z: UInt, shared_bytes: UInt, stream: Size, parameters: Pointer, extra: Pointer,
) -> None:
    del stream
    found, grid, block = driver.get(kernel, Kernel), (grid_x, grid_y, grid_z), (block_x, block_y, block_z)
    shape = LaunchShape(grid, block, shared_bytes, cluster_of(found))
    driver.launches.launch(found, shape, parameter_bytes(found, parameters, extra))


@driver_function("cuLaunchCooperativeKernel")
def launch_cooperative(
    driver: Driver, kernel: Size, grid_x: UInt, grid_y: UInt, grid_z: UInt, block_x: UInt, block_y: UInt,
    block_z: UInt, shared_bytes: UInt, stream: Size, parameters: Pointer,
) -> None:
    del stream
    found, grid, block = driver.get(kernel, Kernel), (grid_x, grid_y, grid_z), (block_x, block_y, block_z)
    shape = LaunchShape(grid, block, shared_bytes, cluster_of(found), is_cooperative=True)
    driver.launches.launch(found, shape, parameter_bytes(found, parameters, 0))


@driver_function("cuLaunchKernelEx")
def launch_with(driver: Driver, config: Pointer, kernel: Size, parameters: Pointer, extra: Pointer) -> None:
    given = _Config.from_address(config)
    found = driver.get(kernel, Kernel)
    cluster, is_cooperative = cluster_of(found), False
    for n in range(given.count):
        attribute = _Attribute.from_address(given.attributes + n * ctypes.sizeof(_Attribute))
        if attribute.number == _CLUSTER:
            cluster = tuple(attribute.value[:3])
        elif attribute.number == _COOPERATIVE:
            is_cooperative = bool(attribute.value[0])
    grid_x, grid_y, grid_z = given.grid
    block_x, block_y, block_z = given.block
    shape = LaunchShape(
        (grid_x, grid_y, grid_z), (block_x, block_y, block_z), given.shared_bytes, cluster, is_cooperative
    )
    driver.launches.launch(found, shape, parameter_bytes(found, parameters, extra))


@driver_function("cuLaunchHostFunc")
def call_host(driver: Driver, stream: Size, function: Pointer, data: Size) -> None:
    del driver, stream
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(function)(data)


def cluster_of(kernel: Kernel) -> Sequence[int] | None:
    """The cluster that attributes of a kernel demand; None if they do not."""
    sizes = [kernel.attributes.get(number, 0) for number in (11, 12, 13)]
    return [one or 1 for one in sizes] if any(sizes) else None


def parameter_bytes(kernel: Kernel, parameters: int, extra: int) -> bytes:
    """Parameter memory: of an array of pointers to the parameters, or of `extra`."""
    size = kernel.image.parameter_bytes
    if extra:
        return _of_buffer(extra, size)
    data = bytearray(size)
    for n, (at, length) in enumerate(kernel.parameters):
        pointer = read_word(parameters + 8 * n) if parameters else 0
        if not pointer:
            raise DriverError(Result.INVALID_VALUE, f"parameter {n} of `{kernel.name}` is missing")
        data[at : at + length] = host_bytes(pointer, length).tobytes()
    return bytes(data)


def _of_buffer(extra: int, size: int) -> bytes:
    """`extra` has pairs of a key and an address, and ends with 0."""
    given: dict[int, int] = {}
    while key := read_word(extra):
        given[key] = read_word(extra + 8)
        extra += 16
    length = read_word(given.get(_BUFFER_SIZE, 0)) if _BUFFER_SIZE in given else 0
    if length < size or _BUFFER not in given:
        raise DriverError(Result.INVALID_VALUE, f"the parameters have {length} bytes, not {size}")
    return host_bytes(given[_BUFFER], size).tobytes()
