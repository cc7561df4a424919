"""What the server knows of one client: its open files and its wishes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Sequence

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ptx_lsp.lint.engine import Linting
from ptx_lsp.server.convert import Converter
from ptx_lsp.server.openfile import OpenFile, Snapshot
from ptx_lsp.text import ColumnUnit, Edit, Source

_log = logging.getLogger(__name__)


class Session:
    """The state of one connection."""

    def __init__(self, server: LanguageServer) -> None:
        self.server = server
        self.files: dict[str, OpenFile] = {}
        self.unit: ColumnUnit = "utf-16"
        self.is_shut_down = False
        self._tasks: set[asyncio.Task[None]] = set()

    def initialize(self, params: types.InitializeParams) -> None:
        general = params.capabilities.general
        offered = general.position_encodings if general and general.position_encodings else ()
        self.unit = _first_known(offered)

    def close(self) -> None:
        for task in self._tasks:
            task.cancel()

    # -- files ----------------------------------------------------------------------------------

    def open(self, item: types.TextDocumentItem) -> None:
        file = self.files[item.uri] = OpenFile(item.uri, item.version, _source(item.text))
        self._start(self._analyse(file))

    def change(self, params: types.DidChangeTextDocumentParams) -> None:
        file = self.files.get(params.text_document.uri)
        if file is None:
            _log.error("a change of a file that is not open: %s", params.text_document.uri)
            return
        for change in params.content_changes:
            file.change(params.text_document.version, self._edit(file, change))
        self._start(self._analyse(file))

    def close_file(self, uri: str) -> None:
        file = self.files.pop(uri, None)
        if file is not None:
            file.is_open = False
            self._publish(uri, None, ())

    def _edit(self, file: OpenFile, change: types.TextDocumentContentChangeEvent) -> Edit:
        new = change.text.encode("utf-8", "replace")
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            return Edit(0, len(file.source.data), new)
        start, end = Converter(file.uri, file.source, self.unit).span(change.range)
        return Edit(start, end, new)

    # -- findings -------------------------------------------------------------------------------

    async def _analyse(self, file: OpenFile) -> None:
        snapshot = await file.read()
        if file.linted_version == snapshot.version:
            return
        file.linted_version = snapshot.version
        linting = await asyncio.to_thread(Linting, snapshot.module, None, file.linting)
        file.linting = linting
        if file.is_open and file.version == snapshot.version:
            convert = Converter(file.uri, snapshot.source, self.unit)
            self._publish(file.uri, snapshot, convert.diagnostics(linting.diagnostics))

    def _publish(
        self, uri: str, snapshot: Snapshot | None, diagnostics: Sequence[types.Diagnostic]
    ) -> None:
        version = snapshot.version if snapshot is not None else None
        self.server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, diagnostics, version)
        )

    def _start(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _first_known(offered: Sequence[str]) -> ColumnUnit:
    """How columns are counted: as the client likes best, and in UTF-16 where it does not say."""
    for one in offered:
        if one == "utf-8" or one == "utf-16" or one == "utf-32":
            return one
    return "utf-16"


def _source(text: str) -> Source:
    """A lone surrogate, which UTF-8 does not have, becomes one character of the same length."""
    return Source(text.encode("utf-8", "replace"))
