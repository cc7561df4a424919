"""Memory: allocation, and what a pointer points to."""

from __future__ import annotations

from ptx_lsp.cuda.driver import CONTEXT, Driver
from ptx_lsp.cuda.driver_function import Int, Pointer, Size, UInt, driver_function
from ptx_lsp.cuda.host_memory import read_ints, read_words, write_int, write_word
from ptx_lsp.cuda.results import DriverError, Result

_PITCH = 512


@driver_function("cuMemAlloc_v2", "cuMemAllocAsync", "cuMemAllocFromPoolAsync")
def allocate(driver: Driver, result: Pointer, size: Size) -> None:
    write_word(result, driver.memory.allocate(size))


@driver_function("cuMemAllocPitch_v2")
def allocate_pitched(driver: Driver, result: Pointer, pitch: Pointer, width: Size, height: Size) -> None:
    row = -(-width // _PITCH) * _PITCH
    write_word(result, driver.memory.allocate(row * height))
    write_word(pitch, row)


@driver_function("cuMemAllocManaged")
def allocate_managed(driver: Driver, result: Pointer, size: Size) -> None:
    write_word(result, driver.memory.allocate_host(size, "managed"))


@driver_function("cuMemHostAlloc", "cuMemAllocHost_v2")
def allocate_host(driver: Driver, result: Pointer, size: Size) -> None:
    write_word(result, driver.memory.allocate_host(size, "host"))


@driver_function("cuMemFree_v2", "cuMemFreeAsync")
def free(driver: Driver, address: Size) -> None:
    if address:
        driver.memory.free(address, "device", "managed")


@driver_function("cuMemFreeHost")
def free_host(driver: Driver, address: Size) -> None:
    driver.memory.free(address, "host")


@driver_function("cuMemHostRegister_v2")
def register(driver: Driver, address: Size, size: Size) -> None:
    driver.memory.register(address, size)


@driver_function("cuMemHostUnregister")
def unregister(driver: Driver, address: Size) -> None:
    driver.memory.free(address, "registered")


@driver_function("cuMemHostGetDevicePointer_v2")
def device_pointer(driver: Driver, result: Pointer, address: Size) -> None:
    write_word(result, address if driver.memory.buffer_at(address) else 0)


@driver_function("cuMemHostGetFlags")
def host_flags(driver: Driver, result: Pointer, address: Size) -> None:
    assert driver.memory.buffer_at(address)
    write_int(result, 0)


@driver_function("cuMemGetInfo_v2")
def info(driver: Driver, free: Pointer, total: Pointer) -> None:
    write_word(free, driver.memory.total - driver.memory.used)
    write_word(total, driver.memory.total)


@driver_function("cuMemGetAddressRange_v2")
def address_range(driver: Driver, base: Pointer, size: Pointer, address: Size) -> None:
    buffer = driver.memory.buffer_at(address)
    write_word(base, buffer.base)
    write_word(size, buffer.data.size)


@driver_function("cuMemAdvise", "cuMemAdvise_v2", "cuMemPrefetchAsync", "cuMemPrefetchAsync_v2")
def advise(driver: Driver) -> None:
    del driver


@driver_function("cuPointerGetAttribute")
def pointer_attribute(driver: Driver, result: Pointer, attribute: Int, address: Size) -> None:
    _write_attribute(driver, result, attribute, address)


@driver_function("cuPointerGetAttributes")
def pointer_attributes(
    driver: Driver, count: UInt, attributes: Pointer, results: Pointer, address: Size
) -> None:
    for attribute, result in zip(read_ints(attributes, count), read_words(results, count), strict=True):
        try:
            _write_attribute(driver, result, attribute, address)
        except DriverError:
            write_int(result, 0)


def _write_attribute(driver: Driver, result: int, attribute: int, address: int) -> None:
    """Writes a `CUpointer_attribute`. Raises DriverError for memory that the device does not know."""
    buffer = driver.memory.buffer_at(address)
    kind, _ = driver.memory.kinds.get(buffer.base, ("device", 0))
    is_host = kind in ("host", "registered")
    match attribute:
        case 1:
            write_word(result, CONTEXT)
        case 2:  # the kind of memory: host or device
            write_int(result, 1 if is_host else 2)
        case 3:
            write_word(result, address)
        case 4:  # the pointer on the host
            if kind == "device":
                raise DriverError(Result.INVALID_VALUE)
            write_word(result, address)
        case 6:  # synchronises memory operations
            write_int(result, 1)
        case 7:
            write_word(result, buffer.base)
        case 8:
            write_int(result, kind == "managed")
        case 9:  # the number of the device
            write_int(result, 0)
        case 11:
            write_word(result, buffer.base)
        case 12:
            write_word(result, buffer.data.size)
        case 13:  # is mapped
            write_int(result, 1)
        case _:
            raise DriverError(Result.INVALID_VALUE)
