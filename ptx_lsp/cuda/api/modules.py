"""Modules and libraries: PTX in memory. A library is a module that belongs to no context."""

from __future__ import annotations

from pathlib import Path

from ptx_lsp.cuda.driver import Driver
from ptx_lsp.cuda.driver_function import Pointer, Size, UInt, driver_function
from ptx_lsp.cuda.host_memory import read_text, write_int, write_word
from ptx_lsp.cuda.modules import Kernel, LoadedModule, read_image, text_of
from ptx_lsp.cuda.results import DriverError, Result


@driver_function("cuModuleLoadData", "cuModuleLoadDataEx", "cuModuleLoadFatBinary", "cuLibraryLoadData")
def load(driver: Driver, result: Pointer, image: Pointer) -> None:
    write_word(result, driver.add(driver.load(read_image(image))))


@driver_function("cuModuleLoad", "cuLibraryLoadFromFile")
def load_file(driver: Driver, result: Pointer, path: Pointer) -> None:
    try:
        data = Path(read_text(path)).read_bytes()
    except OSError as error:
        raise DriverError(Result.FILE_NOT_FOUND, f"{error}") from error
    write_word(result, driver.add(driver.load(text_of(data))))


@driver_function("cuModuleUnload", "cuLibraryUnload", is_deferred=True)
def unload(driver: Driver, module: Size) -> None:
    driver.remove(module, LoadedModule).unload()


@driver_function("cuModuleGetFunction", "cuLibraryGetKernel")
def function(driver: Driver, result: Pointer, module: Size, name: Pointer) -> None:
    write_word(result, driver.kernel_handle(driver.get(module, LoadedModule).kernel(read_text(name))))


@driver_function("cuModuleGetFunctionCount")
def function_count(driver: Driver, result: Pointer, module: Size) -> None:
    write_int(result, len(driver.get(module, LoadedModule).kernels))


@driver_function("cuLibraryGetKernelCount")
def kernel_count(driver: Driver, result: Pointer, module: Size) -> None:
    write_int(result, len(driver.get(module, LoadedModule).kernels))


@driver_function("cuModuleEnumerateFunctions", "cuLibraryEnumerateKernels")
def functions(driver: Driver, results: Pointer, count: UInt, module: Size) -> None:
    kernels = list(driver.get(module, LoadedModule).kernels.values())
    for n, kernel in enumerate(kernels[:count]):
        write_word(results + 8 * n, driver.kernel_handle(kernel))


@driver_function("cuLibraryGetModule")
def module_of_library(driver: Driver, result: Pointer, library: Size) -> None:
    assert driver.get(library, LoadedModule)
    write_word(result, library)


@driver_function("cuModuleGetGlobal_v2", "cuLibraryGetGlobal", "cuLibraryGetManaged")
def variable(driver: Driver, address: Pointer, size: Pointer, module: Size, name: Pointer) -> None:
    found, length = driver.get(module, LoadedModule).variable(read_text(name))
    write_word(address, found)
    write_word(size, length)


@driver_function("cuModuleGetLoadingMode")
def loading_mode(driver: Driver, result: Pointer) -> None:
    del driver
    write_int(result, 1)  # eager


@driver_function("cuKernelGetFunction")
def function_of_kernel(driver: Driver, result: Pointer, kernel: Size) -> None:
    assert driver.get(kernel, Kernel)
    write_word(result, kernel)


@driver_function("cuKernelGetLibrary", "cuFuncGetModule")
def module_of_kernel(driver: Driver, result: Pointer, kernel: Size) -> None:
    module = driver.get(kernel, Kernel).module
    handles = (handle for handle, one in driver.objects.items() if one is module)
    write_word(result, next(handles, 0))
