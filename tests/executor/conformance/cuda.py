"""Runs kernels on a CUDA GPU, through the driver's own library (CUDA Driver API); nothing else is needed."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Mapping, Sequence
from ctypes.util import find_library
from dataclasses import dataclass

import numpy as np

from ptx_lsp.executor.launching.instruction_harness import InstructionHarness
from ptx_lsp.executor.launching.object_specs import Object, array_of
from ptx_lsp.executor.launching.specs import Array, Value
from ptx_lsp.executor.machine.tensor_map import TensorMap
from ptx_lsp.executor.machine.texture import Opaque
from ptx_lsp.isa.target import Target, Version
from tests.executor.conformance.cuda_images import Images, UnbindableError
from tests.executor.conformance.cuda_tensor import Encoded, encoded

_NAMES = ("nvcuda.dll",) if sys.platform == "win32" else ("libcuda.so.1", "libcuda.so")
_CLUSTER_DIMENSION = 4  # CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
_MAJOR, _MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
_PTX_OF_CUDA = {11: (7, 0), 12: (8, 0), 13: (9, 0)}
"""The PTX version of the first release of each CUDA version; each later release has one more."""


class CudaError(Exception):
    """There is no GPU, or it refuses something."""


@dataclass(frozen=True)
class Description:
    """A GPU: its name, its driver's CUDA version, and for what PTX kernels are to be written."""

    name: str
    cuda: Version
    target: Target

    @property
    def header(self) -> str:
        """The head of a PTX file for it."""
        first = _PTX_OF_CUDA.get(self.cuda.major)
        if first is None:
            raise CudaError(f"CUDA {self.cuda} is not known here")
        version = Version(first[0], first[1] + self.cuda.minor)
        return f".version {version}\n.target {self.target}\n.address_size 64\n"

    def __str__(self) -> str:
        return f"{self.name}, {self.target}, driver for CUDA {self.cuda}"


class _Attribute(ctypes.Structure):
    """CUlaunchAttribute, for the size of clusters."""

    _fields_ = (
        ("id", ctypes.c_uint), ("gap", ctypes.c_uint), ("x", ctypes.c_uint), ("y", ctypes.c_uint),
        ("z", ctypes.c_uint), ("rest", ctypes.c_char * 52),
    )


class _Config(ctypes.Structure):
    """CUlaunchConfig"""

    _fields_ = (
        *((name, ctypes.c_uint) for name in ("gx", "gy", "gz", "bx", "by", "bz", "shared")),
        ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(_Attribute)), ("count", ctypes.c_uint),
    )


class Gpu:
    """The first GPU of this machine."""

    def __init__(self, library: str | None = None) -> None:
        """Raises CudaError where there is none. `library` is the driver's, by default that of the system."""
        self._cuda = _load(library)
        self._call("cuInit", ctypes.c_uint(0))
        count = ctypes.c_int()
        self._call("cuDeviceGetCount", ctypes.byref(count))
        if count.value < 1:
            raise CudaError("the driver knows of no GPU")
        device = ctypes.c_int()
        self._call("cuDeviceGet", ctypes.byref(device), ctypes.c_int(0))
        context = ctypes.c_void_p()
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self._call("cuCtxSetCurrent", context)
        self.description = self._described(device)

    def _described(self, device: ctypes.c_int) -> Description:
        name = ctypes.create_string_buffer(256)
        self._call("cuDeviceGetName", name, ctypes.c_int(len(name)), device)
        version, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        self._call("cuDriverGetVersion", ctypes.byref(version))
        self._call("cuDeviceGetAttribute", ctypes.byref(major), ctypes.c_int(_MAJOR), device)
        self._call("cuDeviceGetAttribute", ctypes.byref(minor), ctypes.c_int(_MINOR), device)
        number = major.value * 10 + minor.value
        return Description(
            name.value.decode(), Version(version.value // 1000, version.value % 1000 // 10),
            Target(number, "a" if number >= 90 else ""),
        )

    def run(self, kernel: InstructionHarness) -> list[tuple[int, ...]]:
        """The results of each thread; raises CudaError where the driver refuses the kernel."""
        self.launch(kernel.text, "k", (kernel.grid,), (kernel.block,), [*kernel.inputs, *kernel.outputs])
        return kernel.rows()

    def launch(
        self, text: str, entry: str, grid: Sequence[int], block: Sequence[int],
        arguments: Sequence[Value | Object],
        shared_bytes: int = 0, cluster: Sequence[int] = (), bind: Mapping[str, Opaque] | None = None,
    ) -> None:
        """Launches a kernel; arrays are buffers and hold the results afterwards, scalars go by value;
        `cluster` is empty where the kernel tells; `bind` has textures and surfaces by the names of variables.
        Raises CudaError where the driver refuses the kernel.
        """
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        source = ctypes.create_string_buffer(text.encode())
        self._call("cuModuleLoadData", ctypes.byref(module), source)
        images = Images(self._call)
        try:
            images.bind(module, bind or {})
            name = ctypes.c_char_p(entry.encode())
            self._call("cuModuleGetFunction", ctypes.byref(function), module, name)
            sizes = [*grid, 1, 1][:3] + [*block, 1, 1][:3] + [shared_bytes]
            self._launch(function, sizes, arguments, [*cluster, 1, 1][:3] if cluster else [])
            images.collect()
        except UnbindableError as error:
            raise CudaError(str(error)) from error
        finally:
            images.destroy()
            self._call("cuModuleUnload", module)

    def _launch(
        self, function: ctypes.c_void_p, sizes: list[int], arguments: Sequence[Value | Object],
        cluster: list[int],
    ) -> None:
        addresses: list[tuple[ctypes.c_uint64, Array]] = []
        kept: list[Array | Encoded] = []
        try:
            places: list[int] = []
            for one in arguments:
                array = array_of(one)
                if array is None:
                    scalar = np.array([one])
                    kept.append(scalar)
                    places.append(scalar.ctypes.data)
                    continue
                address = ctypes.c_uint64()
                self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(array.nbytes))
                addresses.append((address, array))
                self._copy("cuMemcpyHtoD_v2", address, array, to_device=True)
                places.append(ctypes.addressof(address))
                if isinstance(one, TensorMap):
                    described = encoded(one, address.value, self._call)
                    kept.append(described)
                    places[-1] = described.address
            parameters = (ctypes.c_void_p * len(places))(*places)
            if cluster:
                config = _Config(*sizes, None, ctypes.pointer(_Attribute(_CLUSTER_DIMENSION, 0, *cluster)), 1)
                self._call("cuLaunchKernelEx", ctypes.byref(config), function, parameters, None)
            else:
                self._call("cuLaunchKernel", function, *map(ctypes.c_uint, sizes), None, parameters, None)
            self._call("cuCtxSynchronize")
            for address, buffer in addresses:
                self._copy("cuMemcpyDtoH_v2", address, buffer, to_device=False)
        finally:
            for address, _ in addresses:
                self._call("cuMemFree_v2", address)

    def _copy(self, name: str, address: ctypes.c_uint64, buffer: Array, *, to_device: bool) -> None:
        host = ctypes.c_void_p(buffer.ctypes.data)
        ends = (address, host) if to_device else (host, address)
        self._call(name, *ends, ctypes.c_size_t(buffer.nbytes))

    def _call(self, name: str, *arguments: object) -> None:
        status = int(getattr(self._cuda, name)(*arguments))
        if status:
            raise CudaError(f"{name} failed: {self._text(status)}")

    def _text(self, status: int) -> str:
        text = ctypes.c_char_p()
        if self._cuda.cuGetErrorString(ctypes.c_int(status), ctypes.byref(text)) or not text.value:
            return f"error {status}"
        return f"{text.value.decode()} ({status})"


def _load(library: str | None) -> ctypes.CDLL:
    names = (library,) if library else (*_NAMES, find_library("cuda") or "")
    for name in names:
        try:
            return ctypes.CDLL(os.fspath(name)) if name else ctypes.CDLL("libcuda.so")
        except OSError:
            continue
    raise CudaError("there is no NVIDIA driver on this machine (libcuda cannot be loaded)")
