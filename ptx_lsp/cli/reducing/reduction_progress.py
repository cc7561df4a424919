"""The progress line of `ptx-reduce`, on a terminal."""

from __future__ import annotations

import shutil
import sys
import time
from types import TracebackType

from ptx_lsp.reduce.program import Program
from ptx_lsp.reduce.reducer import Progress

_INTERVAL_S = 0.1
_CLEAR = "\r\x1b[K"


class ProgressLine:
    """One line, which is removed at the end."""

    def __init__(self, quiet: bool) -> None:
        self._is_shown = not quiet and sys.stderr.isatty()
        self._last = 0.0
        self._data = b""
        self._instructions = 0

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.clear()

    def show(self, progress: Progress) -> None:
        now = time.monotonic()
        if not self._is_shown or now - self._last < _INTERVAL_S:
            return
        self._last = now
        if progress.data is not self._data:
            self._data, self._instructions = progress.data, instruction_count(progress.data)
        text = (
            f"{len(progress.data)} bytes, {self._instructions} instructions, {progress.tests} tests: "
            f"{progress.running}"
        )
        sys.stderr.write(_CLEAR + text[: shutil.get_terminal_size().columns - 1])
        sys.stderr.flush()

    def clear(self) -> None:
        if self._is_shown:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()


def instruction_count(data: bytes) -> int:
    """The number of instructions in a text."""
    return sum(1 for _ in Program(data).instructions())
