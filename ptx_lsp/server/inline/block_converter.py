"""Converts places in the PTX of a block to positions in its host, and back."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from ptx_lsp.ide.editing.rename import RenameError
from ptx_lsp.ide.inline.block_places import BlockPlaces
from ptx_lsp.server.client import Client
from ptx_lsp.server.convert import Converter
from ptx_lsp.text import Edit, Source, Span


class BlockConverter(Converter):
    """Offsets are those of the PTX, positions those of the host."""

    def __init__(
        self, uri: str, source: Source, client: Client, places: BlockPlaces, *, with_expressions: bool
    ) -> None:
        """`source` is the text of the host. `with_expressions`: what an operand passes is the operand, too.
        """
        super().__init__(uri, source, client)
        self.places = places
        self._with_expressions = with_expressions

    def offset(self, position: types.Position) -> int:
        """The offset of a position in the block; of others, the end of the PTX."""
        found = self.places.offset(super().offset(position), with_expressions=self._with_expressions)
        return found if found is not None else self.places.checked.virtual.end

    def offset_at(self, line: int, column: int) -> int:
        return self.offset(types.Position(max(0, line), max(0, column)))

    def has(self, span: Span) -> bool:
        return self.places.span(span) is not None

    def is_editable(self, span: Span) -> bool:
        return self.places.edits(Edit(span.start, span.end, b"x")) is not None

    def range(self, span: Span) -> types.Range:
        """The range in the host; that of the keyword for what does not come from there."""
        block = self.places.checked.block
        return self._in_host(self.places.span(span) or block.keyword.shifted(self.places.start))

    def position(self, offset: int) -> types.Position:
        return self.range(Span(offset, offset)).start

    def _in_host(self, span: Span) -> types.Range:
        return types.Range(super().position(span.start), super().position(span.end))

    def written(self, offset: int, text: str) -> str | None:
        return self.places.written(offset, text)

    def text_edits(self, edits: Iterable[Edit]) -> list[types.TextEdit]:
        """The edits of the host. Raises RenameError if part of them is not in the template."""
        found: list[types.TextEdit] = []
        for edit in edits:
            made = self.places.edits(edit)
            if made is None:
                raise RenameError("this is an operand or part of a macro, not text of the block")
            found += [
                types.TextEdit(
                    self._in_host(Span(one.start, one.end)), one.replacement.decode("utf-8", "replace")
                )
                for one in made
            ]
        return found
