"""Uses of the shared memory of blocks that have exited.

The shared memory of a block exists until its last thread exits (PTX ISA, "Shared State Space"). A thread or a
copy that uses that of another block of its cluster after that is found here. In which order a block exits and
another uses its memory depends on the order of threads, so some of these are found with a seed only.
"""

from __future__ import annotations

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.finding import Findings, thread_at
from ptx_lsp.executor.check.variables import Variables
from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.observer import MemoryEvent, Observer
from ptx_lsp.executor.machine.wave import Wave


class ExitedBlocks(Observer):
    """Finds them."""

    def __init__(self, findings: Findings, variables: Variables) -> None:
        self._findings = findings
        self._variables = variables

    def accessed(self, wave: Wave, step: Step, access: MemoryEvent) -> None:
        if access.space != ".shared" or wave.launch.cluster_blocks == 1 or wave.live is None:
            return
        owners = access.offsets // wave.shared.shape[1]
        is_gone: Bools = np.asarray(~wave.live.any(axis=1), np.bool_)
        wrong = np.flatnonzero(is_gone[owners] & (owners != access.lanes // wave.shape[1]))
        if not wrong.size:
            return
        first = int(wrong[0])
        where = self._variables.whereabouts(wave, access, first)
        own = thread_at(wave, access.lanes[first])
        own = own if access.by == "thread" else f"the copy of {own}"
        name = f"`{where.name}`" if where.name else "shared memory"
        message = f"{own} uses {name} at address {where.address:#x} of a block that has exited"
        self._findings.add(
            "exited-block", message, wave, step, access.lanes[wrong], space=access.space,
            address=where.address, variable=where.name,
        )
