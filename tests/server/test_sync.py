"""The text that the server has is the text that the client has, and so are the findings."""

from __future__ import annotations

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

URI = "file:///kernel.ptx"
WRONG = """.version 8.5
.target sm_90
.address_size 64
.entry f() {
  .reg .u32 %r1;
  add.s32 %r2, 1, 2;
  ret;
}
"""


@pytest.mark.asyncio
async def test_findings_come_and_go(client: LanguageClient) -> None:
    item = types.TextDocumentItem(URI, "ptx", 1, WRONG)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    found = [one for one in client.diagnostics[URI] if one.code == "undeclared-name"]
    assert [one.range for one in found] == [types.Range(types.Position(5, 10), types.Position(5, 13))]

    mended = types.TextDocumentContentChangePartial(
        range=types.Range(types.Position(5, 12), types.Position(5, 13)), text="1"
    )
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(types.VersionedTextDocumentIdentifier(2, URI), [mended])
    )
    await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    assert [one for one in client.diagnostics[URI] if one.code == "undeclared-name"] == []
