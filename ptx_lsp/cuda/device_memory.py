"""The memory of the device: what programs allocate, and memory of the host that kernels may access.

1. Memory of the device has addresses of its own, which are not used again. The host reaches it through the
   driver only, as on most devices.
2. Page-locked, managed and registered memory has the same address on the host and on the device.
3. Memory of the device is zero at first. A device does not promise that.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np

from ptx_lsp.cuda.host_memory import Bytes, host_bytes
from ptx_lsp.cuda.results import DriverError, Result
from ptx_lsp.executor.machine.memory import (
    CONST_WINDOW,
    PARAM_WINDOW,
    SHARED_WINDOW,
    WINDOW,
    Buffer,
    Memory,
)

Kind = Literal["device", "host", "managed", "registered"]

_HOST_BASE = 0x1000_0000_0000  # far above what the device gives out


@dataclass
class DeviceMemory:
    """All memory that kernels can access."""

    memory: Memory = field(default_factory=Memory)
    kinds: dict[int, tuple[Kind, int]] = field(default_factory=dict[int, tuple[Kind, int]])
    """Allocations: by the address the kind and size."""
    used: int = 0
    """Bytes of all allocations, without registered memory."""
    _count: int = 0
    _next_host: int = _HOST_BASE

    @property
    def total(self) -> int:
        """The size of the memory of the host, in bytes."""
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")

    def allocate(self, size: int) -> int:
        """The address of new memory of the device."""
        self._check_size(size)
        try:
            data = np.zeros(size, np.uint8)
        except (MemoryError, ValueError) as error:
            raise DriverError(Result.OUT_OF_MEMORY) from error
        address = self.memory.add(self._name(), data)
        self.kinds[address] = "device", size
        self.used += size
        return address

    def allocate_host(self, size: int, kind: Kind) -> int:
        """The address of new memory of the host that kernels can access."""
        self._check_size(size)
        length = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        address = _map(self._next_host, length)
        self._next_host = max(self._next_host, address + length + mmap.PAGESIZE)
        self._place(address, size, kind)
        self.used += size
        return address

    def register(self, address: int, size: int) -> None:
        """Kernels can access memory of the host from now on."""
        self._check_size(size)
        self._place(address, size, "registered")

    def free(self, address: int, *kinds: Kind) -> None:
        """Frees what was allocated at an address as one of some kinds."""
        kind, size = self.kinds.get(address, ("", 0))
        if kind not in kinds:
            raise DriverError(Result.INVALID_VALUE)
        self.memory.remove(address)
        del self.kinds[address]
        if kind != "registered":
            self.used -= size
        if kind in ("host", "managed"):
            _c_library().munmap(address, -(-size // mmap.PAGESIZE) * mmap.PAGESIZE)

    def bytes_at(self, address: int, size: int) -> Bytes:
        """Memory of the device, or of the host where the device has none at that address."""
        buffer = self.memory.find(address)
        if buffer is None:
            if address < mmap.PAGESIZE or CONST_WINDOW <= address < _HOST_BASE:
                raise DriverError(Result.INVALID_VALUE)
            return host_bytes(address, size)
        start = address - buffer.base
        if start + size > buffer.data.size:
            raise DriverError(Result.INVALID_VALUE)
        return buffer.data[start : start + size]

    def writable_at(self, address: int, size: int) -> Bytes:
        """Memory as `bytes_at` finds it, to be written. The host may write constant memory."""
        buffer = self.memory.find(address)
        if buffer is None or buffer.data.flags.writeable:
            return self.bytes_at(address, size)
        buffer.data.setflags(write=True)
        part = self.bytes_at(address, size)
        buffer.data.setflags(write=False)
        return part

    def buffer_at(self, address: int) -> Buffer:
        """The buffer in which an address lies."""
        buffer = self.memory.find(address)
        if buffer is None:
            raise DriverError(Result.INVALID_VALUE)
        return buffer

    def _place(self, address: int, size: int, kind: Kind) -> None:
        end = address + size
        if address < PARAM_WINDOW + WINDOW and end > SHARED_WINDOW:
            message = f"host memory at {address:#x} has addresses that shared and local memory have here"
            raise DriverError(Result.NOT_SUPPORTED, message)
        self.memory.place(address, self._name(), host_bytes(address, size))
        self.kinds[address] = kind, size

    def _name(self) -> str:
        self._count += 1
        return f"allocation {self._count}"

    def _check_size(self, size: int) -> None:
        if not size:
            raise DriverError(Result.INVALID_VALUE)
        if self.used + size > self.total:
            raise DriverError(Result.OUT_OF_MEMORY)


@lru_cache(maxsize=1)
def _c_library() -> ctypes.CDLL:
    library = ctypes.CDLL(None)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = (
        ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int64,
    )
    library.munmap.argtypes = ctypes.c_void_p, ctypes.c_size_t
    return library


def _map(hint: int, size: int) -> int:
    """The address of new memory of this process, if possible the given one."""
    is_anonymous, writable = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE
    address = _c_library().mmap(hint, size, writable, is_anonymous, -1, 0)
    if address is None or address == (1 << 64) - 1:
        raise DriverError(Result.OUT_OF_MEMORY)
    return address
