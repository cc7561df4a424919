"""The workers of a Dask cluster."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable, Generator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from importlib import import_module
from typing import ParamSpec, Protocol, TypeVar, cast
from urllib.parse import urlsplit

from ptx_lsp.parallel.jobs import JobsError

_P = ParamSpec("_P")
_T = TypeVar("_T")

_CONNECT_S = 15
"""A scheduler that is there answers within milliseconds, on a loaded machine within seconds."""
_FRESH_S = 5.0
"""The age at which the number of workers is asked for again."""


class _Client(Protocol):
    def get_executor(self, *, pure: bool) -> Executor: ...
    def nthreads(self) -> dict[str, int]: ...
    def close(self) -> None: ...


class DaskCluster(Executor):
    """The workers of a cluster. What kills a worker several times fails with Dask's KilledWorker."""

    def __init__(self, client: _Client) -> None:
        self._client = client
        self._tasks = client.get_executor(pure=False)  # equal tasks are not one: one may be a second attempt
        self._workers = 0
        self._asked_s = -_FRESH_S

    @property
    def workers(self) -> int:
        """The threads of all workers. Some may come later."""
        now = time.monotonic()
        if now - self._asked_s >= _FRESH_S:
            self._workers = sum(self._client.nthreads().values())
            self._asked_s = time.monotonic()
        return self._workers

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        return self._tasks.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._tasks.shutdown(wait and not cancel_futures)


@contextmanager
def dask_executor(name: str, address: str) -> Generator[DaskCluster]:
    """The cluster of the scheduler at `address`, called `name` in messages. Raises JobsError."""
    try:
        distributed = import_module("distributed")
    except ImportError as error:
        raise JobsError(f"{name} requires the package distributed: pip install 'ptx-lsp[cluster]'") from error
    _refuse_absent(name, address)
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what goes wrong is reported by us
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
            cluster.shutdown(wait=False)
    finally:
        client.close()


def _refuse_absent(name: str, address: str) -> None:
    """Raises JobsError if nothing answers; Dask itself would try again until its time is over."""
    parts = urlsplit(address)
    try:
        socket.create_connection((parts.hostname or "", parts.port or 0), _CONNECT_S).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise JobsError(f"{name}: cannot connect to the Dask scheduler: {reason}") from error
