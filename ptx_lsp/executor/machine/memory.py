"""Memory as a kernel sees it: arrays of bytes at addresses, one set for all state spaces.

Global memory lies anywhere in the 64-bit address space; constant, shared and local memory are windows of it,
each as large as 32 bits reach. In their own state space addresses count from 0 and have 32 bits: those above
are ignored in a wider register, and what is added wraps around. In shared memory that is a block's own; that
of the block of rank r in its cluster lies from (r + 1) << 24 on.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.heap import Heap

Bytes = npt.NDArray[np.uint8]
Addresses = npt.NDArray[np.uint64]
Space = Literal["", ".global", ".const", ".shared", ".local", ".param"]
"""A state space; "" for generic addresses."""

LOW_BASE = 0x1000_0000
GLOBAL_BASE = 0x7_0000_0000
CONST_WINDOW = 0x6_0000_0000
SHARED_WINDOW = 0x7F00_0000_0000
LOCAL_WINDOW = 0x7F01_0000_0000
PARAM_WINDOW = 0x7F02_0000_0000
WINDOW = 1 << 32
CLUSTER_SHIFT = 24
_ALIGNMENT = 256
_GAP = 4096  # between two buffers, so that running off one never lands in another


@dataclass(frozen=True, eq=False)
class Buffer:
    """Bytes from `base` on. `name` is what they are called in messages."""

    name: str
    base: int
    data: Bytes


class Memory:
    """The buffers of global and constant memory."""

    def __init__(self, *, is_narrow: bool = False) -> None:
        """With `is_narrow` pointers have 32 bits, and all global memory lies below 4 GiB."""
        self._heap: Heap | None = None
        self._buffers: list[Buffer] = []
        self._is_narrow = is_narrow
        self._ends = {base: base for base in (LOW_BASE, CONST_WINDOW, GLOBAL_BASE)}
        self.replicas: list[list[int]] = []
        """For each multimem address where its memory begins in each GPU, see `multimem_memory.py`."""

    @classmethod
    def of(
        cls, buffers: Iterable[Buffer], ends: Sequence[int], heap: Heap | None, *, is_narrow: bool
    ) -> Memory:
        """The memory with these buffers, sorted by their addresses, and the properties of another one."""
        found = cls(is_narrow=is_narrow)
        found._buffers = list(buffers)
        found._ends = dict(zip(found._ends, ends, strict=True))
        found._heap = heap
        return found

    @property
    def is_narrow(self) -> bool:
        return self._is_narrow

    @property
    def ends(self) -> tuple[int, ...]:
        """The next free address of each region: with 32 bits, constant, global."""
        return tuple(self._ends.values())

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        return tuple(self._buffers)

    def add(self, name: str, data: Bytes, *, is_narrow: bool = False) -> int:
        """Gives `data` an address in global memory, with `is_narrow` one of 32 bits."""
        return self._add(LOW_BASE if is_narrow or self._is_narrow else GLOBAL_BASE, name, data)

    def add_constant(self, name: str, data: Bytes) -> int:
        """Gives `data` an address in constant memory."""
        return self._add(CONST_WINDOW, name, data) - CONST_WINDOW

    def _add(self, region: int, name: str, data: Bytes) -> int:
        base = self._ends[region]
        end = -(-(base + data.size + _GAP) // _ALIGNMENT) * _ALIGNMENT
        if region == LOW_BASE and end > WINDOW:
            message = f"`{name}` of {data.size} bytes is outside the range of 32-bit pointers"
            raise ExecutionError(message, "launch")
        insort(self._buffers, Buffer(name, base, data), key=lambda buffer: buffer.base)
        self._ends[region] = end
        return base

    def place(self, base: int, name: str, data: Bytes) -> None:
        """Puts `data` at an address in global memory that nothing else has."""
        insort(self._buffers, Buffer(name, base, data), key=lambda buffer: buffer.base)

    def remove(self, base: int) -> None:
        """Takes the buffer that begins at an address away. The address is not used again."""
        index = bisect_right(self._buffers, base, key=lambda buffer: buffer.base) - 1
        assert self._buffers[index].base == base
        del self._buffers[index]

    def heap(self, size: int) -> Heap:
        """The heap of the launch, created on first use."""
        if self._heap is None:
            self._heap = Heap(self.add("heap", np.zeros(size, np.uint8)), size)
        return self._heap

    def heap_at(self, base: int) -> Heap | None:
        """The heap, if it begins there."""
        return self._heap if self._heap is not None and self._heap.base == base else None

    @property
    def allocations(self) -> Heap | None:
        """A copy of the heap, without its memory."""
        return deepcopy(self._heap)

    def reset_heap(self, allocations: Heap | None = None) -> None:
        """Only what this heap has is allocated."""
        if allocations is not None:
            self._heap = allocations
        elif self._heap is not None:
            self._heap.reset()

    def find(self, address: int) -> Buffer | None:
        """The buffer at an address."""
        index = bisect_right(self._buffers, address, key=lambda buffer: buffer.base) - 1
        if index < 0:
            return None
        buffer = self._buffers[index]
        return buffer if address < buffer.base + buffer.data.size else None

    def holds(self, addresses: Addresses, size: int) -> npt.NDArray[np.bool_]:
        """Which accesses of `size` bytes lie in a buffer, all of them."""
        found = np.zeros(addresses.shape, np.bool_)
        for buffer in self._buffers:
            if buffer.data.size >= size:
                last = np.uint64(buffer.base + buffer.data.size - size)
                found |= (addresses >= np.uint64(buffer.base)) & (addresses <= last)
        return found

    def nearest(self, address: int) -> Buffer | None:
        """The buffer that an address was perhaps meant for: the last that begins before it."""
        index = bisect_right(self._buffers, address, key=lambda buffer: buffer.base) - 1
        return self._buffers[index] if index >= 0 else None


def bytes_of(array: npt.NDArray[np.generic]) -> Bytes:
    """The memory of an array in one piece (C-contiguous), without a copy."""
    return array.reshape(-1).view(np.uint8)
