"""Paths that must stay inside a folder, even through links.

A project's configuration and links come with its files, which a user of the tool has not necessarily read.
They may therefore refer only to places inside the project. Paths given by the user may be anywhere.
"""

from __future__ import annotations

import os
import stat

from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path, PurePath

_REPOSITORY = ".git"


def is_inside(path: str | PurePath, folder: str | PurePath) -> bool:
    """Whether `path` is `folder` or is inside it. Both are real: absolute, without links and `..`."""
    whole, top = os.path.normcase(path), os.path.normcase(folder)
    return whole == top or whole.startswith(os.path.join(top, ""))


def leads_inside(path: str | PurePath, folder: str | PurePath) -> bool:
    """Whether any path is inside a folder after links are resolved."""
    return is_inside(os.path.realpath(path), os.path.realpath(folder))


def is_file(path: str | Path) -> bool:
    """Whether it is a file, or a link to one; False in an unreadable folder."""
    return stat.S_ISREG(_mode(path))


def is_folder(path: str | Path) -> bool:
    """Whether it is a folder, or a link to one; False in an unreadable folder."""
    return stat.S_ISDIR(_mode(path))


def _mode(path: str | Path) -> int:
    try:
        return os.stat(path).st_mode
    except (OSError, ValueError):  # ValueError: it cannot be a path
        return 0


def violation(text: str, folder: Path) -> str | None:
    """Why a project must not name a path, relative to `folder`; None if it may.

    Paths in `.git` are also rejected: these files are not part of the project, and other tools rely on them.
    """
    from pathlib import PurePath, PureWindowsPath  # slow to import

    if "\0" in text:
        return "it contains a NUL character"
    if PurePath(text).is_absolute() or PureWindowsPath(text).anchor or PureWindowsPath(text).drive:
        return "it is absolute"
    if PurePath(text).parts[:1] == ("~",):
        return "`~` is the home folder"
    if PurePath(os.path.normpath(text)).parts[:1] == ("..",):
        return "it leaves the folder"
    real, top = os.path.realpath(folder / text), os.path.realpath(folder)
    if not is_inside(real, top):
        return "a link leads out of the folder"
    inside = (*PurePath(os.path.normpath(text)).parts, *PurePath(real).relative_to(top).parts)
    return f"it is in `{_REPOSITORY}`" if _REPOSITORY in map(str.casefold, inside) else None
