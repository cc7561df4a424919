"""Paths that must stay inside a folder, even through links.

A project's configuration and links come with its files, which a user of the tool has not necessarily read.
They may therefore refer only to places inside the project. Paths given by the user may be anywhere.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePath, PureWindowsPath

_REPOSITORY = ".git"


def is_inside(path: str | PurePath, folder: str | PurePath) -> bool:
    """Whether `path` is `folder` or is inside it. Both are real: absolute, without links and `..`."""
    return PurePath(path).is_relative_to(folder)


def leads_inside(path: str | PurePath, folder: str | PurePath) -> bool:
    """Whether any path is inside a folder after links are resolved."""
    return is_inside(os.path.realpath(path), os.path.realpath(folder))


def is_file(path: str | Path) -> bool:
    """Whether it is a file, or a link to one; False in an unreadable folder."""
    try:
        return Path(path).is_file()
    except OSError:
        return False


def is_folder(path: str | Path) -> bool:
    """Whether it is a folder, or a link to one; False in an unreadable folder."""
    try:
        return Path(path).is_dir()
    except OSError:
        return False


def violation(text: str, folder: Path) -> str | None:
    """Why a project must not name a path, relative to `folder`; None if it may.

    Paths in `.git` are also rejected: these files are not part of the project, and other tools rely on them.
    """
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
