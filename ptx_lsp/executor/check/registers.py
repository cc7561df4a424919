"""Reads of registers that the thread has not written."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.finding import Findings
from ptx_lsp.executor.instrumentation.usage import Named
from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.observer import Observer
from ptx_lsp.executor.machine.wave import Wave


class UninitializedRegisters(Observer):
    """1. A register is initialised in a lane once an instruction that the lane executed has written it.
    2. An operand, or a guard, that names an uninitialised register is a finding in the lanes that execute it
       (for a guard: that reach it). The accumulator of `wgmma` counts where `scale-d` is true.
    """

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._written: WeakKeyDictionary[Wave, dict[int, Bools | None]] = WeakKeyDictionary()
        """For each register the lanes that have written it; None for all of them."""

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        usage = self._findings.usages.of(step)
        for register in usage.reads:
            self._check(wave, step, register, arrived if register is usage.guard else active)
        if usage.accumulates is not None:
            adds = wave.broadcast(wave.registers[usage.accumulates.number]).astype(np.bool_)
            adding = adds if active is None else adds & active
            for register in usage.accumulators:
                self._check(wave, step, register, adding)
        if usage.opcode in ("bar", "barrier"):  # a reduction, which is there when they go on
            self._write(wave, step, active)

    def _check(self, wave: Wave, step: Step, register: Named, mask: Bools | None) -> None:
        written = self._written.setdefault(wave, {})
        if register.number in written and written[register.number] is None:
            return
        here = wave.exists if mask is None else mask
        known = written.get(register.number)
        missing = np.flatnonzero(here if known is None else here & ~known)
        if missing.size:
            message = f"`{register.name}` is read before it is written"
            self._findings.add(
                "uninitialized-register", message, wave, step, missing, variable=register.name
            )

    def after(self, wave: Wave, step: Step, active: Bools | None) -> None:
        self._write(wave, step, active)

    def _write(self, wave: Wave, step: Step, active: Bools | None) -> None:
        written = self._written.setdefault(wave, {})
        for number, _ in self._findings.usages.of(step).writes:
            if active is None:
                written[number] = None
            elif number not in written:
                written[number] = active
            elif (known := written[number]) is not None:
                written[number] = wave.normal(known | active)
