"""The findings of a launch, one per place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ptx_lsp.executor.instrumentation.usage import Usages
from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.errors import ExecutionError, Finding, Lane
from ptx_lsp.executor.machine.launch_config import WARP_SIZE, LaunchConfig, index
from ptx_lsp.executor.machine.observer import Indices
from ptx_lsp.executor.machine.wave import Wave

_MOST_LANES = 32


class Findings:
    """The findings of a launch, in the order in which they first occurred."""

    def __init__(self, usages: Usages | None = None) -> None:
        """`usages` are those of an earlier launch of the same kernel."""
        self._found: dict[tuple[object, ...], Finding] = {}
        self.usages = Usages() if usages is None else usages

    def all(self) -> tuple[Finding, ...]:
        return tuple(self._found.values())

    def __len__(self) -> int:
        return len(self._found)

    def add(
        self, kind: str, message: str, wave: Wave, step: Step, lanes: Indices, *, space: str = "",
        address: int | None = None, variable: str = "", other_line: int = 0,
        other_lane: Lane | None = None, written_line: int = 0,
    ) -> None:
        """Adds an event of lanes (flat numbers in the wave); a repeated event only increases the count."""
        key = (kind, step.line, variable, other_line)
        before = self._found.get(key)
        if before is not None:
            self._found[key] = replace(before, count=before.count + lanes.size)
            return
        source = self.usages.of(step).source
        self._found[key] = Finding(
            kind, message, step.line, str(source) if source else "", affected_lanes(wave, lanes), lanes.size,
            space, address, variable, other_line, other_lane, written_line=written_line,
        )

    def stopped(self, error: ExecutionError, step: Step | None) -> None:
        """Adds the error that stopped the kernel."""
        at_step = step is not None and step.line == error.line
        source = self.usages.of(step).source if at_step and step is not None else None
        message = str(error).removeprefix(f"line {error.line}: ")
        self._found[error.kind, error.line] = Finding(
            error.kind, message, error.line, str(source) if source else "", error.lanes, len(error.lanes)
        )


def affected_lanes(wave: Wave, lanes: Indices) -> tuple[Lane, ...]:
    """The first threads of flat lane numbers."""
    mask = np.zeros(wave.shape, np.bool_)
    mask.reshape(-1)[np.unique(lanes)[:_MOST_LANES]] = True
    return wave.thread_ids(mask)


def thread_at(wave: Wave, lane: int) -> str:
    """The thread with a flat number in the wave, for messages. The lanes of a finding have its block."""
    found = int(wave.broadcast(wave.threads)[divmod(int(lane), wave.shape[1])])
    return f"thread {index(found, wave.launch.block)}"


def warp_at(wave: Wave, lane: int) -> str:
    """The warp of a flat number in the wave, for messages."""
    return f"warp {int(lane) % wave.shape[1] // WARP_SIZE}"


def lane_of(shape: LaunchConfig, thread: int) -> Lane:
    """The thread with a number: block by block, whole warps each."""
    block, lane = divmod(thread, shape.lanes)
    return Lane(index(block, shape.grid), index(lane, shape.block))
