"""The kernel as a person at a terminal debugs it: each command waits until the kernel has stopped."""

from __future__ import annotations

import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Event, Thread, current_thread, main_thread
from types import FrameType

from ptx_lsp.debug.debuggee import Debuggee, Run
from ptx_lsp.debug.goals import Stop
from ptx_lsp.debug.program import Program
from ptx_lsp.debug.recording import Recording
from ptx_lsp.debug.request_error import RequestError

_POLL = 0.1
"""Seconds after which an interrupt is noticed, where it does not end the wait itself."""


class TerminalDebuggee(Debuggee):
    """Runs the kernel in the foreground. An interrupt by the user pauses it."""

    def __init__(self, program: Program, write: Callable[[str], None]) -> None:
        """`write` prints a text. Raises RequestError if the launch is impossible."""
        super().__init__()
        self._write = write
        self.program = program
        self.on_stop: Callable[[Stop], None] = lambda stop: None
        """Called when the kernel has stopped."""
        self.is_bad = False
        """Whether the kernel has failed, or the checks found something, since it was run."""
        self.record()

    def run(self, go: Run) -> None:
        recording = self.recording
        if recording is None or self.view is None:
            raise RequestError("The program is not being run.")
        self.view = None
        self.stands(self._waited(recording, go))

    def record(self, program: Program | None = None) -> None:
        super().record(program)
        self.is_bad = False

    def stands(self, stop: Stop) -> None:
        super().stands(stop)
        self.is_bad |= stop.problem is not None or bool(self.recording and self.recording.findings)
        self.on_stop(stop)

    def print(self, text: str, category: str = "console") -> None:
        self._write(text)

    def end(self) -> None:
        recording, self.recording = self.recording, None
        if recording is not None:
            recording.close()

    @contextmanager
    def interruptible(self) -> Generator[None]:
        """An interrupt pauses the kernel: while it runs, or as soon as it does."""

        def pause(number: int, frame: FrameType | None) -> None:
            if self.recording is not None:
                self.recording.pause()

        if current_thread() is not main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, pause)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
            if self.recording is not None:
                self.recording.unpause()

    def _waited(self, recording: Recording, go: Run) -> Stop:
        """Where the kernel stops."""
        found: list[Stop | BaseException] = []
        is_done = Event()

        def work() -> None:
            try:
                found.append(go(recording))
            except BaseException as error:  # raised in the thread that waits
                found.append(error)
            is_done.set()

        Thread(target=work, daemon=True).start()
        while not is_done.wait(_POLL):
            pass
        if isinstance(found[0], BaseException):
            raise found[0]
        return found[0]
