"""Things with an undefined result that instructions themselves recognise (`Spaces.misused`)."""

from __future__ import annotations

from ptx_lsp.executor.check.finding import Findings
from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.observer import Indices, Observer
from ptx_lsp.executor.machine.wave import Wave


class Waits(Observer):
    """Finds them."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings

    def misused(self, wave: Wave, step: Step, kind: str, message: str, lanes: Indices) -> None:
        self._findings.add(kind, message, wave, step, lanes)
