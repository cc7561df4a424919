"""Runs a command with everything that it starts, and ends all of it after a time or on request."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.process_group import kill_group

_MOST_OUTPUT = 1_000_000
"""The bytes of output that are read."""


class StoppedError(Exception):
    """The result of a command is not wanted any more."""


class Outcome(NamedTuple):
    """How a command ended: `status` is None if it took too long, negative if a signal ended it."""

    status: int | None
    output: str


class Stop:
    """Ends a command that another thread runs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_set = False

    def set(self) -> None:
        with self._lock:
            self._is_set = True
            if self._process is not None:
                kill_group(self._process)

    def watch(self, process: subprocess.Popen[bytes] | None) -> None:
        """Names the command that runs now. Raises StoppedError if it is not wanted any more."""
        with self._lock:
            self._process = process
            if self._is_set:
                if process is not None:
                    kill_group(process)
                raise StoppedError


def run(
    command: Sequence[str] | str,
    timeout_s: float | None,
    stop: Stop,
    *,
    folder: str | None = None,
    environment: Mapping[str, str] | None = None,
    reads_output: bool = False,
) -> Outcome:
    """Runs a program, or a command of the shell. Raises StoppedError, and OSError if it cannot be started."""
    with tempfile.TemporaryFile() if reads_output else Path(os.devnull).open("r+b") as output:
        process = subprocess.Popen(
            command,
            shell=isinstance(command, str),
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            stop.watch(process)
            try:
                status = process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                status = None
        finally:
            kill_group(process)
            process.wait()
        stop.watch(None)
        text = ""
        if reads_output:
            output.seek(0)
            text = output.read(_MOST_OUTPUT).decode(errors="replace")
    return Outcome(status, text)
