"""Waits for processes of which a test is not the parent."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 60
"""Seconds."""


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether something holds within a minute."""
    end = time.monotonic() + PATIENCE
    while not holds() and time.monotonic() < end:
        time.sleep(0.01)
    return holds()


def is_running(process: int) -> bool:
    """Whether a process exists and has not ended, as far as the system tells: one that nobody waits for has
    ended too.
    """
    try:
        os.kill(process, 0)
        if not Path("/proc/self/stat").exists():
            return True
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def number_in(path: Path) -> int:
    """The number that a process writes to a file, followed by white space."""
    assert eventually(lambda: path.exists() and path.read_text()[-1:].isspace())
    return int(path.read_text())
