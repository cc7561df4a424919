"""Writes files whole or not at all."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from ptx_lsp.cli.arguments import UsageError


def replace(path: str | Path, data: bytes) -> None:
    """Puts `data` in place of a file, whose permissions stay; a link stays a link. Raises UsageError."""
    try:
        write_whole(Path(os.path.realpath(path)), data)
    except OSError as error:
        raise UsageError(f"cannot write `{path}`: {error.strerror}") from error


def write_whole(place: Path, data: bytes) -> None:
    """Writes a file beside `place` and moves it there: neither a run that is stopped nor two at once leave
    half of it, and a link that is there is replaced, not followed. Raises OSError.
    """
    beside = place.with_name(f"{BESIDE}{os.getpid()}.{time.monotonic_ns()}")
    with beside.open("xb") as file:  # new: it may not be a link, either
        try:
            file.write(data)
            if place.exists():
                beside.chmod(place.stat().st_mode & 0o7777)
            file.close()  # some systems move no file that is open
            beside.replace(place)
        except BaseException:
            with suppress(OSError):
                beside.unlink()
            raise


BESIDE = ".ptx-lint."
"""How the names of such files begin; then come the number of the process and a time."""
