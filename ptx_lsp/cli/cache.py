"""Reports kept from earlier runs, by the content of the file and all that decides what is found in it.

An entry is written beside its place and moved there, so that neither an interrupted run nor two runs at once
can leave half of one. Where the folder cannot be written, nothing is kept; what cannot be read is made anew.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import cast

import analyses
import ptx_lsp
from ptx_lsp.cli.settings import Settings
from ptx_lsp.lint import details, report
from ptx_lsp.lint.diagnostic import SEVERITIES, Severity
from ptx_lsp.lint.known import Known, known_rules, remember
from ptx_lsp.lint.report import FileReport

_DAY_S = 24 * 60 * 60
_KEPT_DAYS = 30
_DIGEST_BYTES = 32
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
            whole = place.read_bytes()
            digest, data = whole[:_DIGEST_BYTES], whole[_DIGEST_BYTES:]
            if hashlib.sha256(data).digest() != digest:
                return None  # damaged: who knows what unpickling it would do
            found = _Reports(io.BytesIO(data)).load()
            if time.time() - place.stat().st_mtime > _DAY_S:
                os.utime(place)  # still in use
        except Exception:  # absent, of another version, or damaged
            return None
        return found._replace(path=path) if isinstance(found, FileReport) else None

    def put(self, key: str, found: FileReport) -> None:
        """Keeps a report, unless it tells of a failure: the next run may be luckier."""
        if not self._can_write or found.error is not None or found.failures:
            return
        data = pickle.dumps(found, protocol=5)
        self._can_write = write(self._place(key), hashlib.sha256(data).digest() + data)

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
            for pattern in ("[0-9a-f][0-9a-f]/*", "rules-*.json"):
                for entry in self._folder.glob(pattern):
                    if now - entry.stat().st_mtime > _KEPT_DAYS * _DAY_S:
                        entry.unlink()

    def _place(self, key: str) -> Path:
        return self._folder / key[:2] / key[2:]


def key(data: bytes, settings: Settings) -> str:
    """What stands for a text and all that decides what is found in it."""
    digest = hashlib.sha256(_stamp().encode())
    rules = (sorted(settings.rules.names), settings.rules.severities)
    program = settings.ptxas
    which = _which(program) if program is not None else None
    plain = settings._replace(rules=settings.rules._replace(names=frozenset(), severities=()), ptxas=None)
    digest.update(repr((rules, which, plain)).encode())
    digest.update(data)
    return digest.hexdigest()


def _which(program: Path) -> tuple[str | int, ...]:
    """What tells one ptxas from another. A script that runs the real one stays the same when that changes."""
    from ptx_lsp import ptxas

    status = program.stat()
    return str(program), status.st_size, status.st_mtime_ns, ptxas.version(program)


def is_wanted() -> bool:
    """Whether the environment leaves the cache on."""
    return not os.environ.get("PTX_LINT_NO_CACHE")


def remember_rules(no_cache: bool) -> None:
    """Keeps what rules are called beside the reports: a run that has all reports need not import rules."""
    folder = default_folder() if is_wanted() and not no_cache else None
    if folder is None:
        remember(())
        return
    place = folder / f"rules-{hashlib.sha256(_stamp().encode()).hexdigest()[:16]}.json"
    try:
        rows = cast(list[list[str]], json.loads(place.read_text(encoding="utf-8")))
        remember(tuple(Known(name, code, _SEVERITIES[word]) for name, code, word in rows))
    except (OSError, ValueError, TypeError, KeyError):
        remember(())
        write(place, json.dumps(known_rules()).encode())


_SEVERITIES: dict[str, Severity] = {severity: severity for severity in SEVERITIES}


def write(place: Path, data: bytes) -> bool:
    """Writes a file whole, if it can be written."""
    beside = place.with_name(f".{place.name}.{os.getpid()}.{time.monotonic_ns()}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(data)
        beside.replace(place)
    except OSError:
        with suppress(OSError):
            beside.unlink()
        return False
    return True


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
    grammar = find_spec("tree_sitter_ptx")  # found, and not imported: that takes long
    places = (grammar.submodule_search_locations if grammar is not None else None) or ()
    for package in (*ptx_lsp.__path__, *analyses.__path__, *places):
        parts += sorted(_files(package))
    return "\n".join(parts)


def _files(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir() and entry.name != "__pycache__":
                yield from _files(entry.path)
            elif entry.name.endswith((".py", ".so", ".pyd")):
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
