"""Contexts. All handles are those of one context."""

from __future__ import annotations

from ptx_lsp.cuda.api.devices import check_device
from ptx_lsp.cuda.driver import CONTEXT, VERSION, Driver
from ptx_lsp.cuda.driver_function import Int, Pointer, Size, UInt, driver_function
from ptx_lsp.cuda.host_memory import write_int, write_word
from ptx_lsp.cuda.results import DriverError, Result

_LIMITS = {0: 1024, 1: 1 << 20, 2: 8 << 20}
"""Of stack, printf buffer and heap, in bytes."""


@driver_function("cuDevicePrimaryCtxRetain")
def retain(driver: Driver, result: Pointer, device: Int) -> None:
    check_device(device)
    driver.is_primary_active = True
    write_word(result, CONTEXT)


@driver_function("cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxReset_v2")
def release(driver: Driver, device: Int) -> None:
    del driver
    check_device(device)


@driver_function("cuDevicePrimaryCtxSetFlags_v2")
def set_primary_flags(driver: Driver, device: Int, flags: UInt) -> None:
    del driver, flags
    check_device(device)


@driver_function("cuDevicePrimaryCtxGetState")
def primary_state(driver: Driver, device: Int, flags: Pointer, active: Pointer) -> None:
    check_device(device)
    write_int(flags, 0)
    write_int(active, driver.is_primary_active)


@driver_function("cuCtxCreate_v2")
def create(driver: Driver, result: Pointer, flags: UInt, device: Int) -> None:
    del flags
    check_device(device)
    driver.contexts.stack.append(CONTEXT)
    write_word(result, CONTEXT)


@driver_function("cuCtxCreate_v4", since=12050)
def create_with(driver: Driver, result: Pointer, settings: Pointer, flags: UInt, device: Int) -> None:
    del settings
    create(driver, result, flags, device)


@driver_function("cuCtxDestroy_v2")
def destroy(driver: Driver, context: Size) -> None:
    if driver.contexts.stack[-1:] == [context]:
        driver.contexts.stack.pop()


@driver_function("cuCtxSetCurrent")
def set_current(driver: Driver, context: Size) -> None:
    if context not in (0, CONTEXT):
        raise DriverError(Result.INVALID_CONTEXT)
    driver.contexts.stack[-1:] = [context] if context else []


@driver_function("cuCtxGetCurrent")
def current(driver: Driver, result: Pointer) -> None:
    write_word(result, driver.contexts.stack[-1] if driver.contexts.stack else 0)


@driver_function("cuCtxPushCurrent_v2")
def push(driver: Driver, context: Size) -> None:
    if context != CONTEXT:
        raise DriverError(Result.INVALID_CONTEXT)
    driver.contexts.stack.append(context)


@driver_function("cuCtxPopCurrent_v2")
def pop(driver: Driver, result: Pointer) -> None:
    if not driver.contexts.stack:
        raise DriverError(Result.INVALID_CONTEXT)
    write_word(result, driver.contexts.stack.pop())


@driver_function("cuCtxGetDevice")
def device_of_current(driver: Driver, result: Pointer) -> None:
    if not driver.contexts.stack:
        raise DriverError(Result.INVALID_CONTEXT)
    write_int(result, 0)


@driver_function("cuCtxGetDevice_v2", since=13000)
def device_of(driver: Driver, result: Pointer, context: Size) -> None:
    if not context:
        device_of_current(driver, result)
    write_int(result, 0)


@driver_function(
    "cuCtxSynchronize", "cuCtxEnablePeerAccess", "cuCtxDisablePeerAccess", "cuCtxSetCacheConfig",
    "cuCtxSetSharedMemConfig", "cuCtxResetPersistingL2Cache", "cuCtxSetFlags", "cuProfilerStart",
    "cuProfilerStop",
)
def nothing(driver: Driver) -> None:
    """Everything is done already, or has no effect that programs can see."""
    del driver


@driver_function("cuCtxSynchronize_v2", since=13000)
def synchronize(driver: Driver, context: Size) -> None:
    del driver, context


@driver_function("cuCtxSetLimit")
def set_limit(driver: Driver, limit: Int, value: Size) -> None:
    driver.context_limits[limit] = value


@driver_function("cuCtxGetLimit")
def limit(driver: Driver, result: Pointer, limit: Int) -> None:
    write_word(result, driver.context_limits.get(limit, _LIMITS.get(limit, 0)))


@driver_function("cuCtxGetStreamPriorityRange")
def priorities(driver: Driver, least: Pointer, greatest: Pointer) -> None:
    del driver
    write_int(least, 0)
    write_int(greatest, 0)


@driver_function("cuCtxGetApiVersion")
def api_version(driver: Driver, context: Size, result: Pointer) -> None:
    del driver, context
    write_int(result, VERSION)


@driver_function("cuCtxGetFlags", "cuCtxGetCacheConfig")
def flags(driver: Driver, result: Pointer) -> None:
    del driver
    write_int(result, 0)


@driver_function("cuCtxGetId")
def identifier(driver: Driver, context: Size, result: Pointer) -> None:
    del driver, context
    write_word(result, 1)
