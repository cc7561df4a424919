"""Connecting, opening, changing and closing."""

from __future__ import annotations

from functools import partial

from lsprotocol import types

from ptx_lsp.server.feature import handler
from ptx_lsp.server.memory import preload, preload_thread
from ptx_lsp.server.session import Session


@handler(types.INITIALIZE)
def initialize(session: Session, params: types.InitializeParams) -> None:
    session.initialize(params)


@handler(types.INITIALIZED)
def initialized(session: Session, _: types.InitializedParams) -> None:
    session.start(session.register())
    session.threads.begin_with(partial(_begin, session), preload_thread)


def _begin(session: Session) -> None:
    preload()
    session.prepare()


@handler(types.SHUTDOWN)
def shutdown(session: Session, _: None) -> None:
    session.is_shut_down = True


@handler(types.TEXT_DOCUMENT_DID_OPEN, replaces_builtin=True)
def did_open(session: Session, params: types.DidOpenTextDocumentParams) -> None:
    session.open(params.text_document)


@handler(types.TEXT_DOCUMENT_DID_CHANGE, replaces_builtin=True)
def did_change(session: Session, params: types.DidChangeTextDocumentParams) -> None:
    session.change(params)


@handler(types.TEXT_DOCUMENT_DID_CLOSE, replaces_builtin=True)
def did_close(session: Session, params: types.DidCloseTextDocumentParams) -> None:
    session.close_file(params.text_document.uri)


@handler(types.TEXT_DOCUMENT_DID_SAVE)
def did_save(session: Session, _: types.DidSaveTextDocumentParams) -> None:
    """Some clients do not watch files, so the saved file may be a configuration."""
    if not session.client.watches_files:
        session.configure_all()


@handler(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
def did_change_configuration(
    session: Session, params: types.DidChangeConfigurationParams
) -> None:
    session.settings_changed(params.settings)


@handler(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
def did_change_watched_files(
    session: Session, params: types.DidChangeWatchedFilesParams
) -> None:
    session.files_changed([change.uri for change in params.changes])


@handler(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
def did_change_folders(
    session: Session, params: types.DidChangeWorkspaceFoldersParams
) -> None:
    removed = {folder.uri for folder in params.event.removed}
    kept = tuple(uri for uri in session.client.folders if uri not in removed)
    added = tuple(folder.uri for folder in params.event.added)
    session.client = session.client._replace(folders=(*kept, *added))
