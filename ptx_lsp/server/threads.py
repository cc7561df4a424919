"""Where long work is done, so that the event loop always hears the client.

Texts are read, files are analysed and requests are answered in threads of three kinds, so that none of
these waits for another kind to end. They share one interpreter, so how long a turn of each lasts is set,
too: an answer that takes a millisecond is given within a few, whatever else goes on. Where somebody waits
for an answer about the text just typed, the analysis of that text lets it pass.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")

_TURN = 0.0005
"""Seconds. Python's own 5 ms make an answer wait that long at each of some ten hand-overs."""
_REST = 0.05
"""Seconds, at most: an answer that takes long is no reason to tell no findings."""
_READERS, _ANSWERERS = 2, 4
_YOUNG, _MIDDLE, _NEVER = 100_000, 20, 1_000_000_000


class Threads:
    """The threads of one session. All but the work itself is on the event loop."""

    def __init__(self) -> None:
        sys.setswitchinterval(_TURN)
        gc.set_threshold(_YOUNG, _MIDDLE, _NEVER)  # see `Snapshot`: nothing old is in a cycle
        self._builders = self._waiting = 0
        self._nobody_waits = Event()
        self._nobody_waits.set()
        self._reading = ThreadPoolExecutor(_READERS, "read")
        self._analysing = ThreadPoolExecutor(1, "analyse")
        self._answering = ThreadPoolExecutor(_ANSWERERS, "answer")

    async def read(self, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        with self._building():
            return await _in(self._reading, work, *args, **kwargs)

    async def analyse(self, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        with self._building():
            return await _in(self._analysing, work, *args, **kwargs)

    async def answer(self, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        return await _in(self._answering, work, *args, **kwargs)

    @contextmanager
    def answering_at_once(self) -> Generator[None, None, None]:
        """While somebody waits for an answer that should not take long, the analysis rests."""
        self._waiting += 1
        self._nobody_waits.clear()
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._nobody_waits.set()

    def give_way(self) -> None:
        """Called by the analysis itself, where it can rest."""
        self._nobody_waits.wait(_REST)

    @contextmanager
    def _building(self) -> Generator[None, None, None]:
        """While much comes to be that stays, to look through it for garbage takes a third of the time, and
        finds none. What was much is not looked through later, either.
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
        """What has not begun is dropped; what runs ends by itself."""
        for pool in (self._reading, self._analysing, self._answering):
            pool.shutdown(wait=False, cancel_futures=True)


async def _in(
    pool: ThreadPoolExecutor, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs
) -> _T:
    return await asyncio.wrap_future(pool.submit(work, *args, **kwargs))
