"""Initialisation, version, names of errors, and addresses of functions."""

from __future__ import annotations

from ptx_lsp.cuda.driver import VERSION, Driver
from ptx_lsp.cuda.driver_function import Int, Pointer, Size, UInt, defined, driver_function
from ptx_lsp.cuda.host_memory import read_text, write_int, write_word
from ptx_lsp.cuda.results import DESCRIPTIONS, DriverError, Result


@driver_function("cuInit")
def initialize(driver: Driver, flags: UInt) -> None:
    del driver, flags


@driver_function("cuDriverGetVersion")
def version(driver: Driver, result: Pointer) -> None:
    del driver
    write_int(result, VERSION)


@driver_function("cuGetErrorString")
def error_string(driver: Driver, error: UInt, result: Pointer) -> None:
    write_word(result, driver.text(DESCRIPTIONS[_known(error)]))


@driver_function("cuGetErrorName")
def error_name(driver: Driver, error: UInt, result: Pointer) -> None:
    known = _known(error)
    write_word(result, driver.text("CUDA_SUCCESS" if known is Result.SUCCESS else f"CUDA_ERROR_{known.name}"))


@driver_function("cuGetProcAddress", since=11030)
def function_address(driver: Driver, name: Pointer, result: Pointer, wanted: Int, flags: Size) -> None:
    function_address_and_status(driver, name, result, wanted, flags, Pointer(0))


@driver_function("cuGetProcAddress_v2", since=12000)
def function_address_and_status(
    driver: Driver, name: Pointer, result: Pointer, wanted: Int, flags: Size, status: Pointer
) -> None:
    """A function that is not implemented fails and says so when it is called."""
    del flags
    text = read_text(name).removesuffix("_ptsz").removesuffix("_ptds")
    named = [one for one in defined().values() if text in (one.base_name, one.name)]
    fitting = [one for one in named if one.since <= wanted] or named
    write_int(status, 0)
    if fitting:
        write_word(result, driver.addresses[max(fitting, key=lambda one: one.since).name])
        return
    write_word(result, driver.missing(text))


@driver_function("cuGetExportTable")
def export_table(driver: Driver, result: Pointer, identifier: Pointer) -> None:
    """There are no tables of private functions. NVRTC does without; the CUDA runtime does not."""
    del driver, identifier
    write_word(result, 0)
    raise DriverError(Result.NOT_FOUND)


def _known(error: int) -> Result:
    try:
        return Result(error)
    except ValueError:
        raise DriverError(Result.INVALID_VALUE) from None
