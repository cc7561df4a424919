"""Checks many files: here, in processes or on any executor, with ordered results and a progress bar for
interactive use.
"""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, contextmanager
from importlib import import_module

from ptx_lsp.cli.arguments import UsageError, complain
from ptx_lsp.cli.inputs import Input, InputError, read
from ptx_lsp.cli.settings import Settings
from ptx_lsp.lint.results.report import FileReport
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from typing import TypeAlias

    from ptx_lsp.cli.checking.cache import Cache
    from ptx_lsp.cli.checking.task import Task
    from ptx_lsp.parallel.jobs import Jobs

Work: TypeAlias = tuple[Input, Settings]

_WORTH_A_PROCESS = 1 << 20
"""Bytes: with less work per process, starting processes costs more than it gains."""
_PARTS = 12
"""Parts of the work for each worker: few, as each has a cost, and enough to end at about the same time."""
_LARGEST_PART = 1 << 19
"""Bytes; of many files, results come earlier in smaller parts."""
_MUCH_GARBAGE = 200_000
"""Objects since the last collection."""
LONG = 4 << 20
"""Bytes from which on progress is shown; about some seconds."""


def check_all(
    works: Sequence[Work], jobs: Jobs | Executor, show_progress: bool, kept: Cache | None = None
) -> Generator[FileReport]:
    """The reports in the order of `works`, each as soon as all before it are there; from `kept` if it has
    them. Raises UsageError if `jobs` cannot be used.
    """
    tasks, damaged = _tasks(works, kept), set[str]()
    texts = Counter(task.key for task in tasks if task.key is not None)
    distinct = _distinct(tasks)
    missing = [task for task in distinct if not task.is_cached]

    def known(task: Task) -> FileReport | None:
        if kept is None or task.key is None or not task.is_cached:
            return None
        found = kept.get(task.key, task.one.path, task.one.container)
        if found is None:
            damaged.add(task.key)
        return found

    if isinstance(jobs, int | None):
        jobs = _process_count([task.one for task in missing], jobs)
    reports = _here(distinct, known) if jobs == 1 else _elsewhere(distinct, known, jobs)
    repeated: dict[str, FileReport] = {}
    with closing(reports), _progress(missing, show_progress) as advance:
        for task in tasks:
            if task.key is not None:
                texts[task.key] -= 1
                if task.key in repeated:
                    again = texts[task.key] > 0
                    yield _copied(repeated[task.key] if again else repeated.pop(task.key), task)
                    continue
            found = next(reports)
            if not task.is_cached:
                advance(task.one.cost)
            if kept is not None and (not task.is_cached or task.key in damaged):
                _keep(kept, task, found)
            if task.key is not None and texts[task.key]:
                repeated[task.key] = found
            yield found
        next(reports, None)  # the workers end by themselves: those of an abandoned run are terminated
    if kept is not None:
        kept.prune()


def check(one: Input, settings: Settings, is_last: bool = False) -> FileReport:
    """The report of one input. The imports are slow, so they are deferred: a fully cached run does not need
    them.
    """
    from ptx_lsp.cli.checking.check import check

    return check(one, settings, is_last)


def _process_count(inputs: Sequence[Input], jobs: int | None) -> int:
    if jobs is None and sum(one.cost for one in inputs) < 2 * _WORTH_A_PROCESS:
        return 1
    from ptx_lsp.parallel.jobs import cores

    return process_count(inputs, jobs, cores())


def process_count(inputs: Sequence[Input], jobs: int | None, cores: int) -> int:
    """`jobs`, else limited by the number of cores and the amount of work; never more than inputs."""
    wanted = jobs or min(cores, sum(one.cost for one in inputs) // _WORTH_A_PROCESS)
    return max(1, min(wanted, len(inputs)))


def _tasks(works: Sequence[Work], kept: Cache | None) -> list[Task]:
    from ptx_lsp.cli.checking.task import Task

    if kept is None:
        sizes = Counter(one.size for one, _ in works)
        return [Task(*work, _key(work) if sizes[work[0].size] > 1 else None) for work in works]
    keys = map(_key, works)
    return [
        Task(*work, name, name is not None and kept.has(name))
        for work, name in zip(works, keys, strict=True)
    ]


def _distinct(tasks: Iterable[Task]) -> list[Task]:
    """The tasks without those that have the text and the settings of an earlier one."""
    seen = set[str]()
    return [task for task in tasks if task.key is None or not (task.key in seen or seen.add(task.key))]


def _copied(found: FileReport, task: Task) -> FileReport:
    """The report of a task that has the text and the settings of another one."""
    if found.error is not None and found.error != _LOST:
        return check(task.one, task.settings)  # the other one may have been removed
    return found._replace(path=task.one.path, container=task.one.container)


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


def _keep(kept: Cache, task: Task, found: FileReport) -> None:
    """One by one: an interrupted run keeps its own."""
    doubtful = task.settings.ptxas is not None and found.complaints
    # the file may have been written during the check
    if task.key is not None and not doubtful and task.key == _key((task.one, task.settings)):
        kept.put(task.key, found)


_Known: TypeAlias = "Callable[[Task], FileReport | None]"


def _here(tasks: Sequence[Task], known: _Known) -> Generator[FileReport]:
    for task in tasks:
        found = known(task)
        if found is None:
            if not gc.isenabled() and gc.get_count()[0] > _MUCH_GARBAGE:
                gc.collect(1)  # most objects are freed without, with the module of their file
            is_last = task is tasks[-1] and not gc.isenabled()
            found = check(task.one, task.settings, is_last)
        yield found


def _elsewhere(
    tasks: Sequence[Task], known: _Known, jobs: Jobs | Executor
) -> Generator[FileReport]:
    """The reports from processes, or from an executor whose workers may be on other machines."""
    from contextlib import nullcontext

    from ptx_lsp.parallel.executors import executor
    from ptx_lsp.parallel.jobs import JobsError
    from ptx_lsp.parallel.ordered import ordered, workers_of

    if isinstance(jobs, int):
        import_module("ptx_lsp.cli.checking.check")  # before processes are forked
        function, sent = _check_here, _as_it_is
    else:
        from ptx_lsp.cli.checking.remote import check_there, for_another_machine

        function, sent = check_there, for_another_machine
    cost = sum(task.one.cost for task in tasks if not task.is_cached)
    own = executor(jobs) if isinstance(jobs, int | str | None) else nullcontext(jobs)
    try:
        with own as pool:
            workers = workers_of(pool)
            if not workers:
                complain(f"warning: --jobs {jobs}: the cluster has no workers yet; waiting for the first")
            yield from ordered(
                function, tasks, pool, lost=_lost, known=known, sent=sent, cost=lambda task: task.one.cost,
                part_cost=max(1, min(_LARGEST_PART, cost // (_PARTS * max(1, workers)))),
            )  # fmt: skip
    except JobsError as error:
        raise UsageError(f"--jobs: {error}") from error


def _check_here(task: Task) -> FileReport:
    return check(task.one, task.settings)


def _as_it_is(task: Task) -> Task:
    return task


_LOST = "the process that checked it ended unexpectedly"


def _lost(task: Task) -> FileReport:
    return FileReport(task.one.path, error=_LOST, container=task.one.container)


@contextmanager
def _progress(tasks: Sequence[Task], wanted: bool) -> Generator[Callable[[int], None]]:
    total = sum(task.one.cost for task in tasks)
    if not (wanted and total >= LONG and sys.stderr.isatty()):
        yield lambda cost: None
        return
    from rich.console import Console
    from rich.progress import Progress

    # standard output is a report, and stays where it goes
    with Progress(console=Console(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("Checking", total=total)
        yield lambda cost: bar.advance(task, cost)
