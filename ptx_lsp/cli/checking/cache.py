"""Cached reports of earlier runs, keyed by the content of the file and everything else that determines its
findings.

An entry is written to a temporary file and moved into place, so that interrupted or concurrent runs never
leave a partial entry. If the folder cannot be written, nothing is cached. Unreadable entries are recomputed.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import re
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import ptx_lsp
from ptx_lsp.cli.files import BESIDE, write_whole
from ptx_lsp.cli.settings import Settings
from ptx_lsp.lint import diagnostic
from ptx_lsp.lint.configuration.containment import is_file
from ptx_lsp.lint.results import details, report
from ptx_lsp.lint.results.report import FileReport

_DAY_S = 24 * 60 * 60
_KEPT_DAYS = 30
_DIGEST_BYTES = 32
_MARKER = ".made-by-ptx-lint"
"""A file that marks the folder as a cache. Nothing is removed from a folder without it."""
_FOLDER_NAME = re.compile("[0-9a-f]{2}")
_LEFT_BEHIND = re.escape(BESIDE) + r"\d+\.\d+"
"""Temporary files of an interrupted run."""
_REPORT_NAME = re.compile(f"[0-9a-f]{{62}}|{_LEFT_BEHIND}")
_RULES_NAME = re.compile(rf"rules-[0-9a-f]{{16}}\.json|{_LEFT_BEHIND}")  # of version 0.2
"""The pattern of our own file names."""


class Cache:
    """A folder of reports. If it contains other files, nothing is ever removed from it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._can_write = True

    def claim(self) -> bool:
        """Creates the folder, and marks it as a cache unless it already contains files. Returns False if it
        does and no earlier run has marked it. If it cannot be created or read, nothing is cached.
        """
        marker = self._folder / _MARKER
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if any(self._folder.iterdir()):
                return _is_plain_file(marker)
            with suppress(FileExistsError):  # by a run that began at the same time
                marker.touch(exist_ok=False)
        except OSError:
            self._can_write = False
            return True
        write(self._folder / ".gitignore", b"*\n")
        write(self._folder / "CACHEDIR.TAG", b"Signature: 8a477f597d28d172789f06886806bc55\n")
        return True

    def has(self, key: str) -> bool:
        """Whether there is a report, which `get` may still find to be damaged."""
        try:
            return self._place(key).is_file()
        except OSError:
            return False

    def get(self, key: str, path: str, container: str | None = None) -> FileReport | None:
        """The report of a file or member with the same content, under any path."""
        place = self._place(key)
        try:
            if not _is_plain(place):
                return None
            whole = place.read_bytes()
            digest, data = whole[:_DIGEST_BYTES], whole[_DIGEST_BYTES:]
            if hashlib.sha256(data).digest() != digest:
                return None  # a damaged entry: unpickling it is not safe
            found = ReportUnpickler(io.BytesIO(data)).load()
            if time.time() - place.stat().st_mtime > _DAY_S:
                os.utime(place)  # still in use
        except Exception:  # absent, of another version, or damaged
            return None
        return found._replace(path=path, container=container) if isinstance(found, FileReport) else None

    def put(self, key: str, found: FileReport) -> None:
        """Stores a report, unless it reports a failure: the next run may succeed."""
        if not self._can_write or found.error is not None or found.failures:
            return
        data = pickle.dumps(found, protocol=5)
        self._can_write = write(self._place(key), hashlib.sha256(data).digest() + data)

    def prune(self) -> None:
        """Removes reports unused for 30 days, if the folder is marked as a cache. It runs once per day; the
        marker has the time of the last run.
        """
        marker = self._folder / _MARKER
        with suppress(OSError):
            now = time.time()
            if not _is_plain_file(marker) or now - marker.stat().st_mtime < _DAY_S:
                return
            os.utime(marker)
            for entry in self._entries():
                with suppress(OSError):  # another run was faster
                    if now - entry.stat(follow_symlinks=False).st_mtime > _KEPT_DAYS * _DAY_S:
                        Path(entry.path).unlink()

    def _entries(self) -> Iterator[os.DirEntry[str]]:
        """The files that are called as ours are, and no links."""
        for entry in _listed(self._folder):
            if _RULES_NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                yield entry
            elif _FOLDER_NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                for report in _listed(entry.path):
                    if _REPORT_NAME.fullmatch(report.name) and report.is_file(follow_symlinks=False):
                        yield report

    def _place(self, key: str) -> Path:
        return self._folder / key[:2] / key[2:]


def _listed(folder: str | Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _is_plain_file(path: Path) -> bool:
    return is_file(path) and not path.is_symlink()


def _is_plain(place: Path) -> bool:
    """Whether the place of a report involves no link."""
    return not place.is_symlink() and not place.parent.is_symlink()


def key(data: bytes, settings: Settings) -> str:
    """The key of a text and everything else that determines its findings."""
    digest = hashlib.sha256(_stamp().encode())
    rules = (sorted(settings.rules.names), settings.rules.severities)
    program = settings.ptxas
    which = _which(program) if program is not None else None
    plain = settings._replace(rules=settings.rules._replace(names=frozenset(), severities=()), ptxas=None)
    digest.update(repr((rules, which, plain)).encode())
    digest.update(data)
    return digest.hexdigest()


def _which(program: Path) -> tuple[str | int, ...]:
    """The identity of a ptxas. A script that runs the real one is not detected when that one changes."""
    from ptx_lsp import ptxas

    status = program.stat()
    return str(program), status.st_size, status.st_mtime_ns, ptxas.version(program)


def write(place: Path, data: bytes) -> bool:
    """Writes a file atomically, if its folder is writable and no link leads elsewhere."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.parent.is_symlink():
            return False
        write_whole(place, data)
    except OSError:
        return False
    return True


def default_folder() -> Path | None:
    """The folder of the user's caches; None if there is none."""
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
    grammar = find_spec("tree_sitter_ptx")  # found, and not imported: that takes long
    places = (grammar.submodule_search_locations if grammar is not None else None) or ()
    for package in (*ptx_lsp.__path__, *places):
        parts += sorted(_files(package))
    return "\n".join(parts)


def _files(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir() and entry.name != "__pycache__":
                yield from _files(entry.path)
            elif entry.name.endswith((".py", ".so", ".pyd", ".json")):
                status = entry.stat()
                yield f"{entry.path} {status.st_size} {status.st_mtime_ns}"


class ReportUnpickler(pickle.Unpickler):
    """Unpickles only reports: a cache may come from elsewhere."""

    def find_class(self, module: str, name: str) -> type:
        for known in (report, details, diagnostic):
            found: object = vars(known).get(name)
            if known.__name__ == module == getattr(found, "__module__", "") and isinstance(found, type):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is not part of a report")
