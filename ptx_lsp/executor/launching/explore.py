"""Runs a launch in several orders, and collects what they show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ptx_lsp.executor.launching.prepared_launch import LaunchOptions, PreparedLaunch, Run
from ptx_lsp.executor.machine.errors import ExecutionError, Finding
from ptx_lsp.executor.machine.memory import Bytes
from ptx_lsp.executor.machine.observer import Observer
from ptx_lsp.executor.scheduling.scheduling_policy import Schedule
from ptx_lsp.executor.scheduling.systematic import (
    Search,
    SwitchedOrder,
    UsedMemory,
    is_small,
    seed_of,
)
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module

_SEARCHED = 4
"""One of so many runs is part of the search."""


@dataclass
class Exploration:
    """The results of the runs so far."""

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
    for run, prepared in _Runs(module, kernel, options).all(first, count):
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


class _Runs:
    """The runs of a kernel, each from the same contents of memory. What kernels print is shown once."""

    def __init__(self, module: Module, kernel: Function, options: LaunchOptions) -> None:
        self._module, self._kernel = module, kernel
        self._options, self._console = replace(options, console=self._print), options.console
        self._known: dict[bool, PreparedLaunch] = {}
        self._is_first = True

    def all(self, first: int, count: int) -> Iterator[tuple[Run, PreparedLaunch]]:
        """With so many seeds from the first on. A part of the runs of a small launch searches its orders."""
        searched = count // _SEARCHED
        for seed in range(first, first + count - searched):
            yield self._run(Schedule(seed))
        if not searched:
            return
        if is_small(self._prepared(is_fine=True).shape):
            for one in self._search(searched):
                searched -= 1
                yield one
        for seed in range(first + count - searched, first + count):
            yield self._run(Schedule(seed))

    def _search(self, count: int) -> Iterator[tuple[Run, PreparedLaunch]]:
        search = Search()
        for _ in range(count):
            switches = search.next_order()
            if switches is None:
                return
            schedule = Schedule(seed_of(switches))
            assert isinstance(schedule.order, SwitchedOrder)
            yield self._run(schedule, UsedMemory(schedule.order))
            search.add(switches, schedule.order)

    def _prepared(self, *, is_fine: bool) -> PreparedLaunch:
        if is_fine not in self._known:
            for other in self._known.values():
                other.restore()
            prepared = PreparedLaunch(self._module, self._kernel, self._options, is_fine=is_fine)
            prepared.save()
            self._known[is_fine] = prepared
        return self._known[is_fine]

    def _run(self, schedule: Schedule, *observers: Observer) -> tuple[Run, PreparedLaunch]:
        prepared = self._prepared(is_fine=schedule.seed != 0)
        prepared.restore()
        run = prepared.run(schedule, *observers)
        self._is_first = False
        return run, prepared

    def _print(self, text: str) -> None:
        if self._is_first:
            self._console(text)


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
