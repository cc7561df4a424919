"""Checks files in several processes."""

from __future__ import annotations

import gc
import multiprocessing
import signal
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from ptx_lsp.cli.checking.check import check
from ptx_lsp.cli.inputs import Input
from ptx_lsp.cli.settings import Settings
from ptx_lsp.lint.results.report import FileReport

_PARTS = 12
"""Parts of the work for each process: few, as each has a cost, and enough to end at about the same time."""
_works: list[tuple[Input, Settings]] = []
"""In a process of the pool: the work of all."""


def in_processes(works: Sequence[tuple[Input, Settings]], count: int) -> Iterator[FileReport]:
    """The reports in the order of `works`, from so many processes."""
    # a fork has all modules and the work
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else None)
    gc.freeze()
    with ProcessPoolExecutor(count, context, _begin, (works,)) as pool:
        try:
            costs = [one.cost for one, _ in works]
            parts = divided(costs, _PARTS * count)
            costly_first = sorted(parts, key=lambda part: -sum(costs[part.start : part.stop]))
            waiting = {part: _submitted(pool, part) for part in costly_first}
            for part in parts:
                yield from _answer(works[part.start : part.stop], waiting[part])
        except BaseException:  # Ctrl-C: unfinished work is of no use
            pool.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.terminate()
            raise


def divided(costs: Sequence[int], parts: int) -> list[range]:
    """Consecutive items as at most `parts` ranges of about the same cost."""
    least = sum(costs) / parts
    found: list[range] = []
    start, cost = 0, 0
    for index, one in enumerate(costs):
        cost += one
        if cost >= least or index == len(costs) - 1:
            found.append(range(start, index + 1))
            start, cost = index + 1, 0
    return found


def _check_part(part: range) -> list[FileReport]:
    return [check(*_works[index]) for index in part]


def _submitted(pool: ProcessPoolExecutor, part: range) -> Future[list[FileReport]]:
    try:
        return pool.submit(_check_part, part)
    except BrokenProcessPool as error:  # a process died while others were still given work
        broken: Future[list[FileReport]] = Future()
        broken.set_exception(error)
        return broken


def _answer(
    works: Sequence[tuple[Input, Settings]], future: Future[list[FileReport]]
) -> list[FileReport]:
    try:
        return future.result()
    except BrokenProcessPool:
        ended = "the process that checked it ended unexpectedly"
        return [FileReport(one.path, error=ended, container=one.container) for one, _ in works]


def _begin(works: Sequence[tuple[Input, Settings]]) -> None:
    """Ctrl-C reaches every process of the terminal; a worker exits without a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _works[:] = works
    gc.enable()
