"""Threads that reach one barrier with different operands (PTX ISA, `barrier`).

1. All threads that take part in one phase of a barrier give the same count. Without a count it is that of all
   warps of the block, or of those that have threads left.
2. Reductions do not take part in a phase together with `.sync` and `.arrive`.
"""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.finding import Findings
from ptx_lsp.executor.machine.control import Barrier, Step
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.machine.observer import Observer
from ptx_lsp.executor.machine.wave import Wave

Numbers = npt.NDArray[np.int64]
Told = Callable[[int], str]
"""The operand of a barrier instruction to compare, by its value."""


class _Phase:
    """The present phase of one barrier, in all blocks of a wave."""

    def __init__(self, wave: Wave) -> None:
        self.arrived: Bools = np.zeros(wave.shape, np.bool_)
        """The threads that have arrived, and for each of them:"""
        self.counts: Numbers = np.zeros(wave.shape, np.int64)
        self.reduces: Numbers = np.zeros(wave.shape, np.int64)
        self.lines: Numbers = np.zeros(wave.shape, np.int64)

    def add(self, lanes: Bools, counts: Numbers, line: int, *, reduces: bool) -> None:
        self.arrived = self.arrived | lanes
        self.counts = np.where(lanes, counts, self.counts)
        self.reduces = np.where(lanes, int(reduces), self.reduces)
        self.lines = np.where(lanes, line, self.lines)


class BarrierMismatch(Observer):
    """Checks races as defined above."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._phases: WeakKeyDictionary[Wave, dict[int, _Phase]] = WeakKeyDictionary()

    def concerns(self, step: Step) -> bool:
        return isinstance(step.action, Barrier)

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        barrier = step.action
        assert isinstance(barrier, Barrier)
        here = wave.full_mask(active)
        numbers, counts = barrier.numbers(wave), barrier.counts(wave)
        phases = self._phases.setdefault(wave, {})
        for number in np.unique(numbers[here]).tolist():
            lanes = here & (numbers == number)
            phase = phases.setdefault(number, _Phase(wave))
            phase.add(lanes, counts, step.line, reduces=barrier.reduces)
            where = f"at barrier {number}"
            self._compare(wave, step, lanes, phase, _normal(wave, phase.counts), _counting, where)
            self._compare(wave, step, lanes, phase, phase.reduces, _reducing, where)

    def met(self, wave: Wave, step: Step, arrived: Bools, released: Bools, number: int | None) -> None:
        if number is not None:
            phase = self._phases[wave][number]
            phase.arrived = phase.arrived & ~arrived

    def _compare(
        self, wave: Wave, step: Step, lanes: Bools, phase: _Phase, values: Numbers, told: Told, where: str
    ) -> None:
        """Reports the lanes in whose block not all that have come have the same value."""
        most = np.where(phase.arrived, values, 0).max(axis=1, keepdims=True)
        least = np.where(phase.arrived, values, most).min(axis=1, keepdims=True)
        found = lanes & (most != least)
        if not found.any():
            return
        row, lane = (int(one) for one in np.argwhere(found)[0])
        other = int(np.flatnonzero(phase.arrived[row] & (values[row] != values[row, lane]))[0])
        line = int(phase.lines[row, other])
        mine, others = (told(int(values[row, one])) for one in (lane, other))
        message = (
            f"this instruction {mine} {where}, but the instruction at line {line} in the "
            f"same phase {others}"
        )
        self._findings.add(
            "barrier-mismatch", message, wave, step, np.flatnonzero(found), other_line=line,
        )


def _normal(wave: Wave, counts: Numbers) -> Numbers:
    """Counts, where those of all threads are one number."""
    warps = wave.live_mask().reshape(wave.shape[0], -1, WARP_SIZE).any(axis=2)
    left = WARP_SIZE * np.count_nonzero(warps, axis=1).reshape(-1, 1)
    return np.where((counts == 0) | (counts == left), wave.shape[1], counts)


def _counting(count: int) -> str:
    return f"counts {count} threads"


def _reducing(reduces: int) -> str:
    return "reduces" if reduces else "does not reduce"
