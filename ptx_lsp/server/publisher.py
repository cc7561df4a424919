"""Sends diagnostics to the client: unrequested, or on request if the client supports that."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from itertools import count
from typing import Final, Protocol, TypeAlias

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ptx_lsp.lint.diagnostic import SEVERITIES, Diagnostic
from ptx_lsp.server.client import Client
from ptx_lsp.server.convert import Converter
from ptx_lsp.server.json import Json
from ptx_lsp.server.openfile import ClientFile
from ptx_lsp.server.skeleton import MOST_BYTES
from ptx_lsp.text import Source

_log = logging.getLogger(__name__)

MOST_TOLD: Final = 1_000
"""The maximum number of findings per file. VS Code shows no more, and sending them at each keystroke takes
long.
"""


class Version(Protocol):
    """One version of a text."""

    @property
    def source(self) -> Source: ...
    @property
    def version(self) -> int | None: ...


class Findings(Protocol):
    """The diagnostics of one version of a text."""

    @property
    def snapshot(self) -> Version: ...
    @property
    def diagnostics(self) -> list[Diagnostic]: ...
    @property
    def is_complete(self) -> bool: ...


Notify: TypeAlias = Callable[[str, Json], None]
"""Sends a notification: its method, and its parameters in JSON."""


class Publisher:
    """Sends diagnostics either on request or unrequested. A client that requests them
    (`textDocument/diagnostic`) would otherwise show them twice.

    The answer to a request may be incomplete; the client is then asked to request again.
    """

    def __init__(self, server: LanguageServer, notify: Notify, client: Callable[[], Client]) -> None:
        self._server = server
        self._notify = notify
        self._client = client
        self._numbers = count(1)
        self._answered: dict[ClientFile, tuple[str, Sequence[Diagnostic]]] = {}
        """The result id of what was answered last, and what that was."""
        self._refresh_pending: set[ClientFile] = set()

    def publish(self, file: ClientFile, found: Findings) -> None:
        """Publishes new findings, which may be incomplete."""
        if not self._client().pulls_diagnostics:
            convert = Converter(file.uri, found.snapshot.source, self._client())
            payload = convert.json_diagnostics(found.diagnostics)
            self._send(file.uri, found.snapshot.version, payload)
        elif found.is_complete and file in self._refresh_pending:
            self._refresh_pending.discard(file)
            self.refresh()

    def expect_more(self, file: ClientFile) -> None:
        """There will be further findings: the client is asked to request them."""
        self._refresh_pending.add(file)

    def forget(self, file: ClientFile) -> None:
        """Clears the published diagnostics of a closed file."""
        self._refresh_pending.discard(file)
        self._answered.pop(file, None)
        if not self._client().pulls_diagnostics:
            self._send(file.uri, None, [])

    def refresh(self) -> None:
        """Asks the client to request again."""
        if self._client().refreshes_diagnostics:
            send(self._server.workspace_diagnostic_refresh(None))

    def answer(
        self, file: ClientFile, found: Findings, earlier: str | None
    ) -> types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport:
        """The answer to a client that has the result `earlier`."""
        if not found.is_complete:
            self._refresh_pending.add(file)
        identity, last = self._answered.get(file, (None, ()))
        if identity is not None and last == found.diagnostics:
            if identity == earlier:
                return types.RelatedUnchangedDocumentDiagnosticReport(identity)
        else:
            identity = str(next(self._numbers))
            self._answered[file] = identity, found.diagnostics
        convert = Converter(file.uri, found.snapshot.source, self._client())
        return types.RelatedFullDocumentDiagnosticReport(
            convert.diagnostics(found.diagnostics), result_id=identity
        )

    def _send(self, uri: str, version: int | None, found: list[Json]) -> None:
        params: dict[str, Json] = {"uri": uri, "diagnostics": found}
        if version is not None:
            params["version"] = version
        self._notify(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params)


def send(answer: Future[None]) -> None:
    """Sends a request without waiting; a rejection by the client is logged."""

    def look(done: Future[None]) -> None:
        if not done.cancelled() and (error := done.exception()) is not None:
            _log.warning("the client refused a request: %s", error)

    answer.add_done_callback(look)


def worst(found: list[Diagnostic], source: Source) -> list[Diagnostic]:
    """At most as many diagnostics as an editor receives."""
    if len(found) <= MOST_TOLD:
        return found
    worst = sorted(found, key=lambda one: SEVERITIES.index(one.severity))[:MOST_TOLD]
    return [*sorted(worst, key=lambda one: one.span), too_many(source, len(found))]


def too_many(source: Source, total: int) -> Diagnostic:
    """Says that more was found than an editor receives."""
    told = f"{total} findings: the editor shows the most severe {MOST_TOLD}; `ptx-lint` reports all"
    return Diagnostic("many-findings", "", "info", told, source.line_span(0))


def too_large(source: Source) -> Diagnostic:
    """Says that a file is too large to be analysed."""
    size, most = len(source.data) >> 20, MOST_BYTES >> 20
    told = (
        f"this file has {size} MiB; above {most} MiB, only the outline is available in the "
        "editor (`ptx-lint` checks the whole file)"
    )
    return Diagnostic("large-file", "", "info", told, source.line_span(0))
