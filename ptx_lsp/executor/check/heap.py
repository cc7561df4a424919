"""Accesses to the heap outside the memory that `malloc` has returned and `free` has not given back."""

from __future__ import annotations

import numpy as np

from ptx_lsp.executor.check.finding import Findings
from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.data_segment import ModuleMemory
from ptx_lsp.executor.machine.launch_config import LaunchConfig
from ptx_lsp.executor.machine.memory import Memory
from ptx_lsp.executor.machine.observer import MemoryEvent, Observer
from ptx_lsp.executor.machine.wave import Wave


class HeapUse(Observer):
    """Reports such accesses."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._memory = Memory()

    def launched(self, shape: LaunchConfig, image: ModuleMemory, memory: Memory) -> None:
        self._memory = memory

    def accessed(self, wave: Wave, step: Step, access: MemoryEvent) -> None:
        heap = None if access.buffer is None else self._memory.heap_at(access.buffer.base)
        if heap is None:
            return
        starts = access.offsets.view(np.uint64) + np.uint64(heap.base)
        wrong = np.flatnonzero(heap.outside(starts, access.size))
        if not wrong.size:
            return
        address = int(starts[wrong[0]])
        kind, what = "out-of-bounds", "that `malloc` has not returned"
        if heap.is_freed(address):
            kind, what = "use-after-free", "that `free` has given back"
        message = f"the access of {access.size} bytes at address {address:#x} is in memory of the heap {what}"
        self._findings.add(
            kind, message, wave, step, access.lanes[wrong], space=".global", address=address, variable="heap"
        )
