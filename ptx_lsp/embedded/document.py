"""The text of a host with the blocks of inline assembly in it, and its updates after edits."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from ptx_lsp.embedded.block import Block
from ptx_lsp.embedded.host import HostText
from ptx_lsp.embedded.languages import Language, parser
from ptx_lsp.embedded.registry import hosts
from ptx_lsp.embedded.scopes import joined
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.text import Edit, Source

if TYPE_CHECKING:
    from tree_sitter import Tree


class HostDocument:
    """A text in `language`, immutable; `edited` returns a new one."""

    def __init__(
        self,
        source: Source,
        language: Language,
        off: frozenset[str] = frozenset(),
        previous: Previous | None = None,
    ) -> None:
        """`off` has the names of the hosts to leave out. Raises MissingGrammarError."""
        self.source = source
        self.language = language
        self.off = off
        data = source.data
        awake = [
            host
            for host in hosts(language.name)
            if not off & {host.name, _EVERY} and any(word in data for word in host.words)
        ]
        self._tree: Tree | None = None
        if awake and language.grammar is not None:
            before = previous.tree if previous is not None else None
            self._tree = _parsed(language.grammar, data, before)
        text = HostText(source, language.name, self._tree, previous.blocks if previous is not None else {})
        found = [block for host in awake for block in host.blocks(text)]
        found.sort(key=lambda block: block.start)
        self.blocks: tuple[Block, ...] = tuple(joined(found))

    def edited(self, edit: Edit, source: Source) -> HostDocument:
        """The document after an edit that leads to `source`."""
        tree = self._tree
        if tree is not None:
            tree = tree.copy()
            tree.edit(
                edit.start,
                edit.end,
                edit.start + len(edit.replacement),
                self.source.position(edit.start, "utf-8"),
                self.source.position(edit.end, "utf-8"),
                source.position(edit.start + len(edit.replacement), "utf-8"),
            )
        kept = {
            (block.host, moved.start): moved
            for block in self.blocks
            if block.is_context_free and (moved := _moved(block, edit)) is not None
        }
        return HostDocument(source, self.language, self.off, Previous(tree, kept))

    def comment_mark(self, line: int) -> bytes:
        """The beginning of a comment at the end of a line, which may be in the text of a block."""
        end = self.source.line_span(line).end
        block = self.block_at(end)
        at = end - block.start if block is not None else 0
        for piece in block.text.pieces if block is not None else ():
            if piece.host.start <= at < piece.host.end and (piece.kind == "same" or piece.host.start == at):
                return b"//"
        return self.language.comment.encode()

    def block_at(self, offset: int) -> Block | None:
        """The block that contains `offset`."""
        index = bisect_right(self.blocks, offset, key=lambda block: block.start) - 1
        if index >= 0 and offset <= self.blocks[index].span.end:
            return self.blocks[index]
        return None


def _parsed(grammar: str, data: bytes, before: Tree | None) -> Tree:
    """The tree of a text. The recovery of tree-sitter from errors depends on the edits before, so a text with
    errors is parsed anew, unless it is so long that people would wait for it.
    """
    reader = parser(grammar)
    if before is None:
        return reader.parse(data)
    tree = reader.parse(data, before)
    return reader.parse(data) if tree.root_node.has_error and len(data) < _LONG else tree


_LONG: Final = 256 << 10
"""Bytes."""
_EVERY: Final = "ALL"
"""The word for all hosts."""


class Previous(NamedTuple):
    """The reusable parts of the document before an edit: its tree, and its blocks by host and start."""

    tree: Tree | None
    blocks: dict[tuple[str, int], Block]


def _moved(block: Block, edit: Edit) -> Block | None:
    """A block after an edit that does not touch it."""
    start, end = block.span
    if end < edit.start:
        return block
    return block._replace(start=start + edit.growth) if start > edit.end else None
