"""The PTX files of the workspace's folders. After the first look, only folders that have changed are listed.

No link leads out of a folder, and none to a folder is followed, as `ptx-lint` walks.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ptx_lsp.lint.configuration.containment import is_file, leads_inside
from ptx_lsp.server.settings import Configurations

_MOST = 10_000
"""Further files are ignored: a workspace as large as that is not one program."""
_COARSEST_NS = 2_000_000_000
"""The resolution of the coarsest file times. What changed that recently may change again unnoticed."""


class Stamp(NamedTuple):
    """The state of a file or folder; None as time if it may have changed since without a trace."""

    changed_ns: int | None
    size: int


class _Listing(NamedTuple):
    stamp: Stamp
    folders: tuple[str, ...]
    files: tuple[str, ...]
    links: tuple[str, ...]


def stamp(path: str | Path) -> Stamp:
    """The state of a file or folder. Raises OSError."""
    status = Path(path).stat()
    changed_ns = max(status.st_mtime_ns, status.st_ctime_ns)  # a restored time does not hide a change
    is_settled = time.time_ns() - changed_ns > _COARSEST_NS
    return Stamp(changed_ns if is_settled else None, status.st_size)


def is_same(one: Stamp, other: Stamp) -> bool:
    """Whether nothing has changed between two states."""
    return one == other and one.changed_ns is not None


class WorkspaceFiles:
    """The PTX files below some folders, as they are at each call."""

    def __init__(self) -> None:
        self._listings: dict[str, _Listing] = {}

    def paths(self, folders: Iterable[str], configurations: Configurations) -> list[Path]:
        """The files that the configuration does not exclude, in order."""
        kept: dict[str, _Listing] = {}
        found: dict[Path, None] = {}
        for folder in folders:
            for path in self._below(folder, kept):
                if len(found) < _MOST and not configurations.is_excluded(path):
                    found[path] = None
        self._listings = kept
        return list(found)

    def _below(self, top: str, kept: dict[str, _Listing]) -> list[Path]:
        found: list[Path] = []
        waiting = [top]
        while waiting:
            folder = waiting.pop()
            listing = self._listing(folder)
            if listing is None:
                continue
            kept[folder] = listing
            waiting += (str(Path(folder, name)) for name in reversed(listing.folders))
            found += (Path(folder, name) for name in listing.files)
            links = (Path(folder, name) for name in listing.links)
            found += (path for path in links if is_file(path) and leads_inside(path, top))
        return found

    def _listing(self, folder: str) -> _Listing | None:
        """The entries of a folder; None if it cannot be read."""
        try:
            now = stamp(folder)
            known = self._listings.get(folder)
            return known if known is not None and is_same(known.stamp, now) else _list(folder, now)
        except OSError:
            return None


def _list(folder: str, now: Stamp) -> _Listing:
    folders: list[str] = []
    files: list[str] = []
    links: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if not entry.name.startswith("."):
                    folders.append(entry.name)
            elif entry.name.endswith(".ptx"):
                if entry.is_symlink():
                    links.append(entry.name)
                elif entry.is_file():  # to read a pipe would take for ever
                    files.append(entry.name)
    return _Listing(now, tuple(sorted(folders)), tuple(sorted(files)), tuple(sorted(links)))
