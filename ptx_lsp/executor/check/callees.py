"""Indirect calls of functions that their `.calltargets` or `.callprototype` does not describe.

A list describes the functions that it names, a prototype those with parameters and results of the same
number, sizes and kinds (`ptx_lsp.model.calls.indirect`). The behaviour of any other call is undefined
(PTX ISA, "call").
"""

from __future__ import annotations

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.finding import Findings
from ptx_lsp.executor.decoding.call_stack import Enter
from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.observer import Observer
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.model.calls.calls import calls
from ptx_lsp.model.calls.indirect import description, undescribed


class Callees(Observer):
    """Reports a thread that calls such a function, at the call."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._undescribed: dict[Enter, dict[int, str]] = {}

    def concerns(self, step: Step) -> bool:
        return isinstance(step.action, Enter) and step.action.pointer is not None

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        action = step.action
        assert isinstance(action, Enter) and action.pointer is not None
        if action not in self._undescribed:
            self._undescribed[action] = _undescribed(step, action)
        wrong = self._undescribed[action]
        if wrong:
            addresses = wave.broadcast(action.pointer.run(wave.registers)[0])
            for address, message in wrong.items():
                lanes = np.flatnonzero(wave.full_mask(active) & (addresses == address))
                if lanes.size:
                    self._findings.add("undescribed-callee", message, wave, step, lanes)


def _undescribed(step: Step, enter: Enter) -> dict[int, str]:
    """What is wrong with calling each function, by its address."""
    if step.source is None:
        return {}
    function, node = step.source.function, step.source.node
    call = next((call for call in calls(function) if call.node is node), None)
    described = description(function, call) if call is not None else None
    if described is None:
        return {}
    return {
        address: f"`{described.name}` does not match `{routine.function.name}`: {why}"
        for address, routine in enter.routines.items()
        if (why := undescribed(function, described, routine.function.node)) is not None
    }
