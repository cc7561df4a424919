"""Runs a launch in several orders, and collects what they show."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, replace

import numpy as np

from ptx_lsp.executor.launching.prepared_launch import LaunchOptions, PreparedLaunch, Run
from ptx_lsp.executor.machine.errors import ExecutionError, Finding
from ptx_lsp.executor.machine.memory import Bytes
from ptx_lsp.executor.scheduling.scheduling_policy import Schedule
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module


@dataclass
class Exploration:
    """What the runs so far have shown."""

    found: dict[tuple[object, ...], Finding]
    error: ExecutionError | None = None
    """The first error."""

    def add(self, run: Run) -> None:
        for one in run.findings:
            self.found.setdefault((one.kind, one.line, one.variable, one.other_line), one)
        self.error = self.error or run.error


def explore(
    module: Module, kernel: Function, options: LaunchOptions, first: int, count: int
) -> tuple[Finding, ...]:
    """Runs a kernel with `count` seeds from `first` on; each finding has the first seed that shows it. Memory
    is as the run with the first seed leaves it. Raises the first ExecutionError of a run, with all findings.
    """
    exploration = Exploration({})
    results: list[tuple[Bytes, Bytes]] = []
    for run, prepared in _runs(module, kernel, options, first, count):
        exploration.add(run)
        if run.seed == first:
            results = [(data, data.copy()) for data, _ in prepared.saved]
        if run.error is None and (exploration.error is None or exploration.error.seed != first):
            _compare(prepared, results, run.seed, first, exploration)
    for data, after in results:
        data[:] = after
    findings = tuple(exploration.found.values())
    if exploration.error is not None:
        exploration.error.findings = findings
        raise exploration.error
    return findings


def _runs(
    module: Module, kernel: Function, options: LaunchOptions, first: int, count: int
) -> Iterator[tuple[Run, PreparedLaunch]]:
    """The runs, each from the same contents of memory. What kernels print is shown once."""
    known: dict[bool, PreparedLaunch] = {}
    for seed in range(first, first + count):
        is_fine = seed != 0
        if is_fine not in known:
            prepared = known[is_fine] = PreparedLaunch(module, kernel, options, is_fine=is_fine)
            prepared.save()
        prepared = known[is_fine]
        if seed == first:
            yield prepared.run(Schedule(seed)), prepared
        else:
            with redirect_stdout(io.StringIO()):
                run = prepared.run(Schedule(seed))
            yield run, prepared
        prepared.restore()


def _compare(
    prepared: PreparedLaunch, results: list[tuple[Bytes, Bytes]], seed: int, first: int, into: Exploration
) -> None:
    """Notes the buffers that are not as the run with the first seed has left them."""
    names = {one.data.ctypes.data: one.name for one in prepared.buffers}
    for data, before in results:
        if np.array_equal(data, before):
            continue
        name = names.get(data.ctypes.data, "a surface")
        at = int(np.flatnonzero(data != before)[0])
        message = f"`{name}` depends on the order of threads: byte {at} is not the same as with seed {first}"
        finding = Finding("schedule-dependent", message, variable=name, seed=seed)
        into.found.setdefault((finding.kind, name), replace(finding, space=".global"))
