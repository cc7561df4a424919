"""The CUDA driver as C calls it: `call("cuInit", 0)`."""

from __future__ import annotations

import ctypes

import numpy as np
import numpy.typing as npt

_LIBRARY = ctypes.CDLL("libcuda.so.1")


def result(name: str, *arguments: object) -> int:
    """The result of a function."""
    return _LIBRARY[name](*(_passed(one) for one in arguments))


def call(name: str, *arguments: object) -> None:
    """Calls a function that must succeed."""
    found = result(name, *arguments)
    assert found == 0, f"{name} returns {found}"


def given(name: str, *arguments: object) -> int:
    """What a function writes to its first argument."""
    value = ctypes.c_uint64()
    call(name, ctypes.byref(value), *arguments)
    return value.value


def start() -> None:
    """Initialises the driver, and makes a context current."""
    call("cuInit", 0)
    call("cuCtxSetCurrent", given("cuDevicePrimaryCtxRetain", 0))


def on_device(array: npt.NDArray[np.generic]) -> int:
    """The address of a copy of an array in the memory of the device."""
    address = given("cuMemAlloc_v2", array.nbytes)
    call("cuMemcpyHtoD_v2", address, array.ctypes.data, array.nbytes)
    return address


def fetch(address: int, like: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """The array at an address of the device, with the type and shape of another."""
    found = np.empty_like(like)
    call("cuMemcpyDtoH_v2", found.ctypes.data, address, found.nbytes)
    return found


def kernel(ptx: str, name: str) -> int:
    """A kernel of a module."""
    return given("cuModuleGetFunction", given("cuModuleLoadData", ptx.encode()), name.encode())


def pointers(*values: ctypes.c_uint64 | ctypes.c_uint32 | ctypes.c_float) -> ctypes.Array[ctypes.c_void_p]:
    """The parameters of a kernel, as a launch takes them."""
    _kept.append(values)
    return (ctypes.c_void_p * len(values))(*(ctypes.addressof(one) for one in values))


_kept: list[object] = []


def _passed(value: object) -> object:
    return ctypes.c_uint64(value) if isinstance(value, int) else value
