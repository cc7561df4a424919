"""Makes this process see a CUDA device: the executor."""

from __future__ import annotations

import atexit
import ctypes
import os
import platform
import shutil
import stat
import tempfile
import traceback
import warnings
from _thread import interrupt_main
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from ptx_lsp.cuda import api
from ptx_lsp.cuda.driver import Driver
from ptx_lsp.cuda.driver_function import C_TYPES, DriverFunction, defined
from ptx_lsp.cuda.launches import Launches, LaunchReport, Settings
from ptx_lsp.cuda.report import print_report
from ptx_lsp.cuda.results import DriverError, Result
from ptx_lsp.cuda.shared_library import TABLE, is_supported, shared_library
from ptx_lsp.isa.device_limits import limits_of
from ptx_lsp.packages import module_names

NAME = "libcuda.so.1"
_DEFAULTS = Settings()
_LINKERS = "libnvJitLink.so.12", "libnvJitLink.so.13"
"""They link to machine code. Where they have no functions, Numba and cuda.core link with the driver."""
_PTXAS = """\
#!/bin/sh
# Stands for ptxas where programs run on the executor of ptx-lsp: the result is the PTX itself.
while [ $# -gt 0 ]; do
  case "$1" in
    --version) echo "Cuda compilation tools, release 13.0, V13.0.0"; exit 0 ;;
    -o) shift; result=$1 ;;
    -*) ;;
    *) source=$1 ;;
  esac
  shift
done
exec cp -- "$source" "$result"
"""


def install(
    settings: Settings = _DEFAULTS, report: Callable[[LaunchReport], None] = print_report
) -> Driver:
    """Puts the driver into this process, before the program imports what uses CUDA. `report` receives what is
    wrong with launches.

    Raises ValueError for a device that is not known, OSError where the system cannot load the driver or the
    folder for modules cannot be made, and RuntimeError if a driver is loaded already.
    """
    if not is_supported():
        raise OSError(f"the CUDA driver requires Linux on x86-64 or AArch64; this is {platform.platform()}")
    if _kept:
        raise RuntimeError("the CUDA driver is already installed in this process")
    limits_of(settings.device)
    functions = _functions()
    driver = Driver(Launches(settings, report))
    folder = Path(tempfile.mkdtemp(prefix="ptx-run-"))
    atexit.register(_remove, folder, os.getpid())
    path = folder / NAME
    path.write_bytes(shared_library(NAME, [one.name for one in functions], platform.machine()))
    library = ctypes.CDLL(str(path))
    table = (ctypes.c_void_p * len(functions)).in_dll(library, TABLE)
    for number, function in enumerate(functions):
        table[number] = _callback(driver, function)
        entry = ctypes.cast(library[function.name], ctypes.c_void_p)
        driver.addresses[function.name] = entry.value or 0
    if ctypes.CDLL(NAME)._handle != library._handle:
        raise RuntimeError(f"another {NAME} is loaded in this process")
    atexit.register(ctypes.memset, table, 0, ctypes.sizeof(table))  # Python cannot be called any more
    for name in _LINKERS:
        (folder / name).write_bytes(shared_library(name, [], platform.machine()))
        _kept.append(ctypes.CDLL(str(folder / name)))
    _set_environment(folder)
    return driver


def _functions() -> list[DriverFunction]:
    """All functions of the driver."""
    for name in module_names(api.__path__):
        import_module(f"{api.__name__}.{name}")
    return list(defined().values())


_kept: list[object] = []
"""The callbacks and libraries, which C uses to the end."""


def _callback(driver: Driver, function: DriverFunction) -> int:
    """The address of what C calls for a function."""
    perform = _deferred_call(driver, function) if function.is_deferred else _call(driver, function)
    callback = ctypes.CFUNCTYPE(ctypes.c_int, *(C_TYPES[one] for one in function.argument_types))(perform)
    _kept.append(callback)
    return ctypes.cast(callback, ctypes.c_void_p).value or 0


def _deferred_call(driver: Driver, function: DriverFunction) -> Callable[[int], int]:
    """Destructors in C++ call such a function while a Python exception is on its way, which gets lost in
    the first call of anything that is not written in Python. So this calls nothing.
    """
    perform = _call(driver, function)

    def defer(handle: int) -> int:
        driver.deferred = perform, handle, driver.deferred
        return 0

    return defer


def _call(driver: Driver, function: DriverFunction) -> Callable[..., int]:
    """Performs a function. Returns its result."""
    meaning, name = function.meaning, function.name

    def call(*arguments: int) -> int:
        try:
            with driver.lock:
                driver.perform_deferred()
                meaning(driver, *arguments)
        except DriverError as error:
            if error.message:
                driver.note(name, error.message)
            return error.result
        except KeyboardInterrupt:
            interrupt_main()
            return Result.UNKNOWN
        except Exception:
            driver.note(name, f"internal error\n{traceback.format_exc()}")
            return Result.UNKNOWN
        return Result.SUCCESS

    return call


def _remove(folder: Path, process: int) -> None:
    """Removes the folder at the end of the process that made it, not of its children."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def _set_environment(folder: Path) -> None:
    """Tells libraries where the driver is, and to compile to PTX."""
    ptxas = folder / "ptxas"
    ptxas.write_text(_PTXAS, encoding="utf-8")
    ptxas.chmod(ptxas.stat().st_mode | stat.S_IXUSR)
    before = os.environ.get("LD_LIBRARY_PATH")
    os.environ["LD_LIBRARY_PATH"] = f"{folder}:{before}" if before else str(folder)  # tinygrad looks there
    os.environ["TRITON_LIBCUDA_PATH"] = str(folder)
    os.environ["TRITON_PTXAS_PATH"] = os.environ["TRITON_PTXAS_BLACKWELL_PATH"] = str(ptxas)
    warnings.filterwarnings("ignore", "libnvJitLink.*is too old")
