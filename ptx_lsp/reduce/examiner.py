"""Examines candidates, several at a time. The first interesting one in order wins, not the
first to end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.reduce.examination import Examination
from ptx_lsp.reduce.processes import Stop
from ptx_lsp.reduce.verdicts import Verdicts, digest

_T = TypeVar("_T")


class _Pending(NamedTuple):
    """A candidate under examination, or with the verdict that it is interesting."""

    key: str
    data: bytes
    future: Future[bool] | None
    stop: Stop


class Examiner:
    """`executor` examines candidates elsewhere; without one, `jobs` threads do."""

    def __init__(
        self, examine: Examination, verdicts: Verdicts, jobs: int, executor: Executor | None = None
    ) -> None:
        self.examine = examine
        self.verdicts = verdicts
        self.tests = 0
        """The examinations that have ended."""
        self._jobs = jobs
        self._threads = executor is None
        self._executor = executor or ThreadPoolExecutor(jobs)
        self._running: deque[_Pending] = deque()

    def __enter__(self) -> Examiner:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()
        if self._threads:
            self._executor.shutdown(cancel_futures=True)

    def first(
        self, candidates: Iterable[tuple[_T, bytes]], is_possible: Callable[[bytes], bool]
    ) -> tuple[_T, bytes] | None:
        """The first interesting one of these candidates. Those that are not possible are not examined.

        Raises OSError if the command cannot be run.
        """
        waiting: deque[tuple[_T, bytes]] = deque()
        source = iter(candidates)
        is_exhausted = False
        try:
            while True:
                while not is_exhausted and len(self._running) < self._jobs:
                    candidate = next(source, None)
                    if candidate is None:
                        is_exhausted = True
                        break
                    pending = self._begin(candidate[1], is_possible)
                    if pending is not None:
                        self._running.append(pending)
                        waiting.append(candidate)
                        if pending.future is None:
                            is_exhausted = True  # it is interesting: nothing after it matters
                if not self._running:
                    return None
                if self._is_interesting(self._running[0]):
                    return waiting[0]
                self._running.popleft()
                waiting.popleft()
        finally:
            self._stop()

    def _begin(self, data: bytes, is_possible: Callable[[bytes], bool]) -> _Pending | None:
        """Starts an examination; None if the candidate is known not to be interesting."""
        key, stop = digest(data), Stop()
        known = self.verdicts.get(key)
        if known is None and not is_possible(data):
            self.verdicts.put(key, False)
            known = False
        if known is not None:
            return _Pending(key, data, None, stop) if known else None
        if self._threads:
            future = self._executor.submit(self.examine, data, stop)
        else:
            future = self._executor.submit(self.examine, data)
        return _Pending(key, data, future, stop)

    def _is_interesting(self, pending: _Pending) -> bool:
        if pending.future is None:
            return True
        try:
            verdict = pending.future.result()
        except OSError:
            raise
        except Exception:
            if self._threads:
                raise
            verdict = self.examine(pending.data)  # a worker was lost
        self.tests += 1
        self.verdicts.put(pending.key, verdict)
        return verdict

    def _stop(self) -> None:
        """Ends the examinations whose result is not needed."""
        while self._running:
            one = self._running.pop()
            if one.future is not None and not one.future.done():
                one.future.cancel()
                one.stop.set()
