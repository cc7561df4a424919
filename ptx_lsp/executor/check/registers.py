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
    3. A `mov` may pack uninitialised registers and move undefined bits (`WrittenRegisters`). Another operand
       that names a register without defined bits is a finding, and an address with any undefined bits.
    """

    def __init__(self, findings: Findings) -> None:
        self._findings = findings

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        usage = self._findings.usages.of(step)
        packs = usage.moved is not None and usage.moved.packs
        for register in usage.reads:
            if register is usage.guard:
                self._check(wave, step, register, arrived)
            elif not packs:
                self._check(wave, step, register, active)
            if usage.moved is None:
                self._check_bits(wave, step, register, active, is_address=register == usage.base)
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

    def _check_bits(
        self, wave: Wave, step: Step, register: Named, mask: Bools | None, *, is_address: bool
    ) -> None:
        """Sentence 3."""
        undefined = WrittenRegisters.of(wave).undefined(register.number)
        if undefined is None:
            return
        every = np.uint64((1 << 8 * wave.registers[register.number].dtype.itemsize) - 1)
        is_wrong = undefined != 0 if is_address else undefined == every
        wrong = np.flatnonzero(wave.full_mask(mask) & is_wrong)
        if wrong.size:
            message = f"`{register.name}` is read, but has bits of a register that was not written"
            self._findings.add(
                "uninitialized-register", message, wave, step, wrong, variable=register.name
            )

    def after(self, wave: Wave, step: Step, active: Bools | None) -> None:
        WrittenRegisters.of(wave).executed(self._findings.usages.of(step), active)
