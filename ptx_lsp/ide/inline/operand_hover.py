"""Hover text for an operand of a block of inline assembly."""

from __future__ import annotations

from ptx_lsp.ide.cursor.tokens import token_at
from ptx_lsp.ide.hover.hover import Hover
from ptx_lsp.ide.inline.block_places import BlockPlaces
from ptx_lsp.ide.inline.operand_text import operand_text
from ptx_lsp.text import Span


def operand_hover(places: BlockPlaces, offset: int) -> Hover | None:
    """The hover for the operand at an offset of the PTX; None if none is there."""
    source = places.checked.module.document.source
    word = token_at(source, *source.line_span(source.line_of(offset)), offset)
    if word is None:
        return None
    # constants have no register, and so no symbol
    operand = places.checked.block.operand(source.part(word.start, word.end))
    if operand is None:
        return None
    written = places.written(offset, operand.name)
    return Hover(Span(word.start, word.end), operand_text(places.checked.block, operand, written))
