"""Each feature end to end: what comes to the client, through pygls and pytest-lsp, which also checks that the
server does nothing that the client cannot.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import cast

import pytest
import pytest_asyncio
from lsprotocol import types
from pytest_lsp import LanguageClient

from tests.server.connection import Connection, Json, at

URI = "file:///work/kernel.ptx"
TEXT = """.version 8.5
.target sm_90
.address_size 64
.file 1 "kernel.cu"
.func (.reg .f32 out) square(.reg .f32 in)
{
    mul.f32 out, in, in;
    ret;
}
.visible .entry scale(.param .u64 data, .param .u32 count)
.maxntid 256, 1, 1
{
    .reg .pred %p<2>;
    .reg .b32 %r<5>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [data];
    ld.param.u32 %r1, [count];
    .loc 1 12 3
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra DONE;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.f32 %f1, [%rd3];
    call (%f2), square, (%f1);
    add.f32 %f3, %f2, 0f3F800000;
    st.global.f32 [%rd3], %f3;
    add.s32 %r3, %r9, 1;
DONE:
    ret;
}
"""
pytestmark = pytest.mark.asyncio(loop_scope="module")
FILE = types.TextDocumentIdentifier(URI)


def place(what: str, skip: int = 0) -> types.Position:
    """Where `what` begins in the text, `skip` characters on."""
    offset = TEXT.index(what) + skip
    line = TEXT.count("\n", 0, offset)
    return types.Position(line, offset - (TEXT.rfind("\n", 0, offset) + 1))


def between(what: str, length: int) -> types.Range:
    return types.Range(place(what), place(what, length))


WHOLE = types.Range(types.Position(0, 0), types.Position(TEXT.count("\n"), 0))


@pytest_asyncio.fixture(loop_scope="module")
async def opened(neovim: LanguageClient) -> AsyncIterator[LanguageClient]:
    item = types.TextDocumentItem(URI, "ptx", 1, TEXT)
    neovim.text_document_did_open(types.DidOpenTextDocumentParams(item))
    yield neovim
    neovim.text_document_did_close(types.DidCloseTextDocumentParams(FILE))


def lines_of(found: object) -> list[int]:
    """The lines of locations."""
    assert isinstance(found, (list, tuple))
    locations = cast(Sequence[object], found)
    assert all(isinstance(one, types.Location) for one in locations)
    return [one.range.start.line for one in locations if isinstance(one, types.Location)]


def edits_of(found: types.WorkspaceEdit) -> list[types.TextEdit]:
    """The edits of the file, however the client wants them."""
    edits = list(found.changes[URI]) if found.changes is not None else []
    for change in found.document_changes or ():
        assert isinstance(change, types.TextDocumentEdit)
        edits += [edit for edit in change.edits if isinstance(edit, types.TextEdit)]
    return edits


async def test_hover(opened: LanguageClient) -> None:
    found = await opened.text_document_hover_async(types.HoverParams(FILE, place("setp.ge", 2)))
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    assert "setp.ge.u32" in found.contents.value
    assert found.range == between("setp.ge.u32", 11)


async def test_completion_and_what_it_means(opened: LanguageClient) -> None:
    asked = types.CompletionParams(FILE, place("add.f32", 4))
    found = await opened.text_document_completion_async(asked)
    assert isinstance(found, types.CompletionList)
    one = next(item for item in found.items if item.label == ".rn")
    assert isinstance(one.text_edit, types.TextEdit)
    assert one.text_edit.range.start == place("add.f32", 3)
    resolved = await opened.completion_item_resolve_async(one)
    assert isinstance(resolved.documentation, types.MarkupContent)
    assert ".rn" in resolved.documentation.value


async def test_completion_within_a_word(opened: LanguageClient) -> None:
    """Neovim cannot let its user choose; VS Code can."""
    asked = types.CompletionParams(FILE, place("add.f32", 5))
    found = await opened.text_document_completion_async(asked)
    assert isinstance(found, types.CompletionList)
    assert found.items[0].text_edit == types.TextEdit(between(".f32 %f3", 2), found.items[0].label)
    with Connection.of_editor("vscode-1.139.1") as client:
        client.open(URI, TEXT)
        line, column = asked.position.line, asked.position.character
        position: Json = {"line": line, "character": column}
        answer = client.request(
            "textDocument/completion", {"textDocument": {"uri": URI}, "position": position}
        )
        edit = at(answer, "items", 0, "textEdit")
        start: Json = {"line": line, "character": column - 2}
        assert at(edit, "insert") == {"start": start, "end": position}
        assert at(edit, "replace") == {"start": start, "end": {"line": line, "character": column + 2}}


async def test_signature_help(opened: LanguageClient) -> None:
    asked = types.SignatureHelpParams(FILE, place("%r2, 4;", 5))
    found = await opened.text_document_signature_help_async(asked)
    assert found is not None
    assert found.signatures[found.active_signature or 0].label.startswith("mul")
    assert found.active_parameter == 2


async def test_definition(opened: LanguageClient) -> None:
    found = await opened.text_document_definition_async(types.DefinitionParams(FILE, place("square, (")))
    assert lines_of(found) == [4]


async def test_declaration(opened: LanguageClient) -> None:
    asked = types.DeclarationParams(FILE, place("bra DONE", 5))
    assert lines_of(await opened.text_document_declaration_async(asked)) == [place("DONE:").line]


async def test_type_definition(opened: LanguageClient) -> None:
    asked = types.TypeDefinitionParams(FILE, place("%f3, %f2"))
    found = await opened.text_document_type_definition_async(asked)
    assert lines_of(found) == [place(".reg .f32 %f<4>").line]


async def test_references(opened: LanguageClient) -> None:
    with_declaration = types.ReferenceContext(include_declaration=True)
    asked = types.ReferenceParams(with_declaration, FILE, place("DONE:"))
    found = await opened.text_document_references_async(asked)
    assert lines_of(found) == [place("bra DONE").line, place("DONE:").line]


async def test_document_highlight(opened: LanguageClient) -> None:
    asked = types.DocumentHighlightParams(FILE, place("%p1 bra"))
    found = await opened.text_document_document_highlight_async(asked)
    assert found is not None
    kinds = [one.kind for one in found]
    assert kinds[-2:] == [types.DocumentHighlightKind.Write, types.DocumentHighlightKind.Read]
    asked = types.DocumentHighlightParams(FILE, place("DONE:"))
    found = await opened.text_document_document_highlight_async(asked)
    assert [one.kind for one in found or ()] == [types.DocumentHighlightKind.Text] * 2


async def test_rename(opened: LanguageClient) -> None:
    prepared = await opened.text_document_prepare_rename_async(
        types.PrepareRenameParams(FILE, place("DONE:"))
    )
    assert prepared == between("DONE:", 4)
    asked = types.RenameParams(FILE, place("DONE:"), new_name="END")
    found = await opened.text_document_rename_async(asked)
    assert found is not None
    assert [edit.range for edit in edits_of(found)] == [
        types.Range(place("bra DONE", 4), place("bra DONE", 8)), between("DONE:", 4),
    ]  # fmt: skip


async def test_linked_editing(opened: LanguageClient) -> None:
    asked = types.LinkedEditingRangeParams(FILE, place("DONE:"))
    found = await opened.text_document_linked_editing_range_async(asked)
    assert found is not None
    assert len(found.ranges) == 2


async def test_document_symbols(opened: LanguageClient) -> None:
    found = await opened.text_document_document_symbol_async(types.DocumentSymbolParams(FILE))
    assert found is not None
    assert [one.name for one in found] == ["square", "scale"]
    kernel = found[1]
    assert isinstance(kernel, types.DocumentSymbol)
    assert "DONE" in [one.name for one in kernel.children or ()]


async def test_workspace_symbols(opened: LanguageClient) -> None:
    found = await opened.workspace_symbol_async(types.WorkspaceSymbolParams("sca"))
    assert found is not None
    assert [one.name for one in found] == ["scale"]


async def test_folding(opened: LanguageClient) -> None:
    found = await opened.text_document_folding_range_async(types.FoldingRangeParams(FILE))
    assert found is not None
    bodies = [(one.start_line, one.end_line) for one in found]
    assert (5, 8) in bodies


async def test_selection(opened: LanguageClient) -> None:
    asked = types.SelectionRangeParams(FILE, [place("%rd1, %rd2")])
    found = await opened.text_document_selection_range_async(asked)
    assert found is not None
    assert found[0].range == between("%rd1, %rd2", 4)
    assert found[0].parent is not None
    assert found[0].parent.range == between("add.s64 %rd3, %rd1, %rd2;", 25)


async def test_semantic_tokens(opened: LanguageClient) -> None:
    full = await opened.text_document_semantic_tokens_full_async(types.SemanticTokensParams(FILE))
    assert full is not None
    assert full.result_id is not None
    part = await opened.text_document_semantic_tokens_range_async(
        types.SemanticTokensRangeParams(FILE, between("mul.f32 out", 20))
    )
    assert part is not None
    assert part.data[:3] == (6, 4, 3), "line, column and length of `mul`"
    change = types.TextDocumentContentChangePartial(range=between("DONE:", 4), text="LAST")
    identifier = types.VersionedTextDocumentIdentifier(2, URI)
    opened.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))
    delta = await opened.text_document_semantic_tokens_full_delta_async(
        types.SemanticTokensDeltaParams(FILE, full.result_id)
    )
    assert isinstance(delta, types.SemanticTokensDelta)
    data = list(full.data)
    for edit in sorted(delta.edits, key=lambda one: one.start, reverse=True):
        data[edit.start : edit.start + edit.delete_count] = edit.data or ()
    again = await opened.text_document_semantic_tokens_full_async(types.SemanticTokensParams(FILE))
    assert again is not None
    assert data == list(again.data)


async def test_inlay_hints(opened: LanguageClient) -> None:
    found = await opened.text_document_inlay_hint_async(types.InlayHintParams(FILE, WHOLE))
    assert found is not None
    assert [one.label for one in found] == ["= 1.0"]
    settings = {"ptx": {"inlayHints": {"liveRegisters": True, "literals": False}}}
    opened.set_configuration(settings)
    opened.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
    for _ in range(200):  # until the server has asked for the settings
        found = await opened.text_document_inlay_hint_async(types.InlayHintParams(FILE, WHOLE))
        if found and all("live" in str(one.label) for one in found):
            return
        await asyncio.sleep(0.05)
    pytest.fail(f"the settings change nothing: {found}")


async def test_inline_values(opened: LanguageClient) -> None:
    context = types.InlineValueContext(1, between("@%p1", 4))
    found = await opened.text_document_inline_value_async(types.InlineValueParams(FILE, WHOLE, context))
    names = [one.variable_name for one in found or () if isinstance(one, types.InlineValueVariableLookup)]
    assert names == ["%rd1", "%r1", "%r2", "%tid.x", "%p1", "%r2", "%r1", "%p1"]


async def test_code_lens(opened: LanguageClient) -> None:
    found = await opened.text_document_code_lens_async(types.CodeLensParams(FILE))
    assert found is not None
    assert [one.range.start.line for one in found] == [4, 9]
    uses, figures = [await opened.code_lens_resolve_async(one) for one in found]
    assert uses.command is not None
    assert uses.command.title == "1 reference"
    assert figures.command is not None
    assert "occupancy" in figures.command.title


async def test_code_actions(opened: LanguageClient) -> None:
    context = types.CodeActionContext([])
    asked = types.CodeActionParams(FILE, between("%r9", 2), context)
    found = await opened.text_document_code_action_async(asked)
    assert found is not None
    actions = [one for one in found if isinstance(one, types.CodeAction)]
    ignore = next(one for one in actions if one.title == "Ignore `undeclared-name` on this line")
    assert ignore.kind == types.CodeActionKind.QuickFix
    assert ignore.edit is not None
    assert edits_of(ignore.edit)[0].new_text == "  // ptx-lint: ignore[undeclared-name]"


async def test_code_actions_for_what_the_client_names(opened: LanguageClient) -> None:
    """The finding that a user chose from a list, wherever the cursor is, and if its line has moved."""
    start = types.Range(types.Position(0, 0), types.Position(0, 0))
    context = types.CodeActionContext([])
    assert not await opened.text_document_code_action_async(types.CodeActionParams(FILE, start, context))
    asked = types.CodeActionParams(FILE, between("%r9", 2), context)
    found = await opened.text_document_code_action_async(asked)
    actions = [one for one in found or () if isinstance(one, types.CodeAction) and one.diagnostics]
    assert actions[0].diagnostics
    named = actions[0].diagnostics[0]
    for line in (named.range.start.line, 1):
        place = types.Range(types.Position(line, 3), types.Position(line, 4))
        moved = types.Diagnostic(place, named.message, code=named.code, source=named.source)
        asked = types.CodeActionParams(FILE, start, types.CodeActionContext([moved]))
        found = await opened.text_document_code_action_async(asked)
        titles = [one.title for one in found or ()]
        assert "Ignore `undeclared-name` on this line" in titles
    other = types.Diagnostic(start, "another message", code=named.code)
    asked = types.CodeActionParams(FILE, start, types.CodeActionContext([other]))
    assert not await opened.text_document_code_action_async(asked)


async def test_formatting(opened: LanguageClient) -> None:
    options = types.FormattingOptions(tab_size=4, insert_spaces=True)
    found = await opened.text_document_formatting_async(types.DocumentFormattingParams(FILE, options))
    assert found
    line = types.DocumentRangeFormattingParams(FILE, between("mul.f32 out", 3), options)
    part = await opened.text_document_range_formatting_async(line)
    assert part
    assert {edit.range.start.line for edit in part} == {6}
    typed = types.DocumentOnTypeFormattingParams(FILE, place("in, in;", 7), ";", options)
    assert await opened.text_document_on_type_formatting_async(typed) == part


async def test_call_hierarchy(opened: LanguageClient) -> None:
    asked = types.CallHierarchyPrepareParams(FILE, place("square("))
    found = await opened.text_document_prepare_call_hierarchy_async(asked)
    assert found is not None
    incoming = await opened.call_hierarchy_incoming_calls_async(
        types.CallHierarchyIncomingCallsParams(found[0])
    )
    assert incoming is not None
    assert [one.from_.name for one in incoming] == ["scale"]
    outgoing = await opened.call_hierarchy_outgoing_calls_async(
        types.CallHierarchyOutgoingCallsParams(incoming[0].from_)
    )
    assert outgoing is not None
    assert [one.to.name for one in outgoing] == ["square"]


async def test_document_links(opened: LanguageClient) -> None:
    found = await opened.text_document_document_link_async(types.DocumentLinkParams(FILE))
    assert found is not None
    assert [one.target for one in found] == ["file:///work/kernel.cu"]


async def test_a_file_that_is_not_open_has_nothing(opened: LanguageClient) -> None:
    other = types.TextDocumentIdentifier("file:///other.ptx")
    assert await opened.text_document_hover_async(types.HoverParams(other, types.Position(0, 0))) is None
