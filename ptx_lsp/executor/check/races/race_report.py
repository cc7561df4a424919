"""The findings about races."""

from __future__ import annotations

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.finding import Findings, lane_of, thread_at
from ptx_lsp.executor.check.races.memory_order import Proxy
from ptx_lsp.executor.check.shadow_access import MemoryUse
from ptx_lsp.executor.check.variables import Variables
from ptx_lsp.executor.instrumentation.usage import Usages
from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.launch_config import LaunchConfig
from ptx_lsp.executor.machine.observer import MemoryEvent
from ptx_lsp.executor.machine.wave import Wave


class RaceReport:
    """Adds races to the findings."""

    def __init__(self, findings: Findings, variables: Variables, *, benign: bool = False) -> None:
        """`benign`: benign races are reported, too."""
        self._findings = findings
        self._variables = variables
        self.has_benign = benign

    @property
    def usages(self) -> Usages:
        return self._findings.usages

    def race(
        self, wave: Wave, step: Step, use: MemoryUse, wrong: Bools, line: int, other: int, done: str
    ) -> None:
        """Some of the threads use what thread or copy `other` has `done` at a line."""
        self._pair("race", "without synchronization", wave, step, use, wrong, line, other, done)

    def benign(
        self, wave: Wave, step: Step, use: MemoryUse, equal: Bools, line: int, other: int
    ) -> None:
        """Some of the threads write the value that another has written at a line."""
        end = "with the same value, without synchronization"
        self._pair("benign-race", end, wave, step, use, equal, line, other, "written")

    def incoherent(
        self, wave: Wave, step: Step, use: MemoryUse, wrong: Bools, line: int, other: int
    ) -> None:
        """Some of the threads read with `.nc` what thread or copy `other` has written at a line."""
        end = "in the same launch; `.nc` is for memory that the kernel does not write"
        self._pair("incoherent-load", end, wave, step, use, wrong, line, other, "written")

    def _pair(
        self, kind: str, end: str, wave: Wave, step: Step, use: MemoryUse, wrong: Bools, line: int,
        other: int, done: str,
    ) -> None:
        first = int(np.flatnonzero(wrong)[0])
        where = self._variables.whereabouts(wave, use.access, first)
        began, thread = divmod(other, _threads(wave.launch))
        lane = lane_of(wave.launch, thread)
        own = thread_at(wave, use.access.lanes[first])
        own = own if use.access.by == "thread" else f"the copy of {own}"
        does = "writes" if use.writes else "reads"
        by = f"block {lane.block}, thread {lane.thread}"
        how = f"by the copy that {by} began at line {line}" if began else f"at line {line} by {by}"
        name = _named(where.name, use.access)
        message = f"{own} {does} {name} at address {where.address:#x}, {done} {how}, {end}"
        self._findings.add(
            kind, message, wave, step, use.access.lanes[wrong], space=use.access.space,
            address=where.address, variable=where.name, other_line=line, other_lane=lane,
            written_line=line if done == "written" else step.line,
        )

    def missing_fence(
        self, wave: Wave, step: Step, use: MemoryUse, wrong: Bools, line: int, other: int, proxy: Proxy
    ) -> None:
        """Some of the threads begin a copy of what thread `other` has written at a line."""
        first = int(np.flatnonzero(wrong)[0])
        where = self._variables.whereabouts(wave, use.access, first)
        lane = lane_of(wave.launch, other)
        name = _named(where.name, use.access)
        is_map = proxy == "tensormap"
        own = f"the copy of {thread_at(wave, use.access.lanes[first])}"
        what = f"{own} uses the tensor map in {name}" if is_map else f"{own} reads {name}"
        fence = "fence.proxy.tensormap" if is_map else "fence.proxy.async"
        message = (
            f"{what}, written at line {line} by block {lane.block}, thread {lane.thread}, without a "
            f"`{fence}` in between"
        )
        self._findings.add(
            "missing-proxy-fence", message, wave, step, use.access.lanes[wrong], space=use.access.space,
            address=where.address, variable=where.name, other_line=line, other_lane=lane,
        )


def _named(name: str, access: MemoryEvent) -> str:
    return f"`{name}`" if name else f"{access.space} memory"


def _threads(shape: LaunchConfig) -> int:
    return shape.blocks * shape.lanes
