"""The structure of a file: symbols, folds, selections, calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from lsprotocol import types

from ptx_lsp.ide.navigation.call_hierarchy import Called, incoming, outgoing, prepare_calls
from ptx_lsp.ide.navigation.folding import Fold, folding
from ptx_lsp.ide.navigation.selection import selection
from ptx_lsp.ide.navigation.symbols import Outlined, document_symbols
from ptx_lsp.server.convert import SYMBOL_KINDS, Converter
from ptx_lsp.server.feature import answer, handler
from ptx_lsp.server.json import at, text
from ptx_lsp.server.session import Session, View


@answer(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
def on_document_symbol(view: View, _: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
    found = document_symbols(view.module)
    names = view.display_names(one.name for outer in found for one in (outer, *outer.inner))
    return [_symbol(view.convert, one, names) for one in found]


def _symbol(convert: Converter, found: Outlined, names: Mapping[str, str]) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        names.get(found.name, found.name),
        SYMBOL_KINDS[found.sort],
        convert.range(found.span),
        convert.range(found.name_span),
        found.detail or None,
        children=[_symbol(convert, one, names) for one in found.inner] or None,
    )


@answer(types.TEXT_DOCUMENT_FOLDING_RANGE)
def on_folding(view: View, _: types.FoldingRangeParams) -> list[types.FoldingRange]:
    return [_fold(view.convert, one) for one in folding(view.module)]


def _fold(convert: Converter, found: Fold) -> types.FoldingRange:
    range = convert.range(found.span)
    kind = types.FoldingRangeKind.Comment if found.sort == "comment" else types.FoldingRangeKind.Region
    return types.FoldingRange(
        range.start.line,
        range.end.line,
        range.start.character,
        range.end.character,
        kind if found.sort != "block" else None,
    )


@answer(types.TEXT_DOCUMENT_SELECTION_RANGE)
def on_selection(view: View, params: types.SelectionRangeParams) -> list[types.SelectionRange]:
    return [_selection(view, position) for position in params.positions]


def _selection(view: View, position: types.Position) -> types.SelectionRange:
    found: types.SelectionRange | None = None
    for span in reversed(selection(view.module, view.offset(position))):
        found = types.SelectionRange(view.convert.range(span), found)
    return found or types.SelectionRange(types.Range(position, position))


# -- calls ----------------------------------------------------------------------------------------


@answer(types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)
def on_prepare_calls(
    view: View, params: types.CallHierarchyPrepareParams
) -> list[types.CallHierarchyItem] | None:
    found = prepare_calls(view.module, view.offset(params.position))
    return [_called(view, found)] if found is not None else None


@handler(types.CALL_HIERARCHY_INCOMING_CALLS)
async def on_incoming(
    session: Session, params: types.CallHierarchyIncomingCallsParams
) -> list[types.CallHierarchyIncomingCall] | None:
    view = await session.view(params.item.uri)
    return await session.threads.answer(_incoming, view, _name_of(params.item)) if view else None


def _incoming(view: View, name: str) -> list[types.CallHierarchyIncomingCall]:
    found = incoming(view.module, name)
    view.display_names(one.other.name for one in found)  # all at once
    return [
        types.CallHierarchyIncomingCall(
            _called(view, one.other), [view.convert.range(span) for span in one.places]
        )
        for one in found
    ]


@handler(types.CALL_HIERARCHY_OUTGOING_CALLS)
async def on_outgoing(
    session: Session, params: types.CallHierarchyOutgoingCallsParams
) -> list[types.CallHierarchyOutgoingCall] | None:
    view = await session.view(params.item.uri)
    return await session.threads.answer(_outgoing, view, _name_of(params.item)) if view else None


def _outgoing(view: View, name: str) -> list[types.CallHierarchyOutgoingCall]:
    found = outgoing(view.module, name)
    view.display_names(one.other.name for one in found)
    return [
        types.CallHierarchyOutgoingCall(
            _called(view, one.other), [view.convert.range(span) for span in one.places]
        )
        for one in found
    ]


def _called(view: View, found: Called) -> types.CallHierarchyItem:
    """The name shown may be demangled, so the item keeps the other one, too."""
    return types.CallHierarchyItem(
        view.display_name(found.name),
        types.SymbolKind.Function,
        view.convert.uri,
        view.convert.range(found.span),
        view.convert.range(found.name_span),
        detail=".entry" if found.is_kernel else ".func",
        data={"name": found.name},
    )


def _name_of(item: types.CallHierarchyItem) -> str:
    """The name in the text; that of the item if the client kept no data."""
    return text(at(cast(object, item.data), "name")) or item.name
