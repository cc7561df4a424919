"""`--watch`: runs again when a file changes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NoReturn

_PERIOD_S = 0.3
_CLEAR = "\x1b[2J\x1b[3J\x1b[H"

State = dict[str, tuple[int, int] | None]


def watch(run: Callable[[], None], files: Callable[[], Iterable[str | Path]]) -> NoReturn:
    """Runs immediately, and each time one of `files` changes, appears or disappears, until Ctrl-C."""
    while True:
        before = _state(files())
        if sys.stdout.isatty():
            print(_CLEAR, end="")
        run()
        count = len(before)
        print(f"Watching {count} file{'' if count == 1 else 's'} ...", file=sys.stderr, flush=True)
        while _state(files()) == before:
            time.sleep(_PERIOD_S)


def _state(files: Iterable[str | Path]) -> State:
    return {str(path): _stamp(Path(path)) for path in files}


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
