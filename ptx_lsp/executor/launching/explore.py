"""Runs a launch in several orders, and collects what they show.

The first order runs in this process, all others in any: nothing that a run finds depends on those before it.
A share of the orders of a small launch is a systematic search. If that is complete, no other order is run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ptx_lsp.executor.launching.order_runs import Job, OrderRuns, Outcome, side_by_side
from ptx_lsp.executor.launching.prepared_launch import LaunchOptions
from ptx_lsp.executor.machine.errors import ExecutionError, Finding
from ptx_lsp.executor.scheduling.systematic import Search, is_small, seed_of
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module

_SEARCHED = 4
"""One of so many runs is part of the search. As many come before it."""
_BATCH = 32


class Exploration:
    """The results of the runs so far."""

    def __init__(self) -> None:
        self.found: dict[tuple[object, ...], Finding] = {}
        self.error: ExecutionError | None = None
        """The first error."""

    def add(self, outcome: Outcome) -> None:
        for one in outcome.findings:
            self.found.setdefault((one.kind, one.line, one.variable, one.other_line), one)
        self.error = self.error or outcome.error


def explore(
    module: Module, kernel: Function, options: LaunchOptions, first: int, count: int, jobs: int | None = 1
) -> tuple[Finding, ...]:
    """Runs a kernel with `count` seeds from `first` on, in so many processes (None: one per core); each
    finding has the first seed that shows it. Memory is as the run with the first seed leaves it. Raises the
    first ExecutionError of a run, with all findings.
    """
    exploration = Exploration()
    runs = OrderRuns(module, kernel, options)
    exploration.add(runs.first(first))
    if count > 1:
        with side_by_side(runs, jobs) as run_all:
            for outcome in _others(runs, run_all, options, first, count):
                exploration.add(outcome)
    runs.put_back()
    findings = tuple(exploration.found.values())
    if exploration.error is not None:
        exploration.error.findings = findings
        raise exploration.error
    return findings


def _others(
    runs: OrderRuns, run_all: Callable[[Iterable[Job]], Iterator[Outcome]], options: LaunchOptions,
    first: int, count: int,
) -> Iterator[Outcome]:
    """The runs after the first one."""
    last, middle = first + count, first + max(1, count // _SEARCHED)
    yield from run_all(Job(seed) for seed in range(first + 1, middle))
    left = count // _SEARCHED if is_small(runs.shape) else 0
    search = Search()
    while left and (orders := search.next_orders(min(left, _BATCH))):
        jobs = [Job(seed_of(switches), is_searched=True) for switches in orders]
        for switches, outcome in zip(orders, run_all(jobs), strict=True):
            assert outcome.trace is not None
            search.add(switches, outcome.trace)
            yield outcome
        left -= len(orders)
        last -= len(orders)
    if not (search.is_complete and not options.weak):
        yield from run_all(Job(seed) for seed in range(middle, last))
