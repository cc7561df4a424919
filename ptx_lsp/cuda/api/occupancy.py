"""Occupancy: without registers, which only ptxas knows. Threads and shared memory limit it here."""

from __future__ import annotations

import ctypes

from ptx_lsp.cuda.api.devices import MULTIPROCESSORS
from ptx_lsp.cuda.api.kernels import most_threads
from ptx_lsp.cuda.driver import Driver
from ptx_lsp.cuda.driver_function import Int, Pointer, Size, driver_function
from ptx_lsp.cuda.host_memory import write_int, write_word
from ptx_lsp.cuda.modules import Kernel
from ptx_lsp.cuda.results import DriverError, Result


@driver_function(
    "cuOccupancyMaxActiveBlocksPerMultiprocessor", "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags"
)
def blocks(driver: Driver, result: Pointer, kernel: Size, threads: Int, shared_bytes: Size) -> None:
    write_int(result, _blocks(driver, driver.get(kernel, Kernel), threads, shared_bytes))


@driver_function("cuOccupancyMaxPotentialBlockSize", "cuOccupancyMaxPotentialBlockSizeWithFlags")
def block_size(
    driver: Driver, grid: Pointer, block: Pointer, kernel: Size, shared_of: Pointer, shared_bytes: Size,
    limit: Int,
) -> None:
    """The largest block that fits with its dynamic shared memory."""
    found = driver.get(kernel, Kernel)
    size = most_threads(found) if limit <= 0 else min(limit, most_threads(found))
    function = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)(shared_of) if shared_of else None
    while size > 1 and not _blocks(driver, found, size, function(size) if function else shared_bytes):
        size -= 32 if size > 32 else 1
    write_int(block, size)
    fit = _blocks(driver, found, size, function(size) if function else shared_bytes)
    write_int(grid, fit * MULTIPROCESSORS)


@driver_function("cuOccupancyMaxActiveClusters")
def clusters(driver: Driver, result: Pointer, kernel: Size) -> None:
    assert driver.get(kernel, Kernel)
    write_int(result, MULTIPROCESSORS)


@driver_function("cuOccupancyAvailableDynamicSMemPerBlock")
def available_shared(driver: Driver, result: Pointer, kernel: Size, blocks: Int, threads: Int) -> None:
    del threads
    found = driver.get(kernel, Kernel)
    limits = driver.limits
    each = limits.shared_bytes_per_sm // max(1, blocks) - limits.shared_bytes_reserved
    write_word(result, max(0, min(each, limits.shared_bytes_opt_in) - found.image.shared_bytes))


def _blocks(driver: Driver, kernel: Kernel, threads: int, dynamic_bytes: int) -> int:
    """How many blocks one SM has room for."""
    if threads <= 0:
        raise DriverError(Result.INVALID_VALUE)
    limits = driver.limits
    warps = -(-threads // 32)
    shared = kernel.image.shared_bytes + dynamic_bytes
    if threads > most_threads(kernel) or shared > limits.shared_bytes_opt_in:
        return 0
    room = limits.shared_bytes_per_sm // (max(1, shared) + limits.shared_bytes_reserved)
    return min(limits.blocks_per_sm, limits.warps_per_sm // warps, room)
