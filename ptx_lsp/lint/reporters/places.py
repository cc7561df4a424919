"""Where tools outside are pointed to: paths as they know them."""

from __future__ import annotations

import os
from pathlib import Path, PurePath
from urllib.parse import quote

from ptx_lsp.lint.results.report import Reported


def from_here(path: str) -> str:
    """A path with `/`, and without the current folder in front where it lies below it."""
    pure = PurePath(path)
    if pure.is_absolute() and pure.is_relative_to(Path.cwd()):
        pure = pure.relative_to(Path.cwd())
    return pure.as_posix()


def uri(path: str) -> tuple[str, bool]:
    """A reference to a file, and whether it counts from the current folder."""
    own = from_here(path)
    if PurePath(own).is_absolute():
        return "file://" + _quoted(own if own.startswith("/") else f"/{own}"), False
    return _quoted(os.path.normpath(own).replace(os.sep, "/")), True


def _quoted(path: str) -> str:
    return quote(path, errors="surrogateescape")


def is_in_tree(found: Reported) -> bool:
    """Whether the source line that a finding comes from lies below the current folder."""
    if found.origin is None:
        return False
    path = from_here(found.origin.path)
    return not PurePath(path).is_absolute() and Path(path).is_file()
