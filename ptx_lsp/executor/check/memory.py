"""Reads of shared and local memory that nobody has written. Global memory comes from the host,
initialised.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from ptx_lsp.executor.check.finding import Findings
from ptx_lsp.executor.check.variables import Variables
from ptx_lsp.executor.control import Step
from ptx_lsp.executor.observer import Access, Observer
from ptx_lsp.executor.program import Bools
from ptx_lsp.executor.wave import Wave


class UninitializedMemory(Observer):
    """A byte of shared or local memory is initialised once an instruction has written it. A read of one that
    is not is a finding; an atomic operation reads and writes.
    """

    def __init__(self, findings: Findings, variables: Variables) -> None:
        self._findings = findings
        self._variables = variables
        self._written: WeakKeyDictionary[Wave, dict[str, Bools]] = WeakKeyDictionary()

    def accessed(self, wave: Wave, step: Step, access: Access) -> None:
        if access.space not in (".shared", ".local") or access.lanes.size == 0:
            return
        spaces = self._written.setdefault(wave, {})
        written = spaces.setdefault(access.space, np.zeros(access.data.size, np.bool_))
        reached = access.offsets[:, None] + np.arange(access.size)
        if access.use != "write":
            missing = np.logical_not(written[reached]).any(axis=1)
            if missing.any():
                self._report(wave, step, access, np.asarray(missing, np.bool_))
        if access.use != "read":
            written[reached] = True

    def _report(self, wave: Wave, step: Step, access: Access, wrong: Bools) -> None:
        offset = int(access.offsets[wrong][0])
        address = self._variables.within(access.space, offset)
        name = self._variables.name(access.space, address)
        where = f"`{name}`, in {access.space} memory," if name else f"{access.space} memory"
        message = f"{where} is read at address {address:#x} before it is written"
        self._findings.add(
            "uninitialized-memory", message, wave, step, access.lanes[wrong], space=access.space,
            address=address, variable=name,
        )
