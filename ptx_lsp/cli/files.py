"""Writes files whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from ptx_lsp.cli.arguments import UsageError


def replace(path: str | Path, data: bytes) -> None:
    """Puts `data` in place of a file, whose permissions stay; a link stays a link. Raises UsageError."""
    place = Path(os.path.realpath(path))
    beside = place.with_name(f".{place.name}.{os.getpid()}.ptx-lint")
    try:
        beside.write_bytes(data)
        if place.exists():
            beside.chmod(place.stat().st_mode & 0o7777)
        beside.replace(place)
    except OSError as error:
        raise UsageError(f"`{path}` cannot be written: {error.strerror}") from error
    finally:
        with suppress(OSError):
            beside.unlink()
