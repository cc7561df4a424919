"""Executors to run the same work on."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Inline(Executor):
    """Runs work when it is submitted, and counts it."""

    def __init__(self) -> None:
        self.tasks = 0

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        self.tasks += 1
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class NewestFirst(Executor):
    """Runs pairs of tasks, the second one first. The number of tasks must be even."""

    workers = 2

    def __init__(self) -> None:
        self._held: Callable[[], None] | None = None

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()

        def run() -> None:
            future.set_result(fn(*args, **kwargs))

        if self._held is None:
            self._held = run
        else:
            held, self._held = self._held, None
            run()
            held()
        return future


class Cancelling(Inline):
    """Cancels the first tasks that it is given."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._left = number

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        if self._left == 0:
            return super().submit(fn, *args, **kwargs)
        self._left -= 1
        future: Future[T] = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future
