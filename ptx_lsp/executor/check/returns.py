"""Calls of `.noreturn` functions that return: by `ret`, or past their last instruction.

The caller has no code to continue with (PTX ISA, ".noreturn"). Here it continues after the call.
"""

from __future__ import annotations

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.finding import Findings
from ptx_lsp.executor.machine.control import Returned, Step
from ptx_lsp.executor.machine.observer import Observer
from ptx_lsp.executor.machine.wave import Wave


class Returns(Observer):
    """Reports a thread that returns from a `.noreturn` call, at the call."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings

    def concerns(self, step: Step) -> bool:
        return isinstance(step.action, Returned)

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        message = "the called function returns but is `.noreturn`; it must `exit` or `trap`"
        self._findings.add("noreturn", message, wave, step, np.flatnonzero(wave.full_mask(active)))
