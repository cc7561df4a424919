"""Threads that arrive at the barrier of their cluster again before they have waited there.

Each thread must arrive only once before the barrier is complete (PTX ISA, barrier.cluster). Only
`barrier.cluster.wait` shows that it is complete. The machine stops a thread that waits without having
arrived.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.finding import Findings, thread_at
from ptx_lsp.executor.machine.control import ClusterBarrier, Step
from ptx_lsp.executor.machine.observer import Observer
from ptx_lsp.executor.machine.wave import Wave


class EarlyArrivals(Observer):
    """Checks races as defined above."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._arrived: WeakKeyDictionary[Wave, Bools] = WeakKeyDictionary()
        """Threads that have arrived and not waited since."""

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        if not isinstance(step.action, ClusterBarrier):
            return
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
