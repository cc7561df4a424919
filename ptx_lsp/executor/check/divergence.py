"""Aligned barriers and aligned instructions of a warp that not all threads of the warp execute together.

1. `.aligned` demands that all threads of a warp execute the same instruction; `bar` has it always.
2. At a barrier: threads of a warp that wait at different barrier instructions, or threads that were there
   when others of their warp came, and have missed the barrier (`paths.py`) when these go on. Threads that
   have left the kernel without that are not asked for.
3. At another instruction (`mma.sync.aligned`): threads of the warp that are elsewhere, or have exited. The
   manual leaves undefined what `mma`, `wmma`, `ldmatrix` and `stmatrix` do then.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.finding import Findings, warp_at
from ptx_lsp.executor.check.missed import Missed
from ptx_lsp.executor.check.rounds import Rounds, of_warps
from ptx_lsp.executor.instrumentation.usage import Usage
from ptx_lsp.executor.machine.control import Barrier, Step
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.machine.observer import Observer
from ptx_lsp.executor.machine.wave import Wave


class Divergence(Observer):
    """Checks races as defined above."""

    def __init__(self, findings: Findings, rounds: Rounds) -> None:
        self._findings = findings
        self._rounds = rounds
        self._missed: WeakKeyDictionary[Wave, Missed] = WeakKeyDictionary()

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        missed = self._missed.get(wave)
        if missed is not None and missed.meetings:
            missed.note(step, wave.full_mask(active))
        usage = self._findings.usages.of(step)
        if not _is_aligned(usage):
            return
        if isinstance(step.action, Barrier) or usage.opcode in ("bar", "barrier"):
            missed = self._missed.setdefault(wave, Missed(wave, self._rounds))
            here = wave.full_mask(active)
            missed.wait(step, here, of_warps(here) & wave.live_mask())
            return
        if active is None:
            return
        self._report(wave, step, active, of_warps(active) & wave.exists & ~active, "divergent-warp")

    def met(self, wave: Wave, step: Step, arrived: Bools, released: Bools, number: int | None) -> None:
        missed = self._missed.get(wave)
        if missed is None:
            return
        lines = np.zeros(wave.shape, np.int32)
        wanted = np.zeros(wave.shape, np.bool_)
        for line, one in missed.meetings.items():
            lines[one.here & arrived] = line
            wanted |= one.wanted
        rows = lines.reshape(wave.shape[0], -1, WARP_SIZE)
        highest = np.repeat(rows.max(axis=2), WARP_SIZE, axis=1)
        for line, one in missed.meetings.items():
            here = lines == line
            if here.any():
                astray = of_warps(here) & (arrived & wanted & (lines != highest) | ~arrived & one.missed)
                self._report(wave, one.step, here, astray, "divergent-barrier")
        missed.go_on(released, of_warps(released))

    def _report(self, wave: Wave, step: Step, here: Bools, astray: Bools, kind: str) -> None:
        if not astray.any():
            return
        lanes = np.flatnonzero(here & of_warps(astray))
        name = self._findings.usages.of(step).opcode
        warp = lanes[0] // WARP_SIZE
        absent = int(astray.reshape(-1, WARP_SIZE)[warp].sum())
        message = (
            f"`{name}` is aligned, but {absent} thread{'' if absent == 1 else 's'} of"
            f" {warp_at(wave, lanes[0])} {'does' if absent == 1 else 'do'} not execute it"
        )
        self._findings.add(kind, message, wave, step, lanes)


def _is_aligned(usage: Usage) -> bool:
    if usage.opcode == "bar":
        return ".warp" not in usage.modifiers
    return ".aligned" in usage.modifiers
