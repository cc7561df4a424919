"""docs/features.md says what the server says."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx_lsp.server.feature import all_features
from tests.server.connection import Connection, Json, at

ROOT = Path(__file__).parents[2]
_PROVIDER = {
    "textDocument/prepareRename": ("renameProvider", "prepareProvider"),
    "textDocument/rename": ("renameProvider",),
    "completionItem/resolve": ("completionProvider", "resolveProvider"),
    "workspace/symbol": ("workspaceSymbolProvider",),
    "workspace/diagnostic": ("diagnosticProvider", "workspaceDiagnostics"),
    "textDocument/diagnostic": ("diagnosticProvider",),
    "textDocument/semanticTokens/full": ("semanticTokensProvider", "full"),
    "textDocument/semanticTokens/full/delta": ("semanticTokensProvider", "full", "delta"),
    "textDocument/semanticTokens/range": ("semanticTokensProvider", "range"),
    "textDocument/prepareCallHierarchy": ("callHierarchyProvider",),
    "textDocument/prepareTypeHierarchy": ("typeHierarchyProvider",),
    "textDocument/formatting": ("documentFormattingProvider",),
    "textDocument/rangeFormatting": ("documentRangeFormattingProvider",),
    "textDocument/onTypeFormatting": ("documentOnTypeFormattingProvider",),
}
_OTHERS = ("textDocument/publishDiagnostics",)
"""What clients are not told of, and is there in any case."""


def documented() -> dict[str, bool]:
    """Of each method whether docs/features.md says that the server has it."""
    text = (ROOT / "docs" / "features.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if "/" in line]
    return {row[2]: row[3] == "yes" for row in rows if len(row) == 8 and row[3] in ("yes", "no")}


def provider(method: str) -> tuple[str, ...]:
    return _PROVIDER.get(method, (f"{method.removeprefix('textDocument/')}Provider",))


@pytest.fixture(scope="module")
def capabilities() -> Json:
    with Connection.of_editor("vscode-1.139.1") as client:
        return at(client.server, "capabilities")


def test_the_table_is_true(capabilities: Json) -> None:
    told = {
        method: bool(at(capabilities, *provider(method)))
        for method in documented()
        if method not in _OTHERS and not method.startswith("ptx/")
    }
    assert len(told) > 25
    assert told == {method: has for method, has in documented().items() if method in told}


def test_the_table_has_everything(capabilities: Json) -> None:
    assert isinstance(capabilities, dict)
    known = {provider(method)[0] for method in documented()}
    told = {name for name in capabilities if name.endswith("Provider")}
    assert told - known <= {"executeCommandProvider"}
    panels = {method for method in all_features() if method.startswith("ptx/")}
    assert panels == {method for method, has in documented().items() if has and method.startswith("ptx/")}
