"""Writes files whole or not at all."""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ptx_lsp.cli.arguments import UsageError


def replace(path: str | Path, data: bytes) -> None:
    """Replaces the content of a file and keeps its permissions; a link remains a link. Raises UsageError."""
    try:
        write_whole(Path(os.path.realpath(path)), data)
    except OSError as error:
        raise UsageError(f"cannot write `{path}`: {error.strerror}") from error


def write_whole(place: Path, data: bytes) -> None:
    """Writes a file as `whole_file` does. Raises OSError."""
    with whole_file(place) as file:
        file.write(data)


@contextmanager
def whole_file(place: Path) -> Generator[BinaryIO]:
    """A file beside `place` that is moved there in the end, or removed after an exception. Interrupted or
    concurrent runs never leave a partial file, and an existing link is replaced, not followed. Raises
    OSError.
    """
    beside = place.with_name(f"{BESIDE}{os.getpid()}.{time.monotonic_ns()}")
    with beside.open("xb") as file:  # a new file must not be a link either
        try:
            yield file
            if place.exists():
                beside.chmod(place.stat().st_mode & 0o7777)
            file.close()  # some systems move no file that is open
            beside.replace(place)
        except BaseException:
            with suppress(OSError):
                file.close()  # nor remove one
            with suppress(OSError):
                beside.unlink()
            raise


BESIDE = ".ptx-lint."
"""The prefix of such file names; the process ID and a time follow."""
