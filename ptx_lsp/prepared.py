"""Data that depend on source files of this project only, kept in a file beside the compiled modules.

As with those, the file is made when the package is built or when the data are first needed, and again when a
source has changed. If it must not be written, each process does without it.
"""

from __future__ import annotations

import marshal
import os
import sys
from _imp import source_hash  # `importlib.util` has it too, but is slow to import
from collections.abc import Callable, Iterable
from contextlib import suppress

from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final


def prepared(
    name: str,
    folder: str,
    sources: Iterable[str],
    compute: Callable[[], dict[str, bytes]],
    write: bool | None = None,
) -> dict[str, bytes] | None:
    """The result of `compute`, from the file `name` in the cache of `folder` if the sources are the same. If
    there is none and it cannot be kept, None. `write`: whether it may be; by default as compiled modules are.
    """
    sources = list(sources)
    cache = _cache_of(folder)
    place = os.path.join(cache, f"{name}.prepared")
    stamp, key = _stamp(sources), b""
    may_write = not sys.dont_write_bytecode if write is None else write
    with suppress(OSError, ValueError, EOFError, TypeError):  # absent, or damaged
        kept = _bytes(place)
        is_same = kept.startswith(stamp)
        if not is_same and kept[_HASH:].startswith(key := _key(sources)):
            is_same = True
            if may_write and _is_writable(cache):
                _write(place, stamp + kept[_HASH:])
        if is_same:
            return marshal.loads(memoryview(kept)[2 * _HASH :])
    if not may_write or not _is_writable(cache):
        return None
    found = compute()
    _write(place, stamp + (key or _key(sources)) + marshal.dumps(found, 4))
    return found


_HASH: Final = 8
"""The size of a hash. A file starts with two: of the times of the sources, and of their contents, which are
read only if a time differs.
"""


def without_times(kept: bytes) -> bytes:
    """The content of such a file for a package: times differ from build to build, and after installing."""
    return bytes(_HASH) + kept[_HASH:]


def modules_in(folder: str) -> list[str]:
    """The source files of a folder, in order."""
    return sorted([os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".py")])


def _stamp(sources: list[str]) -> bytes:
    """A hash of the names, times and sizes."""
    parts: list[str] = []
    for path in sources:
        status = os.stat(path)
        parts.append(f"{os.path.basename(path)} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_size}")
    return source_hash(0, "\n".join(parts).encode())


def _key(sources: list[str]) -> bytes:
    """A hash of the names and the contents."""
    parts = [part for path in sources for part in (os.path.basename(path).encode(), _bytes(path))]
    return source_hash(0, b"\0".join(parts))


def _cache_of(folder: str) -> str:
    """Where the interpreter keeps the byte code of the modules in a folder."""
    if sys.pycache_prefix is None:
        return os.path.join(folder, "__pycache__")
    from importlib.util import cache_from_source

    return os.path.dirname(cache_from_source(os.path.join(folder, "module.py")))


def _bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _is_writable(folder: str) -> bool:
    with suppress(OSError):
        os.makedirs(folder, exist_ok=True)
        return os.access(folder, os.W_OK)
    return False


def _write(place: str, data: bytes) -> None:
    beside = f"{place}.{os.getpid()}"
    with suppress(OSError):
        with open(beside, "wb") as file:
            file.write(data)
        os.replace(beside, place)
