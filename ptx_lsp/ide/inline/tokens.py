"""Semantic tokens of the blocks of inline assembly in a text."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Final

from ptx_lsp.embedded.block import Block
from ptx_lsp.embedded.document import HostDocument
from ptx_lsp.embedded.virtual_module import virtual_module
from ptx_lsp.ide.highlighting.encoded_tokens import Piece, Rows, joined_pieces, rows_of
from ptx_lsp.ide.highlighting.semantic_tokens import SemanticToken, semantic_tokens
from ptx_lsp.isa.target import LATEST
from ptx_lsp.lint.inline.foreign import is_foreign
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import ColumnUnit, Source, Span

_TARGET: Final = "sm_100a"
"""Colours do not depend on it."""
_KEPT: Final = 4_096


class BlockTokens:
    """The tokens of blocks, kept while these are the same."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[bytes, bytes, ColumnUnit], Rows] = OrderedDict()

    def pieces(
        self, document: HostDocument, unit: ColumnUnit, span: Span | None = None
    ) -> list[Piece]:
        """The tokens of all blocks of a text, or of those that the part `span` touches."""
        blocks = [
            one for one in document.blocks
            if span is None or (one.start <= span.end and span.start <= one.span.end)
        ]
        return joined_pieces(
            document.source, unit, [(one.start, self._rows(document.source, one, unit)) for one in blocks]
        )

    def _rows(self, source: Source, block: Block, unit: ColumnUnit) -> Rows:
        key = source.data[block.start : block.span.end], block.text.data, unit
        found = self._known.get(key)
        if found is None:
            tokens = [] if is_foreign(block) else list(_tokens(block))
            moved = [
                one._replace(start=one.start + block.start, end=one.end + block.start) for one in tokens
            ]
            found = self._known[key] = rows_of(source, moved, block.start, unit)
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return found


def _tokens(block: Block) -> Iterator[SemanticToken]:
    """The tokens of a block, relative to its start: of one that goes through several literals, its parts."""
    virtual = virtual_module(block, str(LATEST), _TARGET)
    module = Module(Document.read(Source(virtual.data)))
    last = 0
    for token in semantic_tokens(module, Span(virtual.start, virtual.end)):
        inside = Span(max(token.start, virtual.start), min(token.end, virtual.end))
        if inside.end <= inside.start:
            continue
        for part in _parts(block, inside.shifted(-virtual.start)):
            if last <= part.start:
                last = part.end
                yield token._replace(start=part.start, end=part.end)
    module.dispose(module)


def _parts(block: Block, span: Span) -> list[Span]:
    """The ranges of the host that a range of the PTX comes from; adjacent ones are one."""
    found: list[Span] = []
    for piece, _, host in block.text.pieces_in(span):
        if found and found[-1].end == host.start:
            found[-1] = Span(found[-1].start, host.end)
        elif piece.kind != "hole" and host.end > host.start:
            found.append(host)
    return found
