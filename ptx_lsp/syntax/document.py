"""A PTX file as text, tree and typed statements, kept in step with edits."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cache
from threading import local

import tree_sitter_ptx
from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree

from ptx_lsp.syntax.item import Item
from ptx_lsp.syntax.lower import lower
from ptx_lsp.syntax.lower_leaves import PASSED
from ptx_lsp.syntax.relower import Touched, relowered
from ptx_lsp.text import Edit, Source


class Document:
    """A PTX text with its top-level statements in order. Never changes; `edited` gives a new one."""

    def __init__(self, source: Source, tree: Tree, items: tuple[Item, ...]) -> None:
        self.source = source
        self.items = items
        self.tree = tree

    @classmethod
    def parse(cls, source: Source, damaged: Document | None = None) -> Document:
        """Any text at all has a document; what is wrong with it is in its items' problems.

        What `damaged` gave of the same text saves some work.
        """
        tree = _parser().parse(source.data) if damaged is None else damaged.tree
        return cls(source, tree, tuple(_lowered(tree.root_node.children, source)))

    @classmethod
    def damaged(cls, source: Source) -> Document:
        """Only the statements that the grammar finds something wrong with: what is most of the syntax errors
        of a large file is known long before all of it is.
        """
        tree = _parser().parse(source.data)
        captures = QueryCursor(_damage()).captures(tree.root_node)
        places = sorted(node.start_byte for nodes in captures.values() for node in nodes)
        found = [
            child
            for child in tree.root_node.children
            if bisect_left(places, child.start_byte) < bisect_right(places, child.end_byte)
        ]
        return cls(source, tree, tuple(_lowered(found, source)))

    def edited(self, edit: Edit, source: Source | None = None) -> Document:
        """This document after `edit`; only the statements that the edit touched are lowered again. `source`
        is the text after it, where that is at hand.
        """
        source = self.source.edited(edit) if source is None else source
        old = self.tree.copy()
        stop = edit.start + len(edit.replacement)
        old.edit(
            edit.start, edit.end, stop,
            _point(self.source, edit.start), _point(self.source, edit.end), _point(source, stop),
        )
        tree = _parser().parse(source.data, old)
        if tree.root_node.has_error:
            # Tree-sitter's own recovery may depend on the history of edits; the scanner leaves it
            # next to nothing to do.
            tree = _parser().parse(source.data)
            touched = Touched(0, len(self.source.data), edit.growth)
        else:
            changed = old.changed_ranges(tree)
            start = min((edit.start, *(one.start_byte for one in changed)))
            last = max((stop, *(one.end_byte for one in changed)))
            touched = Touched(start, last - edit.growth, edit.growth)
        return Document(source, tree, self._items_after(edit, touched, tree, source))

    def _items_after(
        self, edit: Edit, touched: Touched, tree: Tree, source: Source
    ) -> tuple[Item, ...]:
        """A statement is kept where its text, its extent and its health are what they were. What follows may
        mend one that is broken, and may be read with the one just before it: these are kept where the parser
        says that nothing has changed in them.
        """
        items, new, growth = self.items, list(_statements(tree.root_node.children)), edit.growth
        kept_first = 0
        for item, node in zip(items, new, strict=False):
            stays = item.alone and (not item.problems or item.end < touched.start)
            if item.end >= edit.start or not stays:
                break
            if node.start_byte != item.start or node.end_byte != item.end:
                break
            kept_first += 1
        if kept_first and items[kept_first - 1].end >= touched.start:
            kept_first -= 1
        after: list[Item] = []
        old_last, new_last = len(items) - 1, len(new) - 1
        while old_last >= kept_first and new_last >= kept_first:
            item, node = items[old_last], new[new_last]
            stays = item.alone and (not item.problems or item.start > touched.end)
            if item.start <= edit.end or not stays:
                break
            if node.start_byte != item.start + growth or node.end_byte != item.end + growth:
                break
            after.append(item.moved(growth))
            old_last, new_last = old_last - 1, new_last - 1
        middle = items[kept_first : old_last + 1]
        inside = None
        if middle and new_last >= kept_first:
            inside = relowered(middle[-1], touched, new[new_last], source.text)
        if inside is not None:
            after.append(inside)
            new_last -= 1
        lowered = _lowered(new[kept_first : new_last + 1], source)
        return (*items[:kept_first], *lowered, *reversed(after))


def _lowered(children: list[Node], source: Source) -> Iterator[Item]:
    for child in _statements(children):
        found = list(lower(child, source.text))
        for start, end, node, problems in found:
            yield Item(start, end, node, problems, alone=len(found) == 1)


def _statements(children: list[Node]) -> Iterator[Node]:
    return (child for child in children if child.type not in PASSED)


def _point(source: Source, offset: int) -> tuple[int, int]:
    return source.row_of(offset), offset - source.data.rfind(b"\n", 0, offset) - 1


@cache
def _language() -> Language:
    return Language(tree_sitter_ptx.language())


class _OfThread(local):
    """A parser must not be used by two threads at once, and gives up Python's lock while it works."""

    def __init__(self) -> None:
        self.parser = Parser(_language())


_of_thread = cache(_OfThread)


def _parser() -> Parser:
    return _of_thread().parser


@cache
def _damage() -> Query:
    return Query(_language(), "[(missing) (junk) (malformed_number) (stray_brace)] @damage")
