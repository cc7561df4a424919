"""Processes of this machine, replaced when one dies."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")


class ProcessPool(Executor):
    """So many processes, started when there is work. If one dies, all unfinished work fails with
    BrokenProcessPool, and new processes take what is submitted next.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool: ProcessPoolExecutor | None = None
        self._processes: set[BaseProcess] = set()
        self._is_shut_down = False

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        if self._is_shut_down:
            raise RuntimeError("cannot schedule new futures after shutdown")
        if self._pool is not None:
            try:
                with _uninterrupted():
                    return self._pool.submit(fn, *args, **kwargs)
            except BrokenProcessPool:
                self._pool.shutdown()  # new processes are forked when its threads and pipes are gone
        # a fork has all modules
        context = multiprocessing.get_context("fork" if sys.platform == "linux" else None)
        self._pool = ProcessPoolExecutor(self.workers, context, _begin)
        others = set(multiprocessing.active_children())
        gc.freeze()  # the collector would copy the pages of all that the processes share
        try:
            with _uninterrupted():
                return self._pool.submit(fn, *args, **kwargs)
        finally:
            gc.unfreeze()
            self._processes = set(multiprocessing.active_children()) - others

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._is_shut_down = True
        if self._pool is not None:
            self._pool.shutdown(wait, cancel_futures=cancel_futures)

    def terminate(self) -> None:
        """Ends the processes at once, with what they are at."""
        self.shutdown(wait=False, cancel_futures=True)
        for process in self._processes:
            process.terminate()


@contextmanager
def _uninterrupted() -> Generator[None]:
    """Processes that are started here begin with Ctrl-C held back, until `_begin` has said what it does."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """Ctrl-C reaches every process of the terminal; a worker exits without a traceback, or ignores it as its
    parent does.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    gc.enable()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A parent that is killed cannot end its workers, which would wait for work for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
