"""Features while typing: completion and signature help."""

from __future__ import annotations

from typing import cast

from lsprotocol import types

from ptx_lsp.ide.completion.completion import completion, documentation
from ptx_lsp.ide.completion.signature import Signature, signature_help
from ptx_lsp.ide.completion.suggestion import Sort, Suggestion
from ptx_lsp.ide.inline.suggestions import block_completion
from ptx_lsp.server.convert import plain
from ptx_lsp.server.feature import answer_at, handler
from ptx_lsp.server.json import at, number, text
from ptx_lsp.server.session import Session, View

_KINDS: dict[Sort, types.CompletionItemKind] = {
    "opcode": types.CompletionItemKind.Function,
    "modifier": types.CompletionItemKind.EnumMember,
    "register": types.CompletionItemKind.Variable,
    "special register": types.CompletionItemKind.Constant,
    "label": types.CompletionItemKind.Reference,
    "variable": types.CompletionItemKind.Field,
    "parameter": types.CompletionItemKind.Field,
    "kernel": types.CompletionItemKind.Method,
    "function": types.CompletionItemKind.Method,
    "call prototype": types.CompletionItemKind.Interface,
    "list of targets": types.CompletionItemKind.Reference,
    "directive": types.CompletionItemKind.Keyword,
    "type": types.CompletionItemKind.TypeParameter,
    "state space": types.CompletionItemKind.Keyword,
    "version": types.CompletionItemKind.Value,
    "target": types.CompletionItemKind.Value,
    "pragma": types.CompletionItemKind.Value,
    "component": types.CompletionItemKind.Property,
    "constant": types.CompletionItemKind.Constant,
    "name": types.CompletionItemKind.Text,
}


@answer_at(
    types.TEXT_DOCUMENT_COMPLETION,
    types.CompletionOptions(trigger_characters=[".", "%", "@", "[", '"', " "], resolve_provider=True),
    at_once=True,
)
def on_completion(view: View, params: types.CompletionParams) -> types.CompletionList | None:
    after_blank = params.context is not None and params.context.trigger_character == " "
    offset = view.offset(params.position)
    if view.block is not None:
        found = block_completion(view.block, offset, after_blank)
    else:
        found = completion(view.module, offset, after_blank)
    if found is None:
        return None
    span = view.convert.range(found.span)
    whole = view.convert.range(found.whole) if view.client.replaces and found.whole != found.span else None
    items = [
        item
        for place, one in enumerate(found.suggestions)
        if (item := _item(view, one, offset, span, whole, place)) is not None
    ]
    return types.CompletionList(is_incomplete=False, items=items)


def _item(
    view: View,
    found: Suggestion,
    offset: int,
    span: types.Range,
    whole: types.Range | None,
    place: int,
) -> types.CompletionItem | None:
    """`span` is the typed part of the word; `whole` is the word if it continues after the cursor. None if the
    word cannot be written there.
    """
    as_snippet = found.is_snippet and view.client.snippets and view.block is None
    inserted = found.text if as_snippet or not found.is_snippet else found.label
    written = view.convert.written(offset, inserted)
    if written is None:
        return None
    return types.CompletionItem(
        found.label,
        kind=_KINDS[found.sort],
        tags=[types.CompletionItemTag.Deprecated] if found.is_deprecated else None,
        detail=found.detail or None,
        sort_text=f"{place:05}",
        filter_text=found.label if view.block is None else written,
        insert_text_format=types.InsertTextFormat.Snippet if as_snippet else None,
        text_edit=(
            types.TextEdit(span, written)
            if whole is None
            else types.InsertReplaceEdit(written, insert=span, replace=whole)
        ),
        data={"uri": view.file.uri, "key": found.key, **_place(view, span)} if found.key else None,
    )


def _place(view: View, span: types.Range) -> dict[str, int]:
    """Where the block is that an item is for."""
    return {"line": span.end.line, "character": span.end.character} if view.block is not None else {}


@handler(types.COMPLETION_ITEM_RESOLVE)
async def on_completion_resolve(
    session: Session, item: types.CompletionItem
) -> types.CompletionItem:
    """Adds the documentation of the item."""
    data = cast(object, item.data)
    position = types.Position(*(number(at(data, name)) or 0 for name in ("line", "character")))
    view = await session.view_at(text(at(data, "uri")) or "", position)
    key = text(at(data, "key"))
    if view is not None and key is not None:
        found = await session.threads.answer(documentation, view.module, key, view.known)
        if found is not None:
            as_it_is = session.client.documents_markdown
            item.documentation = view.convert.markup(found) if as_it_is else plain(found)
    return item


@answer_at(
    types.TEXT_DOCUMENT_SIGNATURE_HELP,
    types.SignatureHelpOptions(trigger_characters=[" ", ",", "("], retrigger_characters=[","]),
    at_once=True,
)
def on_signature_help(view: View, params: types.SignatureHelpParams) -> types.SignatureHelp | None:
    found = signature_help(view.module, view.offset(params.position))
    if found is None:
        return None
    return types.SignatureHelp(
        [_signature(one) for one in found.signatures], found.active_signature, found.active_parameter
    )


def _signature(found: Signature) -> types.SignatureInformation:
    """A place in the label counts UTF-16 units; labels are ASCII."""
    parameters = [
        types.ParameterInformation((one.start, one.end), one.text or None)
        for one in found.parameters
    ]
    return types.SignatureInformation(found.label, found.summary, parameters)
