"""A PTX file as text, tree and typed statements, updated by edits."""

from __future__ import annotations

from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax.items import Items
from ptx_lsp.syntax.reading import read_items
from ptx_lsp.text import Edit, Source

if TYPE_CHECKING:
    from tree_sitter import Tree

# What builds trees is imported when there is something to parse: most files need none until they are edited.


class Document:
    """A PTX text with its top-level statements in order, immutable; `edited` returns a new one."""

    def __init__(
        self, source: Source, tree: Tree | None, items: Items, *, is_told: bool = False
    ) -> None:
        """`is_told`: the tree belongs to an earlier text, with the edits since then applied. None: the tree
        is built on demand.
        """
        self.source = source
        self.items = items
        self._tree = tree
        self._is_edited_tree = is_told

    @classmethod
    def parse(cls, source: Source, damaged: Document | None = None) -> Document:
        """Any text has a document. Its errors are the problems of its items.

        The result of `damaged` for the same text saves some work.
        """
        from ptx_lsp.syntax.document_edit import statements_of
        from ptx_lsp.syntax.parsing import parse

        tree = parse(source.data) if damaged is None else damaged.tree
        return cls(source, tree, statements_of(tree, source))

    @classmethod
    def read(cls, source: Source) -> Document:
        """Parses a text without keeping the tree, which takes more memory than the statements."""
        return cls.regular(source) or cls(source, None, cls.parse(source).items)

    @classmethod
    def regular(cls, source: Source) -> Document | None:
        """Reads a text without errors, mostly without a tree. None if it may have errors."""
        items = read_items(source)
        return cls(source, None, Items.of(items)) if items is not None else None

    @classmethod
    def damaged(cls, source: Source) -> Document:
        """Only the statements with grammar errors. Most syntax errors of a large file are thus known long
        before the whole file is parsed.
        """
        from ptx_lsp.syntax.document_edit import damaged_statements_of
        from ptx_lsp.syntax.parsing import parse

        tree = parse(source.data)
        return cls(source, tree, damaged_statements_of(tree, source))

    @property
    def has_tree(self) -> bool:
        """Whether it keeps a tree of the whole text, which may have been built on demand."""
        return self._tree is not None

    @property
    def tree(self) -> Tree:
        """The tree of the whole text, which may have to be parsed."""
        if self._tree is None or self._is_edited_tree:
            from ptx_lsp.syntax.parsing import parse

            self._tree, self._is_edited_tree = parse(self.source.data, self._tree), False
        return self._tree

    def edited(self, edit: Edit, source: Source | None = None) -> Document:
        """This document after `edit`. Only the statements that the edit touched are lowered again. `source`
        is the new text, if available.
        """
        from ptx_lsp.syntax.document_edit import Statements

        source = self.source.edited(edit) if source is None else source
        before = Statements(self.source, self.items)
        items = before.edited_without_tree(edit, source, self._tree is not None)
        if items is not None:
            tree = before.told(self._tree, edit, source) if self._tree is not None else None
            return Document(source, tree, items, is_told=True)
        tree, items = before.edited(self.tree, edit, source)
        return Document(source, tree, items)
