"""Mistakes with clusters.

1. A thread arrives at the barrier of its cluster again before it has waited there. Each thread must arrive
   only once before the barrier is complete (PTX ISA, barrier.cluster). Only `barrier.cluster.wait` shows that
   it is complete. The machine stops a thread that waits without having arrived.
2. A thread or a copy uses the shared memory of another block that has exited. It exists until the last thread
   of its block exits (PTX ISA, "Shared State Space"). Whether the block exits first depends on the order of
   threads, so some of these are found with a seed only.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.finding import Findings, thread_at
from ptx_lsp.executor.check.variables import Variables
from ptx_lsp.executor.machine.control import ClusterBarrier, Step
from ptx_lsp.executor.machine.observer import MemoryEvent, Observer
from ptx_lsp.executor.machine.wave import Wave


class EarlyArrivals(Observer):
    """Finds arrivals as defined above (1)."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._arrived: WeakKeyDictionary[Wave, Bools] = WeakKeyDictionary()
        """Threads that have arrived and not waited since."""

    def concerns(self, step: Step) -> bool:
        return isinstance(step.action, ClusterBarrier)

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        assert isinstance(step.action, ClusterBarrier)
        unwaited = self._arrived.get(wave, np.zeros(wave.shape, np.bool_))
        here = wave.full_mask(active)
        if step.action.kind != ".arrive":
            self._arrived[wave] = unwaited & ~here
            return
        again = np.flatnonzero(unwaited & here)
        if again.size:
            message = (
                f"{thread_at(wave, again[0])} arrives at the cluster barrier again without an intervening "
                "`barrier.cluster.wait`"
            )
            self._findings.add("early-arrival", message, wave, step, again)
        self._arrived[wave] = unwaited | here


class ExitedBlocks(Observer):
    """Finds uses as defined above (2)."""

    def __init__(self, findings: Findings, variables: Variables) -> None:
        self._findings = findings
        self._variables = variables

    def accessed(self, wave: Wave, step: Step, access: MemoryEvent) -> None:
        if access.space != ".shared" or wave.launch.cluster_blocks == 1 or wave.live is None:
            return
        owners = access.offsets // wave.shared.shape[1]
        is_gone: Bools = np.asarray(~wave.live.any(axis=1), np.bool_)
        wrong = np.flatnonzero(is_gone[owners] & (owners != access.lanes // wave.shape[1]))
        if not wrong.size:
            return
        first = int(wrong[0])
        where = self._variables.whereabouts(wave, access, first)
        own = thread_at(wave, access.lanes[first])
        own = own if access.by == "thread" else f"the copy of {own}"
        name = f"`{where.name}`" if where.name else "shared memory"
        message = f"{own} uses {name} at address {where.address:#x} of a block that has exited"
        self._findings.add(
            "exited-block", message, wave, step, access.lanes[wrong], space=access.space,
            address=where.address, variable=where.name,
        )
