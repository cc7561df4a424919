"""Checks files in several processes."""

from __future__ import annotations

import gc
import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from ptx_lsp.cli.checking.check import check
from ptx_lsp.cli.inputs import Input
from ptx_lsp.cli.settings import Settings
from ptx_lsp.lint.results.report import FileReport


def in_processes(works: Sequence[tuple[Input, Settings]], count: int) -> Iterator[FileReport]:
    """The reports in the order of `works`, from so many processes."""
    with ProcessPoolExecutor(count, initializer=_begin) as pool:
        waiting = [_submitted(pool, one, settings) for one, settings in works]
        try:
            for (one, _), future in zip(works, waiting, strict=True):
                yield _answer(one, future)
        except BaseException:  # Ctrl-C: unfinished work is of no use
            pool.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.terminate()
            raise


def _submitted(pool: ProcessPoolExecutor, one: Input, settings: Settings) -> Future[FileReport]:
    try:
        return pool.submit(check, one, settings)
    except BrokenProcessPool as error:  # a process died while others were still given work
        broken: Future[FileReport] = Future()
        broken.set_exception(error)
        return broken


def _answer(one: Input, future: Future[FileReport]) -> FileReport:
    try:
        return future.result()
    except BrokenProcessPool:
        return FileReport(one.path, error="the process that checked it ended unexpectedly")


def _begin() -> None:
    """Ctrl-C reaches every process of the terminal; a worker exits without a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.enable()
