"""The source files that a PTX file names, on the user's machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from lsprotocol import types
from pygls.uris import from_fs_path

from ptx_lsp.ide.hover.links import source_at
from ptx_lsp.server.containers.member_uri import path_of
from ptx_lsp.server.request_error import RequestFailedError
from ptx_lsp.server.session import View


def source_definition(view: View, position: types.Position) -> list[types.Location]:
    """The source line of the `.loc` or `.file` at a position. Raises RequestFailedError with the reason if
    there is none.
    """
    found = source_at(view.module, view.offset(position))
    if found is None:
        return []
    if isinstance(found, str):
        raise RequestFailedError(found)
    path = source_file(found.path, view.convert.uri, view.client.paths)
    uri = from_fs_path(str(path)) if path is not None else None
    if uri is None:
        raise RequestFailedError(
            f"`{found.path}` was not found: neither as written, nor beside the PTX file, nor in the workspace"
        )
    place = types.Position(max(0, found.line - 1), max(0, found.column - 1))
    return [types.Location(uri, types.Range(place, place))]


def source_file(name: str, ptx: str, folders: tuple[str, ...]) -> Path | None:
    """The file that `.file` calls `name` in the file with the URI `ptx`: as written, else relative to the
    folder of the PTX file or to a workspace folder. The path may be that of another machine, so its last
    parts alone suffice, as many as possible.
    """
    own = path_of(ptx)
    around = [Path(own).parent] if own is not None else []
    around += [Path(folder) for folder in folders]
    try:
        return next((path for path in _candidates(name, around) if path.is_file()), None)
    except (OSError, ValueError):
        return None  # no file can have that name


def _candidates(name: str, around: list[Path]) -> Iterator[Path]:
    if Path(name).is_absolute():
        yield Path(name)
    windows = PureWindowsPath(name)
    written: PurePath = windows if windows.drive or "\\" in name else PurePosixPath(name)
    parts = [part for part in written.parts if part not in (written.anchor, ".")]
    for first in range(len(parts)):
        rest = parts[first:]
        if ".." not in rest or not first:
            yield from (folder.joinpath(*rest) for folder in around)
