"""Integer divisions by zero. PTX leaves their result undefined; the kernel continues."""

from __future__ import annotations

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.finding import Findings
from ptx_lsp.executor.instrumentation.usage import Named, Usage
from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.observer import Observer
from ptx_lsp.executor.machine.wave import Wave


class DivisionByZero(Observer):
    """Reports a lane that executes an integer `div` or `rem` with a divisor of 0, as a note."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings

    def concerns(self, step: Step) -> bool:
        return divisor(self._findings.usages.of(step)) is not None

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        found = divisor(self._findings.usages.of(step))
        assert found is not None
        register, width = found
        value = wave.registers[register.number]
        width = min(8 * value.dtype.itemsize, width)
        low = value if width == 8 * value.dtype.itemsize else value.astype(f"u{width // 8}")
        zero = np.logical_and(np.equal(low, 0), wave.exists if active is None else active)
        lanes = np.flatnonzero(zero)
        if lanes.size:
            message = f"division by zero: the divisor `{register.name}` is 0"
            self._findings.add(
                "division-by-zero", message, wave, step, lanes, variable=register.name
            )


def divisor(usage: Usage) -> tuple[Named, int] | None:
    """The divisor of an integer division, and how many bits it has at most; None for all else."""
    if usage.opcode not in ("div", "rem") or any(".f" in one for one in usage.modifiers):
        return None
    divisors = usage.operands[2] if len(usage.operands) > 2 else ()
    return (divisors[0], _width(usage.modifiers)) if divisors else None


def _width(modifiers: frozenset[str]) -> int:
    return next((int(one[2:]) for one in modifiers if one[1:2] in "us" and one[2:].isdigit()), 64)
