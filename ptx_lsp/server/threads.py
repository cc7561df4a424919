"""Threads for long work, so that the event loop stays responsive.

Texts are read, files are analysed, blocks of inline assembly are checked and requests are answered in four
kinds of threads, so that no kind waits for another. They share one interpreter, so the switch interval is set
as well: an answer that takes one millisecond arrives within a few. The analysis of a text pauses while the
user waits for an answer about it.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier, Event, Lock
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")

_TURN = 0.0005
"""Seconds. With Python's default of 5 ms, an answer would wait that long at each of some ten hand-overs."""
_REST = 0.05
"""Maximum seconds: a slow answer must not prevent findings."""
READERS, ANSWERERS = 2, 4
_YOUNG, _MIDDLE, _NEVER = 100_000, 20, 1_000_000_000


class Threads:
    """The threads of one session. Everything but the work itself is on the event loop."""

    def __init__(self) -> None:
        sys.setswitchinterval(_TURN)
        gc.set_threshold(_YOUNG, _MIDDLE, _NEVER)  # see `Snapshot`: nothing old is in a cycle
        self._builders = self._waiting = 0
        self._lock, self._computing = Lock(), 0
        """The number of answers that are being computed."""
        self._nobody_waits = Event()
        self._nobody_waits.set()
        self._reading = ThreadPoolExecutor(READERS, "read")
        self._analysing = ThreadPoolExecutor(1, "analyse")
        self._checking = ThreadPoolExecutor(1, "check blocks")
        self._first: Future[object] | None = None
        self._answering = ThreadPoolExecutor(ANSWERERS, "answer")
        self._pools = ((self._reading, READERS), (self._analysing, 1), (self._answering, ANSWERERS))

    async def read(self, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        with self._building():
            return await _in(self._reading, work, *args, **kwargs)

    def begin_with(self, work: Callable[[], object], in_each: Callable[[], object]) -> None:
        """Starts all threads, calls `in_each` in each of them, and starts work that should be finished before
        a large text is read: see `begun`.
        """
        for pool, count in self._pools:
            together = Barrier(count)
            for _ in range(count):
                pool.submit(_begin, together, in_each)
        self._first = self._reading.submit(work)

    async def begun(self) -> None:
        """Waits until the first work has finished, or has failed."""
        if self._first is not None and not self._first.done():
            await asyncio.wait([asyncio.wrap_future(self._first)])

    async def analyse(self, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        with self._building():
            return await _in(self._analysing, work, *args, **kwargs)

    async def check_blocks(self, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Apart from the analyses of PTX files, which may take long."""
        return await _in(self._checking, work, *args, **kwargs)

    async def answer(self, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        return await _in(self._answering, self.computed, work, *args, **kwargs)

    def computed(self, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Calls `work`, which may compute facts."""
        with self._lock:
            self._computing += 1
        try:
            return work(*args, **kwargs)
        finally:
            with self._lock:
                self._computing -= 1

    def between_answers(self, work: Callable[[], None]) -> bool:
        """Calls `work` if no answer is being computed now; none begins meanwhile."""
        with self._lock:
            if self._computing:
                return False
            work()
            return True

    @contextmanager
    def answering_at_once(self) -> Generator[None, None, None]:
        """The analysis pauses while a user waits for a quick answer."""
        self._waiting += 1
        self._nobody_waits.clear()
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._nobody_waits.set()

    def give_way(self) -> None:
        """Called by the analysis at points where it can pause."""
        self._nobody_waits.wait(_REST)

    @contextmanager
    def _building(self) -> Generator[None, None, None]:
        """While many lasting objects are created, garbage collection takes a third of the time and finds
        nothing. Large results are not scanned later, either.
        """
        self._builders += 1
        gc.disable()
        try:
            yield
        finally:
            self._builders -= 1
            if not self._builders:
                if gc.get_count()[0] > _YOUNG:
                    gc.freeze()
                gc.enable()

    def close(self) -> None:
        """Drops work that has not begun; running work finishes by itself."""
        for pool in (self._reading, self._analysing, self._checking, self._answering):
            pool.shutdown(wait=False, cancel_futures=True)


def _begin(together: Barrier, work: Callable[[], object]) -> None:
    work()
    together.wait(1)


async def _in(
    pool: ThreadPoolExecutor, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs
) -> _T:
    return await asyncio.wrap_future(pool.submit(work, *args, **kwargs))
