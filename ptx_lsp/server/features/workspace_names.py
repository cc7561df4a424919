"""Names that the files of the workspace share: definitions, references and renaming across files, and search.

1. A name has its definition in this file, or else in any file that defines it: which files are linked with
   each other is not known. Nearer files come first.
2. Where one file defines a name, all files that declare it mean this definition. Where several do, a file
   means its own, and the declarations in files without one may mean any: they are references to each, and
   renaming is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from lsprotocol import types
from pygls.uris import to_fs_path

from ptx_lsp.ide.editing.rename import RenameError, prepare_rename, rename
from ptx_lsp.ide.navigation.definition import declarations_at, definitions
from ptx_lsp.ide.navigation.linkage import (
    LinkedName,
    linked_name,
    linked_reference,
    linked_references,
)
from ptx_lsp.ide.navigation.references import references
from ptx_lsp.ide.navigation.symbols import match_rank, workspace_symbols
from ptx_lsp.server.client import Client
from ptx_lsp.server.containers.member_uri import is_read_only
from ptx_lsp.server.convert import SYMBOL_KINDS, workspace_edit
from ptx_lsp.server.feature import handler
from ptx_lsp.server.features.source_files import source_definition
from ptx_lsp.server.request_error import RequestFailedError
from ptx_lsp.server.session import Session, View
from ptx_lsp.server.workspace.index import IndexedFile, Opened, opened

_P = ParamSpec("_P")
_R = TypeVar("_R")
_MOST_SYMBOLS = 200
"""Of files that are not open."""


# -- definitions ----------------------------------------------------------------------------------


@handler(types.TEXT_DOCUMENT_DEFINITION)
async def on_definition(session: Session, params: types.DefinitionParams) -> list[types.Location] | None:
    view = await session.view_at(params.text_document.uri, params.position)
    if view is None:
        return None
    here, name = await session.threads.answer(_defined, view, params.position)
    if not here and name is None:
        return await session.threads.answer(source_definition, view, params.position)
    if name is None or name.is_defined:
        return here
    uri = view.file.uri
    others = [one for one in await _others(session, uri) if one.defines(name.name)]
    others.sort(key=lambda one: -_nearness(one.uri, uri))
    return [place for one in others for place in _definitions(one, name.name)] or here


def _defined(
    view: View, position: types.Position
) -> tuple[list[types.Location], LinkedName | None]:
    offset = view.offset(position)
    found = view.convert.locations(definitions(view.module, offset))
    return found, linked_name(view.module, offset)


def _definitions(file: IndexedFile, name: str) -> list[types.Location]:
    return [
        types.Location(file.uri, one.range)
        for one in file.symbols
        if one.symbol.name == name and one.symbol.is_definition
    ]


# -- references -----------------------------------------------------------------------------------


@handler(types.TEXT_DOCUMENT_REFERENCES)
async def on_references(session: Session, params: types.ReferenceParams) -> list[types.Location] | None:
    uri, position = params.text_document.uri, params.position
    view = await session.view_at(uri, position, with_expressions=True)
    if view is None:
        return None
    with_declarations = params.context.include_declaration
    found, name = await session.threads.answer(_referenced, view, position, with_declarations)
    if name is not None:
        for file in _sharing(name, await _others(session, view.file.uri)):
            found += await _in(session, file.uri, _references, name.name, with_declarations) or ()
    return found


def _referenced(
    view: View, position: types.Position, with_declarations: bool
) -> tuple[list[types.Location], LinkedName | None]:
    offset = view.offset(position)
    found = references(view.module, offset, with_declarations)
    return view.convert.locations(one.span for one in found), linked_name(view.module, offset)


def _references(file: Opened, name: str, with_declarations: bool) -> list[types.Location]:
    found = linked_references(file.module, name, with_declarations)
    return file.convert.locations(one.span for one in found)


def _sharing(name: LinkedName, others: Sequence[IndexedFile]) -> list[IndexedFile]:
    """The other files whose `name` is, or may be, that of this file."""
    return [
        one
        for one in others
        if one.declares(name.name) and not (name.is_defined and one.defines(name.name))
    ]


# -- renaming -------------------------------------------------------------------------------------


@handler(types.TEXT_DOCUMENT_PREPARE_RENAME)
async def on_prepare_rename(session: Session, params: types.PrepareRenameParams) -> types.Range | None:
    view = await session.view_at(params.text_document.uri, params.position)
    if view is None or view.snapshot.is_skeleton or is_read_only(view.file.uri):
        return None
    try:
        is_linked = bool(await _to_rename(session, view, params.position))
        return await session.threads.answer(_renameable, view, params.position, is_linked)
    except RenameError:
        return None


def _renameable(view: View, position: types.Position, is_linked: bool) -> types.Range:
    offset = view.offset(position)
    found = prepare_rename(view.module, offset, is_linked=is_linked)
    if not all(view.convert.is_editable(one) for one in declarations_at(view.module, offset)):
        raise RenameError("the host declares this name")
    return view.convert.range(found)


@handler(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
async def on_rename(session: Session, params: types.RenameParams) -> types.WorkspaceEdit | None:
    view = await session.view_at(params.text_document.uri, params.position)
    if view is None or view.snapshot.is_skeleton:
        return None
    if is_read_only(view.file.uri):
        raise RequestFailedError("this text is read-only")
    offset, new = view.offset(params.position), params.new_name
    edits: dict[str, tuple[int | None, list[types.TextEdit]]] = {}
    try:
        others = await _to_rename(session, view, params.position)
        here = await session.threads.answer(rename, view.module, offset, new, is_linked=bool(others))
        edits[view.file.uri] = view.version, view.convert.text_edits(here)
        name = linked_name(view.module, offset)
        for file in others:
            assert name is not None
            found = await _in(session, file.uri, _renamed, name.name, new)
            if found is None:
                raise RenameError(f"`{_path(file.uri)}` cannot be read")
            edits[file.uri] = found
    except RenameError as error:
        raise RequestFailedError(str(error)) from error
    return workspace_edit(session.client, edits)


async def _to_rename(session: Session, view: View, position: types.Position) -> list[IndexedFile]:
    """The other files in which the name at a position has to be renamed as well. Raises RenameError if these
    are not known.
    """
    name = await session.threads.answer(linked_name, view.module, view.offset(position))
    if name is None:
        return []
    others = _sharing(name, everywhere := await _others(session, view.file.uri))
    defining = [one.uri for one in everywhere if one.defines(name.name)]
    if name.is_defined:
        defining.append(view.file.uri)
    if not defining:
        return []  # the refusal comes from the file itself
    if others and len(defining) > 1:
        told = " and ".join(f"`{_path(uri)}`" for uri in sorted(defining)[:2])
        raise RenameError(
            f"{told} define `{name.name}`: which of them is meant by declarations in other files is unknown"
        )
    return others


def _renamed(file: Opened, name: str, new: str) -> tuple[int | None, list[types.TextEdit]] | None:
    """The edits of another file. Raises RenameError, which names the file."""
    found = linked_reference(file.module, name)
    if found is None:
        return None
    try:
        edits = rename(file.module, found.span.start, new, is_linked=True)
    except RenameError as error:
        raise RenameError(f"{_path(file.convert.uri)}: {error}") from error
    return file.version, file.convert.text_edits(edits)


# -- search ---------------------------------------------------------------------------------------


@handler(types.WORKSPACE_SYMBOL, types.WorkspaceSymbolOptions())
async def on_workspace_symbol(
    session: Session, params: types.WorkspaceSymbolParams
) -> list[types.WorkspaceSymbol]:
    """The functions, variables and labels of open files, and the definitions in files that are not open."""
    found: list[types.WorkspaceSymbol] = []
    for uri in tuple(session.files):
        view = await session.view(uri)
        if view is not None:
            found += await session.threads.answer(_named, view, params.query)
    files = await session.index.files(session.client, _open_paths(session))
    return [*found, *await session.threads.answer(_named_on_disk, files, params.query)]


def _named(view: View, query: str) -> list[types.WorkspaceSymbol]:
    return [
        types.WorkspaceSymbol(
            view.convert.location(one.name_span), one.name, SYMBOL_KINDS[one.sort],
            container_name=one.within or None,
        )
        for one in workspace_symbols(view.module, query)
    ]  # fmt: skip


def _named_on_disk(files: Sequence[IndexedFile], query: str) -> list[types.WorkspaceSymbol]:
    ranked = [
        (rank, len(one.symbol.name), one.symbol.name, file.uri, number)
        for file in files
        for number, one in enumerate(file.symbols)
        if one.symbol.is_definition and (rank := match_rank(one.symbol.name, query)) is not None
    ]
    ranked.sort()
    by_uri = {file.uri: file for file in files}
    found: list[types.WorkspaceSymbol] = []
    for _, _, name, uri, number in ranked[:_MOST_SYMBOLS]:
        one = by_uri[uri].symbols[number]
        place = types.Location(uri, one.range)
        found.append(types.WorkspaceSymbol(place, name, SYMBOL_KINDS[one.symbol.sort]))
    return found


# -- files ----------------------------------------------------------------------------------------


async def _others(session: Session, uri: str) -> list[IndexedFile]:
    """The files of the workspace except one; open ones as the client has them, without read-only texts."""
    found: list[IndexedFile] = []
    for other in tuple(session.files):
        view = await session.view(other) if other != uri and not is_read_only(other) else None
        if view is not None:
            symbols = await session.threads.answer(_opened(view).symbols)
            found.append(IndexedFile(other, symbols))
    return [*found, *await session.index.files(session.client, _open_paths(session))]


async def _in(
    session: Session,
    uri: str,
    work: Callable[Concatenate[Opened, _P], _R],
    *args: _P.args,
    **kwargs: _P.kwargs,
) -> _R | None:
    """Calls `work` with a file of the workspace, open or not; None if it cannot be read."""
    view = await session.view(uri)
    if view is not None:
        return await session.threads.answer(work, _opened(view), *args, **kwargs)
    return await session.threads.answer(_on_disk, uri, session.client, work, *args, **kwargs)


def _on_disk(
    uri: str,
    client: Client,
    work: Callable[Concatenate[Opened, _P], _R],
    *args: _P.args,
    **kwargs: _P.kwargs,
) -> _R | None:
    try:
        with opened(uri, client) as file:
            return work(file, *args, **kwargs)
    except OSError:
        return None


def _opened(view: View) -> Opened:
    return Opened(view.module, view.convert, view.snapshot.version)


def _open_paths(session: Session) -> list[Path]:
    return [Path(path) for path in map(to_fs_path, session.files) if path]


def _path(uri: str) -> str:
    return to_fs_path(uri) or uri


def _nearness(one: str, other: str) -> int:
    """The number of leading folders that two URIs have in common."""
    common = 0
    for left, right in zip(one.split("/"), other.split("/"), strict=False):
        if left != right:
            break
        common += 1
    return common
