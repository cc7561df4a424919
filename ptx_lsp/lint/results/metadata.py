"""Metadata of Triton about a kernel in its cache: a JSON object in the file of the same name beside the PTX.

It has the `name` of the kernel and the bytes of `shared` memory, all of which is dynamic. An object without
`num_warps` is not one of Triton.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import cast

from ptx_lsp.named_tuple import NamedTuple

_MOST_BYTES = 1 << 20
"""Larger files are not metadata."""


class Metadata(NamedTuple):
    """The contents of a JSON file beside a PTX file; None for what it does not say."""

    name: str | None = None
    shared_bytes: int | None = None


def metadata_beside(path: str) -> Metadata | None:
    """The metadata of a PTX file; None if it has none."""
    beside = os.path.splitext(path)[0] + ".json"
    try:
        state = os.stat(beside)
    except (OSError, ValueError):
        return None
    return _read(beside, state.st_mtime_ns, state.st_size) if state.st_size <= _MOST_BYTES else None


@lru_cache(maxsize=64)
def _read(path: str, _time: int, _size: int) -> Metadata | None:
    import json

    try:
        with open(path, "rb") as file:
            found: object = json.load(file)
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    row = cast("dict[str, object]", found)
    name = row.get("name")
    shared = _count(row.get("shared"))
    if shared is None or _count(row.get("num_warps")) is None:
        return None
    return Metadata(name if isinstance(name, str) else None, shared)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
