"""Findings for clients that ask for them."""

from __future__ import annotations

from lsprotocol import types

from ptx_lsp.server.feature import handler
from ptx_lsp.server.session import Session


@handler(
    types.TEXT_DOCUMENT_DIAGNOSTIC,
    types.DiagnosticOptions(
        inter_file_dependencies=False, workspace_diagnostics=False, identifier="ptx-lint"
    ),
)
async def diagnostic(
    session: Session, params: types.DocumentDiagnosticParams
) -> types.DocumentDiagnosticReport:
    """The answer may be incomplete; the client is then asked to request again."""
    uri = params.text_document.uri
    in_blocks = await session.host_diagnostics(uri)
    if in_blocks is not None:
        return session.publisher.answer(*in_blocks, params.previous_result_id)
    found = await session.diagnostics(uri, early=True)
    if found is None:
        return types.RelatedFullDocumentDiagnosticReport([])
    return session.publisher.answer(*found, params.previous_result_id)
