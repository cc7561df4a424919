"""A program that leads a process group ends with the processes that it has started."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kills a program that was started with `start_new_session`, and its group, which may outlive it. Where
    the system knows no process groups, only the program.
    """
    if os.name == "posix":
        with suppress(ProcessLookupError, PermissionError):  # all have ended
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
