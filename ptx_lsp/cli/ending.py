"""The end of a command's process."""

from __future__ import annotations

import atexit
import os
import sys


class QuickEnd:
    """Once the command has finished with `status`, ends its process without taking apart everything that the
    process holds, which takes long after a large file.

    Registered before other handlers, it runs after them; the interpreter has then waited for threads.
    """

    def __init__(self) -> None:
        self.status: int | None = None
        atexit.register(self._end)

    def _end(self) -> None:
        if self.status is None or sys.gettrace() is not None or sys.getprofile() is not None:
            return
        try:
            for stream in (sys.stdout, sys.stderr):
                if stream:  # None if it was closed
                    stream.flush()
        except (OSError, ValueError):
            return  # the interpreter reports it
        os._exit(self.status)
