"""The device. There is one, number 0."""

from __future__ import annotations

from ptx_lsp.cuda.driver import Driver
from ptx_lsp.cuda.driver_function import Int, Pointer, driver_function
from ptx_lsp.cuda.host_memory import host_bytes, write_int, write_text, write_word
from ptx_lsp.cuda.results import DriverError, Result
from ptx_lsp.isa.device_limits import (
    MAX_BLOCK_DIMENSIONS,
    MAX_STATIC_SHARED_BYTES,
    MAX_THREADS_PER_BLOCK,
    WARP_SIZE,
)

MULTIPROCESSORS = 8
"""Few: programs that start a block for each have less to run."""
_UUID = b"ptx-lsp executor"
_CLUSTERS_SINCE = 90


def attribute(driver: Driver, number: int) -> int:
    """The value of a `CUdevice_attribute`; 0 if the device does not have it."""
    limits, target = driver.limits, driver.target
    known = {
        1: MAX_THREADS_PER_BLOCK, 2: MAX_BLOCK_DIMENSIONS[0], 3: MAX_BLOCK_DIMENSIONS[1],
        4: MAX_BLOCK_DIMENSIONS[2], 5: (1 << 31) - 1, 6: 65535, 7: 65535, 8: MAX_STATIC_SHARED_BYTES,
        9: 64 << 10, 10: WARP_SIZE, 11: (1 << 31) - 1, 12: limits.registers_per_block,
        13: 1_000_000,  # clock rate in kHz
        14: 512, 15: 1, 16: MULTIPROCESSORS,
        19: 1,  # maps host memory
        30: 512, 31: 1, 36: 1_000_000, 37: 256, 38: 32 << 20, 39: limits.threads_per_sm, 40: 1,
        41: 1,  # unified addresses
        51: 32, 75: target.number // 10, 76: target.number % 10, 81: limits.shared_bytes_per_sm,
        82: limits.registers_per_sm,
        83: 1,  # managed memory
        89: 1, 90: 1, 91: 1,
        95: 1,  # cooperative launches
        97: limits.shared_bytes_opt_in, 99: 1, 106: limits.blocks_per_sm, 111: limits.shared_bytes_reserved,
        120: int(limits.clusters), 127: int(target.number >= _CLUSTERS_SINCE),  # clusters, tensor maps
    }
    return known.get(number, 0)


@driver_function("cuDeviceGetCount")
def count(driver: Driver, result: Pointer) -> None:
    del driver
    write_int(result, 1)


@driver_function("cuDeviceGet")
def get(driver: Driver, result: Pointer, number: Int) -> None:
    del driver
    check_device(number)
    write_int(result, 0)


@driver_function("cuDeviceGetName")
def name(driver: Driver, result: Pointer, size: Int, device: Int) -> None:
    check_device(device)
    write_text(result, size, f"ptx-lsp executor ({driver.target})")


@driver_function("cuDeviceGetUuid", "cuDeviceGetUuid_v2")
def uuid(driver: Driver, result: Pointer, device: Int) -> None:
    del driver
    check_device(device)
    host_bytes(result, len(_UUID))[:] = list(_UUID)


@driver_function("cuDeviceTotalMem_v2")
def total_memory(driver: Driver, result: Pointer, device: Int) -> None:
    check_device(device)
    write_word(result, driver.memory.total)


@driver_function("cuDeviceGetAttribute")
def get_attribute(driver: Driver, result: Pointer, number: Int, device: Int) -> None:
    check_device(device)
    write_int(result, attribute(driver, number))


@driver_function("cuDeviceComputeCapability")
def compute_capability(driver: Driver, major: Pointer, minor: Pointer, device: Int) -> None:
    check_device(device)
    write_int(major, attribute(driver, 75))
    write_int(minor, attribute(driver, 76))


@driver_function("cuDeviceCanAccessPeer")
def can_access_peer(driver: Driver, result: Pointer, device: Int, peer: Int) -> None:
    del driver, device, peer
    write_int(result, 0)


@driver_function("cuDeviceGetPCIBusId")
def bus_id(driver: Driver, result: Pointer, size: Int, device: Int) -> None:
    del driver
    check_device(device)
    write_text(result, size, "0000:00:00.0")


def check_device(number: int) -> None:
    """Raises DriverError for a device that does not exist."""
    if number:
        raise DriverError(Result.INVALID_DEVICE)
