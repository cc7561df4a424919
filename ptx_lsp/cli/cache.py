"""Reports kept from earlier runs, by the content of the file and all that decides what is found in it.

An entry is written beside its place and moved there, so that neither an interrupted run nor two runs at once
can leave half of one. Where the folder cannot be written, nothing is kept; what cannot be read is made anew.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import analyses
import ptx_lsp
from ptx_lsp.cli.check import Settings
from ptx_lsp.lint import details, report
from ptx_lsp.lint.report import FileReport

_DAY_S = 24 * 60 * 60
_KEPT_DAYS = 30
_PRUNED = ".pruned"


class Cache:
    """A folder of reports."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._can_write = True

    def get(self, key: str, path: str) -> FileReport | None:
        """The report of a file that was as it is now, whatever its path was then."""
        place = self._place(key)
        try:
            found = _Reports(io.BytesIO(place.read_bytes())).load()
            if time.time() - place.stat().st_mtime > _DAY_S:
                os.utime(place)  # still in use
        except Exception:  # absent, of another version, or damaged
            return None
        return found._replace(path=path) if isinstance(found, FileReport) else None

    def put(self, key: str, found: FileReport) -> None:
        """Keeps a report, unless it tells of a failure: the next run may be luckier."""
        if not self._can_write or found.error is not None or found.failures:
            return
        place = self._place(key)
        beside = place.with_name(f".{place.name}.{os.getpid()}.{time.monotonic_ns()}")
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(pickle.dumps(found, protocol=5))
            beside.replace(place)
        except OSError:
            self._can_write = False
            with suppress(OSError):
                beside.unlink()

    def prune(self) -> None:
        """Removes what was not used for 30 days; looks once a day."""
        marker = self._folder / _PRUNED
        with suppress(OSError):
            now = time.time()
            if marker.exists() and now - marker.stat().st_mtime < _DAY_S:
                return
            if not self._folder.is_dir():
                return
            marker.touch()
            (self._folder / ".gitignore").write_text("*\n")
            (self._folder / "CACHEDIR.TAG").write_text("Signature: 8a477f597d28d172789f06886806bc55\n")
            for folder in self._folder.glob("[0-9a-f][0-9a-f]"):
                for entry in folder.iterdir():
                    if now - entry.stat().st_mtime > _KEPT_DAYS * _DAY_S:
                        entry.unlink()

    def _place(self, key: str) -> Path:
        return self._folder / key[:2] / key[2:]


def key(data: bytes, settings: Settings) -> str:
    """What stands for a text and all that decides what is found in it."""
    digest = hashlib.sha256(_stamp().encode())
    rules = (sorted(settings.rules.names), settings.rules.severities)
    program = settings.ptxas
    status = program.stat() if program is not None else None
    which = (str(program), status.st_size, status.st_mtime_ns) if status is not None else None
    plain = settings._replace(rules=settings.rules._replace(names=frozenset(), severities=()), ptxas=None)
    digest.update(repr((rules, which, plain)).encode())
    digest.update(data)
    return digest.hexdigest()


def default_folder() -> Path | None:
    """Where the user's caches are; None where there is no such place."""
    home = os.environ.get("PTX_LINT_CACHE_DIR")
    if home:
        return Path(home)
    with suppress(RuntimeError, KeyError):
        if sys.platform == "win32":
            return Path(os.environ["LOCALAPPDATA"], "ptx-lint", "Cache")
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "ptx-lint"
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "ptx-lint")
    return None


@cache
def _stamp() -> str:
    """The version, and the state of the code: a working copy changes without a new version."""
    parts = [ptx_lsp.__version__, sys.version]
    for package in (*ptx_lsp.__path__, *analyses.__path__):
        parts += sorted(_files(package))
    return "\n".join(parts)


def _files(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir() and entry.name != "__pycache__":
                yield from _files(entry.path)
            elif entry.name.endswith(".py"):
                status = entry.stat()
                yield f"{entry.path} {status.st_size} {status.st_mtime_ns}"


class _Reports(pickle.Unpickler):
    """Makes nothing but reports: a cache may come from elsewhere."""

    def find_class(self, module: str, name: str) -> type:
        for known in (report, details):
            found: object = vars(known).get(name)
            if known.__name__ == module == getattr(found, "__module__", "") and isinstance(found, type):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no part of a report")
