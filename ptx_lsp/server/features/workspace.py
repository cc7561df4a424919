"""Findings in workspace files that are not open, for clients that request them and users who enable them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from lsprotocol import types

from ptx_lsp.lint.configuration.suppression import suppressed
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.module import Module
from ptx_lsp.server.client import Client
from ptx_lsp.server.convert import Converter
from ptx_lsp.server.feature import handler
from ptx_lsp.server.session import Session
from ptx_lsp.server.settings import EffectiveSettings
from ptx_lsp.server.targets import merged
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Source

_MOST_FILES, _MOST_BYTES = 1_000, 2 << 20
"""Larger workspaces and files are left to `ptx-lint`."""


class _Asked(NamedTuple):
    """One file, and the client's result for it."""

    path: Path
    uri: str
    wanted: EffectiveSettings
    client: Client
    result_id: str | None


@handler(types.WORKSPACE_DIAGNOSTIC)
async def on_workspace_diagnostic(
    session: Session, params: types.WorkspaceDiagnosticParams
) -> types.WorkspaceDiagnosticReport:
    """Open files have their own requests. Files are handled one at a time, so that typing does not wait."""
    found: list[
        types.WorkspaceFullDocumentDiagnosticReport | types.WorkspaceUnchangedDocumentDiagnosticReport
    ] = []
    if session.settings.workspace_diagnostics:
        earlier = {one.uri: one.value for one in params.previous_result_ids}
        for path in (await session.index.paths(session.client))[:_MOST_FILES]:
            uri = path.as_uri()
            if uri not in session.files:
                wanted = session.configurations.effective_settings(uri, session.settings)
                asked = _Asked(path, uri, wanted, session.client, earlier.get(uri))
                report = await session.threads.analyse(_report, asked)
                if report is not None:
                    found.append(report)
    return types.WorkspaceDiagnosticReport(found)


def _report(
    asked: _Asked,
) -> (
    types.WorkspaceFullDocumentDiagnosticReport
    | types.WorkspaceUnchangedDocumentDiagnosticReport
    | None
):
    """The result ID contains the file's state and the settings, so that nothing has to be stored."""
    try:
        status = asked.path.stat()
        if status.st_size > _MOST_BYTES:
            return None
        wanted = asked.wanted
        judged = hash((wanted.rules, wanted.targets))
        identity = f"{status.st_mtime_ns}.{status.st_size}.{judged}"
        if identity == asked.result_id:
            return types.WorkspaceUnchangedDocumentDiagnosticReport(asked.uri, identity)
        source = Source(asked.path.read_bytes())
    except OSError:
        return None
    document = Document.read(source)
    lintings = [
        LintSession(Module(document, None, target), wanted.chosen) for target in wanted.targets or (None,)
    ]
    found = suppressed(merged(lintings, wanted.rules), source, wanted.rules.names)
    for linting in lintings:
        linting.module.dispose(linting.module)  # the server collects no old cycles
    items = Converter(asked.uri, source, asked.client).diagnostics(found)
    return types.WorkspaceFullDocumentDiagnosticReport(asked.uri, items, result_id=identity)
