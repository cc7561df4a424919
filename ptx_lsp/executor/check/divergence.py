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

from ptx_lsp.executor.check.finding import Findings
from ptx_lsp.executor.check.paths import Paths
from ptx_lsp.executor.control import Barrier, Block, Step
from ptx_lsp.executor.observer import Observer
from ptx_lsp.executor.program import Bools
from ptx_lsp.executor.usage import Usage
from ptx_lsp.executor.wave import WARP_SIZE, Wave


class _Arrivals:
    """Threads at aligned barriers of a wave."""

    def __init__(self, wave: Wave) -> None:
        self.steps: dict[int, Step] = {}
        """Barrier instructions by line."""
        self.line = np.zeros(wave.shape, np.int32)
        """Where each thread waits: a line, or 0."""
        self.wanted: Bools = np.zeros(wave.shape, np.bool_)
        """Threads that were there when others of their warp came."""
        self.missed: Bools = np.zeros(wave.shape, np.bool_)
        """Those of them that are past the barrier."""

        self.came: dict[int, Bools] = {}
        """By line, the threads that come from that barrier, in the same round of its loop."""

    def note(self, step: Step, take: Bools, paths: Paths) -> None:
        """Threads execute a step, while others of their warps may wait."""
        for line, came in self.came.items():
            if paths.begins_round(self.steps[line], step):
                came &= ~take
        late = take & self.wanted & (self.line == 0)
        if not late.any():
            return
        for line, barrier in self.steps.items():
            if paths.is_past(barrier, step):
                missed = late & _of_warps(self.line == line)
                if line in self.came and not paths.is_after(barrier, step):
                    missed &= ~self.came[line]
                self.missed |= missed


class Divergence(Observer):
    """See the sentences above."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._arrivals: WeakKeyDictionary[Wave, _Arrivals] = WeakKeyDictionary()
        self._paths = Paths(())

    def decoded(self, blocks: tuple[Block, ...]) -> None:
        self._paths = Paths(blocks)

    def before(self, wave: Wave, step: Step, come: Bools | None, take: Bools | None) -> None:
        arrivals = self._arrivals.get(wave)
        if arrivals is not None:
            arrivals.note(step, wave.full(take), self._paths)
        usage = self._findings.usages.of(step)
        if not _is_aligned(usage):
            return
        if isinstance(step.action, Barrier) or usage.opcode in ("bar", "barrier"):
            found = self._arrivals.setdefault(wave, _Arrivals(wave))
            found.steps[step.line] = step
            found.line[wave.full(take)] = step.line
            found.wanted |= _of_warps(wave.full(take)) & _living(wave)
            return
        if take is None:
            return
        self._report(wave, step, take, _of_warps(take) & wave.exists & ~take, "divergent-warp")

    def met(self, wave: Wave, step: Step, come: Bools, gone: Bools) -> None:
        found = self._arrivals.get(wave)
        if found is None or not found.steps:
            return
        lines = np.where(come, found.line, 0)
        rows = lines.reshape(wave.shape[0], -1, WARP_SIZE)
        highest = np.broadcast_to(rows.max(axis=2, keepdims=True), rows.shape).reshape(wave.shape)
        for line, one in found.steps.items():
            here = lines == line
            if here.any():
                astray = _of_warps(here) & (come & found.wanted & (lines != highest) | ~come & found.missed)
                self._report(wave, one, here, astray, "divergent-barrier")
                if self._paths.repeats(one):
                    came = found.came.setdefault(line, np.zeros(wave.shape, np.bool_))
                    came |= here & gone
        found.line[gone] = 0
        warps = _of_warps(gone)
        found.wanted &= ~warps
        found.missed &= ~warps

    def _report(self, wave: Wave, step: Step, here: Bools, astray: Bools, kind: str) -> None:
        if not astray.any():
            return
        lanes = np.flatnonzero(here & _of_warps(astray))
        name = self._findings.usages.of(step).opcode
        message = (
            f"`{name}` is aligned, but not all threads of the warp execute this instruction: "
            f"{int(astray.sum())} do not"
        )
        self._findings.add(kind, message, wave, step, lanes)


def _is_aligned(usage: Usage) -> bool:
    if usage.opcode == "bar":
        return ".warp" not in usage.modifiers
    return ".aligned" in usage.modifiers


def _living(wave: Wave) -> Bools:
    return wave.exists if wave.live is None else wave.live


def _of_warps(mask: Bools) -> Bools:
    """All lanes of the warps that have some lane in the mask."""
    rows = mask.reshape(mask.shape[0], -1, WARP_SIZE)
    return np.broadcast_to(rows.any(axis=2, keepdims=True), rows.shape).reshape(mask.shape)
