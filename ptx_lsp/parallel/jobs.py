"""The value of `--jobs`: a number of processes or the address of a Dask scheduler."""

from __future__ import annotations

import os
import sys

from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeAlias

Jobs: TypeAlias = int | str | None
"""A number of processes, the address of a Dask scheduler (`dask://HOST:PORT`), or None for a process per
core.
"""

DASK = "dask://"
_DASK_PORT = 8786


class JobsError(Exception):
    """No such executor exists, or it cannot be used."""


def parse_jobs(text: str) -> int | str:
    """The value of `--jobs`. Raises JobsError."""
    if text.startswith(DASK):
        scheduler_address(text)
        return text
    number = int(text) if text.isascii() and text.isdecimal() else 0
    if number < 1:
        raise JobsError(f"{text!r} is not a positive integer or dask://HOST:PORT")
    return number


def scheduler_address(text: str) -> str:
    """The address in Dask's own form, `tcp://HOST:PORT`. Raises JobsError."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port or _DASK_PORT
    except ValueError:
        host, port = None, 0
    else:
        if parts.path.strip("/") or parts.query or parts.fragment or parts.username is not None:
            host = None
    if not host:
        raise JobsError(f"{text!r} is not dask://HOST:PORT")
    return f"tcp://[{host}]:{port}" if ":" in host else f"tcp://{host}:{port}"


def cores() -> int:
    """The cores that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
