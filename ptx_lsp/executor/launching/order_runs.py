"""The runs of a launch in several orders, here or in other processes."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from ptx_lsp.executor.launching.prepared_launch import LaunchOptions, PreparedLaunch, Run
from ptx_lsp.executor.machine.errors import ExecutionError, Finding
from ptx_lsp.executor.machine.launch_config import LaunchConfig
from ptx_lsp.executor.machine.memory import Bytes
from ptx_lsp.executor.scheduling.scheduling_policy import Schedule
from ptx_lsp.executor.scheduling.systematic import SwitchedOrder, Trace, UsedMemory, trace
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module

_CHUNK = 8
_AHEAD = 4
"""So many chunks are with each process."""


class Job(NamedTuple):
    """A run with a seed, which may be part of a search."""

    seed: int
    is_searched: bool = False


class Outcome(NamedTuple):
    """The results of a run."""

    findings: tuple[Finding, ...]
    error: ExecutionError | None
    trace: Trace | None


class OrderRuns:
    """The runs of a kernel, each from the same contents of memory. What kernels print is shown once."""

    def __init__(self, module: Module, kernel: Function, options: LaunchOptions) -> None:
        self._module, self._kernel = module, kernel
        self._options, self._console = replace(options, console=self._print), options.console
        self._is_first = True
        self._known: dict[bool, PreparedLaunch] = {}
        self._first_seed = 0
        self._is_comparable = False
        self._results: list[tuple[Bytes, Bytes]] = []
        """Memory with what the first run has left there; empty if it failed."""

    @property
    def shape(self) -> LaunchConfig:
        return next(iter(self._known.values())).shape

    @property
    def is_observed(self) -> bool:
        """Whether somebody in this process follows each run."""
        return bool(self._options.observers)

    def first(self, seed: int) -> Outcome:
        """The first run, with which the others are compared."""
        self._first_seed = seed
        run, prepared = self._run(Schedule(seed))
        self._is_first = False
        self._results = [(data, data.copy()) for data, _ in prepared.saved]
        self._is_comparable = run.error is None
        return Outcome(run.findings, run.error, None)

    def put_back(self) -> None:
        """Memory is as the first run has left it."""
        for data, after in self._results:
            data[:] = after

    def prepare(self) -> None:
        """Does before other processes begin what each of them would do. They report no progress."""
        self._prepared(is_fine=True)
        for one in self._known.values():
            one.progress = None

    def run(self, job: Job) -> Outcome:
        """Another run."""
        schedule = Schedule(job.seed)
        order = schedule.order
        if job.is_searched and isinstance(order, SwitchedOrder):
            run, prepared = self._run(schedule, UsedMemory(order))
            traced = trace(order)
        else:
            run, prepared = self._run(schedule)
            traced = None
        notes = self._differences(prepared, job.seed) if run.error is None and self._is_comparable else ()
        return Outcome((*run.findings, *notes), run.error, traced)

    def _prepared(self, *, is_fine: bool) -> PreparedLaunch:
        if is_fine not in self._known:
            for other in self._known.values():
                other.restore()
            prepared = PreparedLaunch(self._module, self._kernel, self._options, is_fine=is_fine)
            prepared.save()
            self._known[is_fine] = prepared
        return self._known[is_fine]

    def _run(self, schedule: Schedule, *observers: UsedMemory) -> tuple[Run, PreparedLaunch]:
        prepared = self._prepared(is_fine=schedule.seed != 0)
        prepared.restore()
        return prepared.run(schedule, *observers), prepared

    def _print(self, text: str) -> None:
        if self._is_first:
            self._console(text)

    def _differences(self, prepared: PreparedLaunch, seed: int) -> tuple[Finding, ...]:
        """Notes the buffers that are not as the first run has left them."""
        names = {one.data.ctypes.data: one.name for one in prepared.buffers}
        found: list[Finding] = []
        for data, before in self._results:
            if not np.array_equal(data, before):
                name = names.get(data.ctypes.data, "a surface")
                at = int(np.flatnonzero(data != before)[0])
                message = (
                    f"`{name}` depends on the order of threads: byte {at} is not the same as with seed "
                    f"{self._first_seed}"
                )
                found.append(
                    Finding("schedule-dependent", message, space=".global", variable=name, seed=seed)
                )
        return tuple(found)


@contextmanager
def side_by_side(
    runs: OrderRuns, jobs: int | None
) -> Generator[Callable[[Iterable[Job]], Iterator[Outcome]]]:
    """A function that runs jobs and gives their outcomes in the same order. They run in this process, or in
    so many others (None: one per core), where the system can fork.
    """
    if jobs == 1 or sys.platform != "linux" or runs.is_observed:
        yield lambda wanted: map(runs.run, wanted)
        return
    from ptx_lsp.parallel.executors import executor
    from ptx_lsp.parallel.jobs import cores

    workers = cores() if jobs is None else jobs
    if workers == 1:
        yield lambda wanted: map(runs.run, wanted)
        return
    global _inherited
    runs.prepare()
    before, _inherited = _inherited, runs
    try:
        with executor(workers) as pool:
            yield lambda wanted: _spread(pool, wanted, workers)
    finally:
        _inherited = before


_inherited: OrderRuns | None = None
"""The runs that a process was forked for."""


def _run_here(jobs: list[Job]) -> list[Outcome]:
    assert _inherited is not None
    return [_inherited.run(job) for job in jobs]


def _spread(pool: Executor, wanted: Iterable[Job], workers: int) -> Iterator[Outcome]:
    """Runs jobs in the processes of a pool, a few at a time."""
    left = iter(wanted)
    running: deque[Future[list[Outcome]]] = deque()
    while True:
        while len(running) < workers * _AHEAD and (chunk := list(islice(left, _CHUNK))):
            running.append(pool.submit(_run_here, chunk))
        if not running:
            return
        yield from running.popleft().result()
