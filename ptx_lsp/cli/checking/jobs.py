"""Checks many files: in a number of processes, with ordered results and a progress bar for interactive use.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from ptx_lsp.cli.inputs import Input, InputError, read
from ptx_lsp.cli.settings import Settings
from ptx_lsp.lint.results.report import FileReport

if TYPE_CHECKING:
    from ptx_lsp.cli.checking.cache import Cache

Work: TypeAlias = tuple[Input, Settings]

_WORTH_A_PROCESS = 1 << 20
"""Bytes: with less work per process, starting processes costs more than it gains."""
LONG = 4 << 20
"""Bytes from which on progress is shown; about some seconds."""


def check_all(
    works: Sequence[Work], jobs: int | None, show_progress: bool, kept: Cache | None = None
) -> list[FileReport]:
    """The reports in the order of `works`, from `kept` if it has them."""
    if kept is None:
        return list(_check_all(works, jobs, show_progress))
    keys = [_key(work) for work in works]
    reports = [
        kept.get(name, one.path, one.container) if name is not None else None
        for name, (one, _) in zip(keys, works, strict=True)
    ]
    missing = [index for index, found in enumerate(reports) if found is None]
    made = _check_all([works[index] for index in missing], jobs, show_progress)
    for index, found in zip(missing, made, strict=True):  # one by one: an interrupted run keeps its own
        reports[index] = found
        name, (_, settings) = keys[index], works[index]
        doubtful = settings.ptxas is not None and found.complaints
        # the file may have been written during the check
        if name is not None and not doubtful and name == _key(works[index]):
            kept.put(name, found)
    kept.prune()
    return [found for found in reports if found is not None]


def _key(work: Work) -> str | None:
    """None for what cannot be read, and for what pages show, which is large."""
    from ptx_lsp.cli.checking.cache import key

    one, settings = work
    if settings.details or settings.requires or settings.fix:
        return None
    try:
        return key(read(one), settings)
    except (InputError, OSError):
        return None


def _check_all(
    works: Sequence[Work], jobs: int | None, show_progress: bool
) -> Iterator[FileReport]:
    inputs = [one for one, _ in works]
    count = process_count(inputs, jobs, _cores())
    reports = _in_processes(works, count) if count > 1 else _here(works)
    with _progress(inputs, show_progress) as advance:
        for one, report in zip(inputs, reports, strict=True):
            yield report
            advance(one.cost)


def check(one: Input, settings: Settings) -> FileReport:
    """The report of one input. The imports are slow, so they are deferred: a fully cached run does not need
    them.
    """
    from ptx_lsp.cli.checking.check import check

    return check(one, settings)


def process_count(inputs: Sequence[Input], jobs: int | None, cores: int) -> int:
    """`jobs`, else limited by the number of cores and the amount of work; never more than inputs."""
    wanted = jobs or min(cores, sum(one.cost for one in inputs) // _WORTH_A_PROCESS)
    return max(1, min(wanted, len(inputs)))


def _cores() -> int:
    """The cores that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _here(works: Iterable[Work]) -> Iterator[FileReport]:
    for number, (one, settings) in enumerate(works):
        if number and not gc.isenabled():
            gc.collect(1)  # the garbage of the file before
        yield check(one, settings)


def _in_processes(works: Sequence[Work], count: int) -> Iterator[FileReport]:
    from ptx_lsp.cli.checking.processes import in_processes

    return in_processes(works, count)


@contextmanager
def _progress(inputs: Sequence[Input], wanted: bool) -> Generator[Callable[[int], None]]:
    total = sum(one.cost for one in inputs)
    if not (wanted and total >= LONG and sys.stderr.isatty()):
        yield lambda cost: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Checking", total=total)
        yield lambda cost: bar.advance(task, cost)
