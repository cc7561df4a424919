"""Kernels: their attributes and parameters.

Registers per thread are those that ptxas would choose, and are given as 0: there is no machine code.
"""

from __future__ import annotations

from ptx_lsp.cuda.driver import Driver
from ptx_lsp.cuda.driver_function import Int, Pointer, Size, driver_function
from ptx_lsp.cuda.host_memory import write_int, write_word
from ptx_lsp.cuda.modules import Kernel
from ptx_lsp.cuda.results import DriverError, Result
from ptx_lsp.isa.device_limits import MAX_STATIC_SHARED_BYTES, MAX_THREADS_PER_BLOCK
from ptx_lsp.model.directives.performance_directives import effective_directives

_MOST_DYNAMIC_SHARED = 8


@driver_function("cuFuncGetAttribute")
def attribute(driver: Driver, result: Pointer, number: Int, kernel: Size) -> None:
    write_int(result, _attribute(driver, driver.get(kernel, Kernel), number))


@driver_function("cuKernelGetAttribute")
def attribute_on_device(driver: Driver, result: Pointer, number: Int, kernel: Size, device: Int) -> None:
    del device
    attribute(driver, result, number, kernel)


@driver_function("cuFuncSetAttribute")
def set_attribute(driver: Driver, kernel: Size, number: Int, value: Int) -> None:
    if number == _MOST_DYNAMIC_SHARED and value > driver.limits.shared_bytes_opt_in:
        raise DriverError(Result.INVALID_VALUE)
    driver.get(kernel, Kernel).attributes[number] = value


@driver_function("cuKernelSetAttribute")
def set_attribute_on_device(driver: Driver, number: Int, value: Int, kernel: Size, device: Int) -> None:
    del device
    set_attribute(driver, kernel, number, value)


@driver_function("cuFuncSetCacheConfig", "cuKernelSetCacheConfig", "cuFuncSetSharedMemConfig", "cuFuncLoad")
def nothing(driver: Driver, kernel: Size) -> None:
    """Has no effect that programs can see."""
    assert driver.get(kernel, Kernel)


@driver_function("cuFuncIsLoaded")
def is_loaded(driver: Driver, result: Pointer, kernel: Size) -> None:
    assert driver.get(kernel, Kernel)
    write_int(result, 1)


@driver_function("cuFuncGetName", "cuKernelGetName")
def name(driver: Driver, result: Pointer, kernel: Size) -> None:
    write_word(result, driver.text(driver.get(kernel, Kernel).name))


@driver_function("cuFuncGetParamInfo", "cuKernelGetParamInfo")
def parameter(driver: Driver, kernel: Size, number: Size, offset: Pointer, size: Pointer) -> None:
    parameters = driver.get(kernel, Kernel).parameters
    if number >= len(parameters):
        raise DriverError(Result.INVALID_VALUE)
    at, length = parameters[number]
    write_word(offset, at)
    write_word(size, length)


@driver_function("cuFuncGetParamCount", "cuKernelGetParamCount")
def parameter_count(driver: Driver, kernel: Size, result: Pointer) -> None:
    write_word(result, len(driver.get(kernel, Kernel).parameters))


def most_threads(kernel: Kernel) -> int:
    """The most threads that a block of a kernel may have."""
    directives = effective_directives(kernel.function)
    given = directives.last(".reqntid") or directives.last(".maxntid")
    return min(given.product if given and given.product else MAX_THREADS_PER_BLOCK, MAX_THREADS_PER_BLOCK)


def _attribute(driver: Driver, kernel: Kernel, number: int) -> int:
    """The value of a `CUfunction_attribute`."""
    target = driver.target.number
    match number:
        case 0:
            return most_threads(kernel)
        case 1:
            return kernel.image.shared_bytes
        case 3:
            return kernel.image.local_bytes
        case 5 | 6:  # the versions of PTX and of machine code
            return target
        case _ if number == _MOST_DYNAMIC_SHARED:
            return kernel.attributes.get(number, max(0, MAX_STATIC_SHARED_BYTES - kernel.image.shared_bytes))
        case _:
            return kernel.attributes.get(number, 0)
