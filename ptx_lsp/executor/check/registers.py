"""Reads of registers that the thread has not written."""

from __future__ import annotations

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.finding import Findings
from ptx_lsp.executor.instrumentation.usage import Named
from ptx_lsp.executor.instrumentation.written_registers import WrittenRegisters
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

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        usage = self._findings.usages.of(step)
        for register in usage.reads:
            self._check(wave, step, register, arrived if register is usage.guard else active)
        if usage.accumulates is not None:
            adds = wave.broadcast(wave.registers[usage.accumulates.number]).astype(np.bool_)
            adding = adds if active is None else adds & active
            for register in usage.accumulators:
                self._check(wave, step, register, adding)
        WrittenRegisters.of(wave).begins(usage, active)

    def _check(self, wave: Wave, step: Step, register: Named, mask: Bools | None) -> None:
        written = WrittenRegisters.of(wave).lanes(register.number)
        if written is None:
            return
        missing = np.flatnonzero(wave.full_mask(mask) & ~written)
        if missing.size:
            message = f"`{register.name}` is read before it is written"
            self._findings.add(
                "uninitialized-register", message, wave, step, missing, variable=register.name
            )

    def after(self, wave: Wave, step: Step, active: Bools | None) -> None:
        WrittenRegisters.of(wave).executed(self._findings.usages.of(step), active)
