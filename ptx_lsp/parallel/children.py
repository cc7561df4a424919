"""Runs calls in processes of their own, so that what ends its process does not end this one: a Dask worker
takes seconds to come back, and the scheduler tries several before it gives up.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import BrokenExecutor
from contextlib import suppress

from ptx_lsp.parallel.child import READY, receive, send

IDLE_S = 60.0
"""A process without work for so long is ended."""


def run_in_child(call: bytes) -> bytes:
    """The pickled result of the call (`call_bytes`), or a `Raised`. Raises BrokenExecutor if it ends its
    process.
    """
    child = _CHILDREN.take()
    answer = child.answer(call)
    if answer is None:
        raise BrokenExecutor(f"the process ended with status {child.end()}")
    _CHILDREN.give(child)
    return answer


class Child:
    """A process that runs one call after the other. Raises BrokenExecutor if it is killed at once."""

    def __init__(self) -> None:
        path = os.pathsep.join(entry for entry in sys.path if entry)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "ptx_lsp.parallel.child"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        self.last_s = 0.0
        """When it had its last work."""
        if receive(self._out) != READY:
            status = self.end()
            if status < 0:
                raise BrokenExecutor(f"the process ended with status {status}")
            raise RuntimeError(f"cannot run {sys.executable}: it ended with status {status}")

    def answer(self, call: bytes) -> bytes | None:
        """None if the process has ended."""
        try:
            send(self._in, call)
            return receive(self._out)
        except OSError:
            return None

    def end(self) -> int:
        """Ends it, and gives its status."""
        with suppress(OSError):  # what could not be sent
            self._in.close()
        status = self.wait()
        self._out.close()
        return status

    def wait(self) -> int:
        """Waits until it has ended, and gives its status."""
        return self._process.wait()


class Children:
    """The processes without work; as many as there are threads that run calls."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[Child] = []
        self._is_watched = False

    def take(self) -> Child:
        """One without work, or a new one."""
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return Child()

    def give(self, child: Child) -> None:
        """Keeps it for the next call, for a while."""
        child.last_s = time.monotonic()
        with self._lock:
            self._idle.append(child)
            self._watch()

    def _watch(self) -> None:
        if self._idle and not self._is_watched:
            self._is_watched = True
            timer = threading.Timer(IDLE_S, self._end_old)
            timer.daemon = True
            timer.start()

    def _end_old(self) -> None:
        with self._lock:
            latest = time.monotonic() - IDLE_S
            old = [child for child in self._idle if child.last_s <= latest]
            self._idle = [child for child in self._idle if child.last_s > latest]
            self._is_watched = False
            self._watch()
        for child in old:
            child.end()


_CHILDREN = Children()
