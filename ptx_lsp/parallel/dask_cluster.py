"""The workers of a Dask cluster."""

from __future__ import annotations

import logging
import pickle
import socket
import time
from collections.abc import Callable, Generator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import ParamSpec, Protocol, TypeVar, cast
from urllib.parse import urlsplit

from ptx_lsp.parallel.call import call_bytes
from ptx_lsp.parallel.children import run_in_child
from ptx_lsp.parallel.jobs import JobsError
from ptx_lsp.parallel.part import Raised

_P = ParamSpec("_P")
_T = TypeVar("_T")

_CONNECT_S = 15
"""A scheduler that is there answers within milliseconds, on a loaded machine within seconds."""
_FRESH_S = 5.0
"""The age at which the number of workers is asked for again."""

_FETCHED = 8
"""Results that are fetched at a time."""


class _Task(Protocol):
    """Dask's own future."""

    def result(self) -> object: ...
    def cancel(self) -> None: ...
    def release(self) -> None: ...
    def add_done_callback(self, function: Callable[[_Task], None]) -> None: ...


class _Client(Protocol):
    def submit(self, function: Callable[..., object], data: bytes, *, pure: bool) -> _Task: ...
    def nthreads(self) -> dict[str, int]: ...
    def close(self) -> None: ...


class DaskCluster(Executor):
    """The workers of a cluster, which run each call in a process of its own. A call that ends this process
    fails with BrokenExecutor; one that loses several workers, with Dask's KilledWorker.
    """

    def __init__(self, client: _Client) -> None:
        self._client = client
        self._futures: set[Future[object]] = set()
        self._fetching = ThreadPoolExecutor(_FETCHED)
        self._workers = 0
        self._asked_s = -_FRESH_S

    @property
    def workers(self) -> int:
        """The threads of all workers. Some may come later."""
        now = time.monotonic()
        if now - self._asked_s >= _FRESH_S:
            with _connected():
                self._workers = sum(self._client.nthreads().values())
            self._asked_s = time.monotonic()
        return self._workers

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        # without its modules, the scheduler could not pass on the function
        data = call_bytes(run_in_child, call_bytes(fn, *args, **kwargs))
        future: Future[object] = Future()
        with _connected():
            # equal tasks are not one: one may be a second attempt
            task = self._client.submit(pickle.loads, data, pure=False)
        self._futures.add(future)
        future.add_done_callback(lambda _: task.cancel() if future.cancelled() else None)
        task.add_done_callback(lambda task: self._fetch(task, future))
        return cast("Future[_T]", future)

    def _fetch(self, task: _Task, future: Future[object]) -> None:
        # Dask would fetch one result after the other, and all would wait for a worker that has just died
        with suppress(RuntimeError):  # after shutdown, when nobody waits
            self._fetching.submit(self._finish, task, future)

    def _finish(self, task: _Task, future: Future[object]) -> None:
        self._futures.discard(future)
        if not future.set_running_or_notify_cancel():
            return
        try:
            result = pickle.loads(cast("bytes", task.result()))
            if isinstance(result, Raised):
                result.reraise()
            future.set_result(result)
        except CancelledError as error:  # by the scheduler: the workers are gone
            future.set_exception(BrokenExecutor(str(error)))
        except Exception as error:
            future.set_exception(error)
        finally:
            task.release()  # else the worker keeps the result, and if it dies, another one makes it again

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        futures = list(self._futures)
        if cancel_futures:
            for future in futures:
                future.cancel()
        elif wait:
            wait_for(futures)
        self._fetching.shutdown(wait=False)


@contextmanager
def dask_executor(name: str, address: str) -> Generator[DaskCluster]:
    """The cluster of the scheduler at `address`, called `name` in messages. Raises JobsError."""
    try:
        distributed = import_module("distributed")
    except ImportError as error:
        raise JobsError(
            f"{name} requires the package distributed: pip install 'ptx-lsp[cluster]'"
        ) from error
    _refuse_absent(name, address)
    for logger in ("distributed", "distributed.client"):  # each has its own level
        logging.getLogger(logger).setLevel(logging.CRITICAL)  # we report what goes wrong
    connect = cast("Callable[..., _Client]", vars(distributed)["Client"])
    try:
        client = connect(address, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise JobsError(f"{name}: what answers at this address is not a Dask scheduler") from error
    try:
        cluster = DaskCluster(client)
        try:
            yield cluster
        finally:
            cluster.shutdown(cancel_futures=True)
    finally:
        client.close()


@contextmanager
def _connected() -> Generator[None]:
    """Raises JobsError if the scheduler has gone away."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        raise JobsError(f"lost the connection to the Dask scheduler: {error}") from error


def _refuse_absent(name: str, address: str) -> None:
    """Raises JobsError if nothing answers; Dask itself would try again until its time is over."""
    parts = urlsplit(address)
    try:
        socket.create_connection((parts.hostname or "", parts.port or 0), _CONNECT_S).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise JobsError(f"{name}: cannot connect to the Dask scheduler: {reason}") from error
