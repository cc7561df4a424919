"""Calls the driver as C does, without any library."""

from __future__ import annotations

import ctypes

import numpy as np

from tests.cuda.programs.kernels import SAXPY
from tests.cuda.programs.libcuda import (
    call,
    fetch,
    given,
    kernel,
    on_device,
    pointers,
    result,
    start,
)

INVALID_VALUE, INVALID_CONTEXT, NO_BINARY, INVALID_HANDLE, NOT_FOUND = 1, 201, 209, 400, 500
ILLEGAL_ADDRESS, COOPERATIVE_LAUNCH_TOO_LARGE, NOT_SUPPORTED = 700, 720, 801
X = np.arange(100, dtype=np.float32)


def main() -> None:
    assert result("cuCtxGetDevice", ctypes.byref(ctypes.c_int())) == INVALID_CONTEXT
    start()
    devices()
    memory()
    host_memory()
    launches()
    modules()
    streams()
    graphs()
    links()
    addresses()
    errors()


def devices() -> None:
    assert given("cuDeviceGetCount") == 1
    name = ctypes.create_string_buffer(64)
    call("cuDeviceGetName", name, 64, 0)
    assert name.value == b"ptx-lsp executor (sm_90)"
    assert (given("cuDeviceGetAttribute", 75, 0), given("cuDeviceGetAttribute", 76, 0)) == (9, 0)
    assert given("cuDeviceGetAttribute", 10, 0) == 32
    assert result("cuDeviceGet", ctypes.byref(ctypes.c_int()), 1) == 101


def memory() -> None:
    before = given_info()
    address = on_device(X)
    assert given_info() == before - X.nbytes
    call("cuMemsetD32_v2", address + 8, 0x40000000, 3)
    call("cuMemcpyDtoD_v2", address + 40, address, 20)
    expected = X.copy()
    expected[2:5] = 2
    expected[10:15] = expected[:5]
    assert np.array_equal(fetch(address, X), expected)
    call("cuMemsetD2D8_v2", address, 16, 0, 4, 2)  # two rows of four bytes, 16 bytes apart
    expected[[0, 4]] = 0
    assert np.array_equal(fetch(address, X), expected)
    base, size = ctypes.c_uint64(), ctypes.c_uint64()
    call("cuMemGetAddressRange_v2", ctypes.byref(base), ctypes.byref(size), address + 12)
    assert (base.value, size.value) == (address, X.nbytes)
    assert given("cuPointerGetAttribute", 2, address) == 2  # memory of the device
    call("cuMemFree_v2", address)
    assert result("cuMemFree_v2", address) == INVALID_VALUE
    assert result("cuMemcpyDtoH_v2", X.ctypes.data, address, 4) == INVALID_VALUE
    assert given_info() == before


def given_info() -> int:
    free, total = ctypes.c_uint64(), ctypes.c_uint64()
    call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
    return free.value


def host_memory() -> None:
    """A kernel reads and writes managed, page-locked and registered memory of the host at its own address."""
    saxpy = kernel(SAXPY, "saxpy")
    registered = np.arange(100, dtype=np.float32)
    call("cuMemHostRegister_v2", registered.ctypes.data, registered.nbytes, 0)
    for address in (
        given("cuMemAllocManaged", 400, 1), given("cuMemHostAlloc", 400, 0), registered.ctypes.data,
    ):
        host = np.ctypeslib.as_array((ctypes.c_float * 100).from_address(address))
        host[:] = X
        launch(saxpy, address, 2.0)
        assert np.array_equal(host, 2 * X + 1)
    call("cuMemHostUnregister", registered.ctypes.data)


def launch(kernel: int, address: int, factor: float, count: int = 100) -> None:
    call("cuLaunchKernel", kernel, 4, 1, 1, 32, 1, 1, 0, 0, parameters(address, factor, count), 0)


def parameters(address: int, factor: float, count: int = 100) -> ctypes.Array[ctypes.c_void_p]:
    return pointers(ctypes.c_uint64(address), ctypes.c_float(factor), ctypes.c_uint32(count))


def launches() -> None:
    """The parameters as pointers, and as one buffer; a launch again, with others and with another grid."""
    saxpy, address = kernel(SAXPY, "saxpy"), on_device(X)
    launch(saxpy, address, 2.0)
    assert np.array_equal(fetch(address, X), 2 * X + 1)
    buffer = ctypes.create_string_buffer(16)
    ctypes.memmove(buffer, np.array([address], np.uint64).tobytes() + np.array([3], np.float32).tobytes(), 12)
    ctypes.memmove(ctypes.addressof(buffer) + 12, np.array([32], np.uint32).tobytes(), 4)
    size = ctypes.c_uint64(16)
    extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(size), 0)
    call("cuLaunchKernel", saxpy, 1, 1, 1, 32, 1, 1, 0, 0, 0, extra)
    expected = 2 * X + 1
    expected[:32] = 3 * expected[:32] + 1
    assert np.array_equal(fetch(address, X), expected)
    size.value = 12
    assert result("cuLaunchKernel", saxpy, 1, 1, 1, 32, 1, 1, 0, 0, 0, extra) == INVALID_VALUE
    assert given("cuOccupancyMaxActiveBlocksPerMultiprocessor", saxpy, 1024, 0) == 2
    passed = parameters(address, 1.0)
    assert result("cuLaunchKernel", saxpy, 1, 1, 1, 2048, 1, 1, 0, 0, passed, 0) == INVALID_VALUE
    refused = result("cuLaunchCooperativeKernel", saxpy, 9999, 1, 1, 1024, 1, 1, 0, 0, passed)
    assert refused == COOPERATIVE_LAUNCH_TOO_LARGE


def modules() -> None:
    """Variables keep their values from one launch to the next, and the host reads and writes them."""
    module = given("cuModuleLoadData", SAXPY.encode())
    saxpy, address = given("cuModuleGetFunction", module, b"saxpy"), on_device(X)
    assert result("cuModuleGetFunction", ctypes.byref(ctypes.c_uint64()), module, b"saxpi") == NOT_FOUND
    size = ctypes.c_uint64()
    count = given("cuModuleGetGlobal_v2", ctypes.byref(size), module, b"launches")
    assert size.value == 4
    offset = given("cuModuleGetGlobal_v2", 0, module, b"offset")
    call("cuMemcpyHtoD_v2", offset, np.array([7], np.float32).ctypes.data, 4)
    launch(saxpy, address, 1.0)
    launch(saxpy, address, 1.0, 50)
    assert fetch(count, np.zeros(1, np.uint32)) == 150
    assert np.array_equal(fetch(address, X), X + 7 + np.where(X < 50, 7, 0))
    call("cuModuleUnload", module)
    call("cuCtxSynchronize")
    assert result("cuMemcpyDtoH_v2", X.ctypes.data, count, 4) == INVALID_VALUE


def streams() -> None:
    stream, first, second = given("cuStreamCreate", 1), given("cuEventCreate", 0), given("cuEventCreate", 0)
    call("cuEventRecord", first, stream)
    call("cuStreamWaitEvent", stream, first, 0)
    call("cuEventRecord", second, stream)
    call("cuEventQuery", second)
    call("cuStreamQuery", stream)
    call("cuStreamSynchronize", stream)
    milliseconds = ctypes.c_float(-1)
    call("cuEventElapsedTime", ctypes.byref(milliseconds), first, second)
    assert milliseconds.value >= 0
    seen: list[int] = []
    function = ctypes.CFUNCTYPE(None, ctypes.c_size_t)(seen.append)
    call("cuLaunchHostFunc", stream, function, 5)
    assert seen == [5]
    call("cuStreamDestroy_v2", stream)
    assert result("cuStreamSynchronize", stream) == INVALID_HANDLE


class KernelNode(ctypes.Structure):
    """`CUDA_KERNEL_NODE_PARAMS`, version 1."""

    _fields_ = (
        ("kernel", ctypes.c_uint64), ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_uint), ("parameters", ctypes.c_void_p), ("extra", ctypes.c_uint64),
    )


def graphs() -> None:
    """A graph is launched, changed, and launched again."""
    address, graph = on_device(X), given("cuGraphCreate", 0)
    numbers = ctypes.c_uint64(address), ctypes.c_float(2), ctypes.c_uint32(100)
    node = KernelNode(kernel(SAXPY, "saxpy"), (4, 1, 1), (32, 1, 1), 0)
    places = pointers(*numbers)
    node.parameters = ctypes.addressof(places)
    handle = given("cuGraphAddKernelNode", graph, 0, 0, ctypes.byref(node))
    instance = given("cuGraphInstantiate_v2", graph, 0, 0, 0)
    numbers[1].value = 100  # the graph has a copy
    call("cuGraphLaunch", instance, 0)
    assert np.array_equal(fetch(address, X), 2 * X + 1)
    numbers[1].value = 3
    call("cuGraphExecKernelNodeSetParams", instance, handle, ctypes.byref(node))
    call("cuGraphLaunch", instance, 0)
    assert np.array_equal(fetch(address, X), 3 * (2 * X + 1) + 1)


def links() -> None:
    """Two texts become one module."""
    state = given_last("cuLinkCreate_v2", 0, 0, 0)
    caller = SAXPY.replace(
        "st.global.f32", "call (%f1), twice, (%f1);\n\tst.global.f32"
    ).replace(".visible", ".extern .func (.param .f32 r) twice(.param .f32 x);\n.visible")
    callee = (
        ".version 8.1\n.target sm_80\n.address_size 64\n.visible .func (.param .f32 r) twice(.param .f32 x)\n"
        "{\n.reg .f32 %f;\nld.param.f32 %f, [x];\nadd.f32 %f, %f, %f;\nst.param.f32 [r], %f;\nret;\n}\n"
    )
    for text in (caller, callee):
        call("cuLinkAddData_v2", state, 1, text.encode(), len(text), b"a.ptx", 0, 0, 0)
    size, image = ctypes.c_uint64(), ctypes.c_uint64()
    call("cuLinkComplete", state, ctypes.byref(image), ctypes.byref(size))
    saxpy = given("cuModuleGetFunction", given("cuModuleLoadData", image.value), b"saxpy")
    address = on_device(X)
    launch(saxpy, address, 2.0)
    assert np.array_equal(fetch(address, X), 2 * (2 * X + 1))
    assert result("cuLinkAddData_v2", state, 4, b"x", 1, b"a.lib", 0, 0, 0) == NOT_SUPPORTED
    call("cuLinkDestroy", state)


def given_last(name: str, *arguments: object) -> int:
    value = ctypes.c_uint64()
    call(name, *arguments, ctypes.byref(value))
    return value.value


def addresses() -> None:
    """Functions by name: the version of CUDA chooses the variant, and one that is missing says so."""
    prototype = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64)
    old, new = address_of("cuCtxGetDevice", 2000), address_of("cuCtxGetDevice", 13000)
    assert old != new
    number = ctypes.c_int(-1)
    assert prototype(old)(ctypes.addressof(number)) == 0
    assert number.value == 0
    assert prototype(address_of("cuArrayCreate", 3020))(0) == NOT_SUPPORTED


def address_of(name: str, version: int) -> int:
    value = ctypes.c_uint64()
    call("cuGetProcAddress_v2", name.encode(), ctypes.byref(value), version, 0, 0)
    return value.value


def errors() -> None:
    text = ctypes.c_char_p()
    call("cuGetErrorName", ILLEGAL_ADDRESS, ctypes.byref(text))
    assert text.value == b"CUDA_ERROR_ILLEGAL_ADDRESS"
    assert result("cuLaunchKernel", 12345, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0) == INVALID_HANDLE
    machine_code = ctypes.create_string_buffer(b"\x7fELF" + bytes(64))
    assert result("cuModuleLoadData", ctypes.byref(ctypes.c_uint64()), machine_code) == NO_BINARY
    given_pointers = pointers(ctypes.c_uint64(on_device(X)), ctypes.c_float(2), ctypes.c_uint32(1000))
    saxpy = kernel(SAXPY, "saxpy")
    assert result("cuLaunchKernel", saxpy, 32, 1, 1, 32, 1, 1, 0, 0, given_pointers, 0) == ILLEGAL_ADDRESS


main()
print("done")
