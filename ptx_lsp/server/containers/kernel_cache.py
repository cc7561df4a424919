"""The kernels in the cache of Triton, or of Inductor, which has the same folders one or two levels deeper.

Each folder has `NAME.ptx`, what Triton knows about it in `NAME.json`, and the earlier stages of compilation.
Only the beginning of the PTX is read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from ptx_lsp.containers.metadata_beside import metadata_beside

_DEEPEST: Final = 3
"""Levels of folders in a cache."""
_MOST_FOLDERS: Final = 100_000
_HEAD: Final = 4 << 10
"""Bytes."""
_TARGET: Final = re.compile(rb"^[ \t]*\.target[ \t]+(\w+)", re.MULTILINE)
STAGES: Final = ("ttir", "ttgir", "llir")
"""The endings of the files that become the PTX, in this order."""


class CachedKernel(NamedTuple):
    """A kernel, and what Triton says about it; None for what it does not say."""

    name: str
    path: str
    """The path of the PTX."""
    modified_ms: int
    """Milliseconds since 1970."""
    target: str | None
    warps: int | None
    stages: int | None
    blocks: int | None
    """Blocks per cluster."""
    shared_bytes: int | None
    files: tuple[str, ...]
    """The files of the other stages."""


def folders_below(top: str) -> Iterator[str]:
    """The folders of a cache, lazily. Raises OSError if it cannot be read."""
    os.scandir(top).close()
    waiting, count = [(top, 0)], 0
    while waiting and count < _MOST_FOLDERS:
        folder, depth = waiting.pop()
        count += 1
        yield folder
        if depth < _DEEPEST:
            waiting += [(path, depth + 1) for path in _inside(folder)]


def kernels_in(folders: Iterable[str]) -> list[CachedKernel]:
    """The kernels directly in some folders."""
    found: list[CachedKernel] = []
    for folder in folders:
        try:
            with os.scandir(folder) as entries:
                files = {entry.name: entry for entry in entries if entry.is_file()}
            for name, entry in files.items():
                stem, _, ending = name.rpartition(".")
                if ending == "ptx" and f"{stem}.json" in files:
                    kernel = _kernel(entry, stem, files)
                    found += [kernel] if kernel is not None else []
        except OSError:  # it was removed meanwhile
            continue
    return found


def _inside(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _kernel(
    entry: os.DirEntry[str], stem: str, files: dict[str, os.DirEntry[str]]
) -> CachedKernel | None:
    found = next(iter(metadata_beside(entry.path).values()), None)
    options = dict(found.options) if found is not None else {}
    if found is None or "num_warps" not in options:
        return None  # the JSON file is not Triton's
    stages = [f"{stem}.{stage}" for stage in STAGES]
    return CachedKernel(
        found.name or stem,
        entry.path,
        entry.stat().st_mtime_ns // 1_000_000,
        _target(entry.path) or found.target,
        options["num_warps"],
        options.get("num_stages"),
        found.cluster_size,
        found.shared_bytes,
        tuple(files[file].path for file in stages if file in files),
    )


def _target(path: str) -> str | None:
    with Path(path).open("rb") as file:
        found = _TARGET.search(file.read(_HEAD))
    return found[1].decode() if found is not None else None
