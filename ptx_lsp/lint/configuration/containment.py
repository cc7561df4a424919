"""Paths that must stay inside a folder, also where links lead elsewhere.

A project's configuration and links come with its files, and whoever runs a tool on these has not read all of
them: so they lead to places inside the project only. What a user names may lie anywhere.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePath, PureWindowsPath

_REPOSITORY = ".git"


def is_inside(path: str | PurePath, folder: str | PurePath) -> bool:
    """Whether `path` is `folder` or lies below it. Both are real: absolute, without links and `..`."""
    return PurePath(path).is_relative_to(folder)


def leads_inside(path: str | PurePath, folder: str | PurePath) -> bool:
    """The same for any paths: where their links lead is what counts."""
    return is_inside(os.path.realpath(path), os.path.realpath(folder))


def is_file(path: str | Path) -> bool:
    """Whether it is a file, or a link to one. Not so in a folder that may not be looked into."""
    try:
        return Path(path).is_file()
    except OSError:
        return False


def is_folder(path: str | Path) -> bool:
    """The same for a folder."""
    try:
        return Path(path).is_dir()
    except OSError:
        return False


def violation(text: str, folder: Path) -> str | None:
    """Why a path that counts from `folder` is no place that a project may name; None where it may.

    In `.git` a project has no business either: its files do not come with it, and others rely on them.
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
