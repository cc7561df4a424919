"""Symbol information and navigation at a position."""

from __future__ import annotations

from lsprotocol import types

from ptx_lsp.ide.cursor.markdown import code, paragraphs
from ptx_lsp.ide.cursor.symbol_at import symbol_at
from ptx_lsp.ide.editing.linked_editing import linked_editing
from ptx_lsp.ide.hover.hover import hover
from ptx_lsp.ide.hover.links import links
from ptx_lsp.ide.inline.operand_hover import operand_hover
from ptx_lsp.ide.navigation.definition import declarations_at, type_definitions
from ptx_lsp.ide.navigation.references import highlights
from ptx_lsp.server.feature import answer, answer_at
from ptx_lsp.server.session import View


@answer_at(types.TEXT_DOCUMENT_HOVER, at_once=True)
def on_hover(view: View, params: types.HoverParams) -> types.Hover | None:
    offset = view.offset(params.position)
    if view.block is not None and (operand := operand_hover(view.block, offset)) is not None:
        return types.Hover(view.convert.markup(operand.markdown), view.convert.range(operand.span))
    found = hover(view.module, offset, view.known, is_fragment=view.block is not None)
    if found is None:
        return None
    named = symbol_at(view.module, offset)
    name = named.symbol.name if named is not None else ""
    demangled = view.demangled([name]).get(name)
    text = paragraphs([code(demangled) if demangled else "", found.markdown])
    return types.Hover(view.convert.markup(text), view.convert.range(found.span))


@answer_at(types.TEXT_DOCUMENT_DECLARATION)
def on_declaration(view: View, params: types.DeclarationParams) -> list[types.Location]:
    return view.convert.locations(declarations_at(view.module, view.offset(params.position)))


@answer_at(types.TEXT_DOCUMENT_TYPE_DEFINITION)
def on_type_definition(view: View, params: types.TypeDefinitionParams) -> list[types.Location]:
    return view.convert.locations(type_definitions(view.module, view.offset(params.position)))


@answer_at(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
def on_highlight(
    view: View, params: types.DocumentHighlightParams
) -> list[types.DocumentHighlight]:
    found = highlights(view.module, view.offset(params.position))
    return [view.convert.highlight(one) for one in found if view.convert.has(one.span)]


@answer(types.TEXT_DOCUMENT_DOCUMENT_LINK, types.DocumentLinkOptions())
def on_links(view: View, _: types.DocumentLinkParams) -> list[types.DocumentLink]:
    found = (view.convert.link(one) for one in links(view.module))
    return [one for one in found if one is not None]


@answer(types.TEXT_DOCUMENT_LINKED_EDITING_RANGE, of_outlines=False)
def on_linked_editing(
    view: View, params: types.LinkedEditingRangeParams
) -> types.LinkedEditingRanges | None:
    found = linked_editing(view.module, view.offset(params.position))
    return types.LinkedEditingRanges([view.convert.range(span) for span in found]) if found else None
