"""The capabilities of the client, as announced at initialization. Capabilities that it did not announce are
absent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lsprotocol import types
from pygls.uris import to_fs_path

from ptx_lsp.server.json import at, texts
from ptx_lsp.text import ColumnUnit


class Client(NamedTuple):
    """The capabilities that affect the server."""

    unit: ColumnUnit = "utf-16"
    name: str = ""
    folders: tuple[str, ...] = ()
    """URIs of the open workspace folders."""
    pulls_diagnostics: bool = False
    refreshes_diagnostics: bool = False
    refreshes_hints: bool = False
    refreshes_lenses: bool = False
    refreshes_tokens: bool = False
    asks_configuration: bool = False
    registers_configuration: bool = False
    watches_files: bool = False
    shows_progress: bool = False
    markdown: bool = False
    snippets: bool = False
    replaces: bool = False
    """Whether a completion can let the user choose between inserting and replacing the rest of the word."""
    documents_markdown: bool = False
    """Whether the documentation of completions can be Markdown instead of plain text."""
    versioned_edits: bool = False
    tags: bool = False
    related: bool = False
    commands: frozenset[str] = frozenset()
    """The commands that code lenses may use, from the initialization options."""
    notifications: frozenset[str] = frozenset()
    """The notifications beyond LSP that it handles, from the initialization options."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the open workspace folders."""
        return tuple(path for path in map(to_fs_path, self.folders) if path)

    @classmethod
    def of(cls, params: types.InitializeParams) -> Client:
        """Reads the client's capabilities."""
        can = params.capabilities
        text = can.text_document or types.TextDocumentClientCapabilities()
        space = can.workspace or types.WorkspaceClientCapabilities()
        general = can.general or types.GeneralClientCapabilities()
        diagnostics = [one for one in (text.publish_diagnostics, text.diagnostic) if one is not None]
        completion = text.completion or types.CompletionClientCapabilities()
        item = completion.completion_item or types.ClientCompletionItemOptions()
        formats = text.hover.content_format if text.hover is not None else None
        return cls(
            unit=_unit(general.position_encodings or ()),
            name=params.client_info.name if params.client_info is not None else "",
            folders=_folders(params),
            pulls_diagnostics=text.diagnostic is not None,
            refreshes_diagnostics=bool(space.diagnostics and space.diagnostics.refresh_support),
            refreshes_hints=bool(space.inlay_hint and space.inlay_hint.refresh_support),
            refreshes_lenses=bool(space.code_lens and space.code_lens.refresh_support),
            refreshes_tokens=bool(space.semantic_tokens and space.semantic_tokens.refresh_support),
            asks_configuration=bool(space.configuration),
            registers_configuration=bool(
                space.did_change_configuration and space.did_change_configuration.dynamic_registration
            ),
            watches_files=bool(
                space.did_change_watched_files and space.did_change_watched_files.dynamic_registration
            ),
            shows_progress=bool(can.window and can.window.work_done_progress),
            markdown=types.MarkupKind.Markdown in (formats or ()),
            snippets=bool(item.snippet_support),
            replaces=bool(item.insert_replace_support),
            documents_markdown=types.MarkupKind.Markdown in (item.documentation_format or ()),
            versioned_edits=bool(space.workspace_edit and space.workspace_edit.document_changes),
            tags=any(one.tag_support is not None for one in diagnostics),
            related=any(one.related_information for one in diagnostics),
            commands=frozenset(texts(at(params.initialization_options, "commands"), ())),
            notifications=frozenset(texts(at(params.initialization_options, "notifications"), ())),
        )


def _unit(offered: Sequence[str]) -> ColumnUnit:
    """The column unit: the client's preferred one, or UTF-16 if it names none."""
    for one in offered:
        if one == "utf-8" or one == "utf-16" or one == "utf-32":
            return one
    return "utf-16"


def _folders(params: types.InitializeParams) -> tuple[str, ...]:
    if params.workspace_folders:
        return tuple(folder.uri for folder in params.workspace_folders)
    return (params.root_uri,) if params.root_uri else ()
