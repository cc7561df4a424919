"""The top-level statements of a text after an edit, and all of those of a tree."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ptx_lsp.syntax.function_reparse import is_closed, reparse_function
from ptx_lsp.syntax.incremental_lowering import ChangedBytes, lower_incrementally
from ptx_lsp.syntax.item import Item
from ptx_lsp.syntax.items import Items
from ptx_lsp.syntax.lower import lower
from ptx_lsp.syntax.lower_leaves import PASSED, children_of
from ptx_lsp.syntax.parsing import apply_edit, changed_range, damage, parse
from ptx_lsp.text import Edit, Source

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

_FEW = 4
"""A statement is parsed alone after an edit inside it if the file is at least this many times longer: parsing
the statement completely takes longer than an incremental parse of the file.
"""
_CONTEXT = 200
"""Bytes after an edit that decide how its text is parsed, with a wide margin."""


def statements_of(tree: Tree, source: Source) -> Items:
    """The statements of a whole text."""
    return Items.of(_lowered(children_of(tree.root_node), source))


def damaged_statements_of(tree: Tree, source: Source) -> Items:
    """Only the statements with grammar errors."""
    from tree_sitter import QueryCursor

    captures = QueryCursor(damage()).captures(tree.root_node)
    places = sorted(node.start_byte for nodes in captures.values() for node in nodes)
    found = [
        child
        for child in children_of(tree.root_node)
        if bisect_left(places, child.start_byte) < bisect_right(places, child.end_byte)
    ]
    return Items.of(_lowered(found, source))


class Statements:
    """The statements of a text before an edit."""

    def __init__(self, source: Source, items: Items) -> None:
        self.source = source
        self.items = items

    def edited_without_tree(self, edit: Edit, source: Source, has_tree: bool) -> Items | None:
        """The statements after an edit, if they can be found without parsing the whole text. `has_tree`: the
        tree of the text is known, so that is fast.
        """
        items = self._edited_inside(edit, source)
        return self._edited_nearby(edit, source) if items is None and not has_tree else items

    def edited(self, before: Tree, edit: Edit, source: Source) -> tuple[Tree, Items]:
        """The tree and the statements after an edit."""
        old = self.told(before, edit, source)
        tree = parse(source.data, old)
        if tree.root_node.has_error:
            changed = ChangedBytes(0, len(self.source.data), edit.growth)
        else:
            changed = changed_range(edit, old, tree)
        return tree, Items.of(self._items_after(edit, changed, tree, source))

    def told(self, tree: Tree, edit: Edit, source: Source) -> Tree:
        """The tree of the text with the positions of an edit applied, but not yet reparsed."""
        stop = edit.start + len(edit.replacement)
        start, end = _point(self.source, edit.start), _point(self.source, edit.end)
        return apply_edit(tree, edit, start, end, _point(source, stop))

    def _edited_inside(self, edit: Edit, source: Source) -> Items | None:
        """The statements after an edit inside one of many; None where more has to be looked at."""
        number = self.items.last_before(edit.start)
        item = self.items[number] if number >= 0 else None
        if item is None or (item.end - item.start) * _FEW > len(source.data):
            return None
        before = self.source.data[item.start : item.end]
        after = source.data[item.start : item.end + edit.growth]
        if b'"' in before or b'"' in after:
            first = next(self.items.broken(), item)
            if first.start < item.start:
                return None  # a string left open there may end here
        found = reparse_function(item, edit, before, after)
        return self.items.replaced(number, found) if found is not None else None

    def _edited_nearby(self, edit: Edit, source: Source) -> Items | None:
        """The statements after an edit, parsed without a tree of the whole text: those that the edit touched,
        and one before and after them, which have to stay as they are. None where more has to be looked at.
        """
        items, growth = self.items, edit.growth
        first = items.last_before(edit.start)
        while first >= 0 and items[first].end >= edit.start:
            first -= 1
        last = items.last_before(edit.end) + 1
        while last < len(items) and items[last].end - edit.end < _CONTEXT:
            last += 1
        start = items[first].start if first >= 0 else 0
        end = items[last].end if last < len(items) else len(self.source.data)
        if (end - start) * _FEW > len(source.data):
            return None
        near = items[max(first, 0) : last + 1]
        if not all(map(_stands_alone, near)):
            return None
        old, new = Source(self.source.data[start:end]), Source(source.data[start : end + growth])
        if any(mark in one.data for mark in (b'"', b"*/") for one in (old, new)):
            broken = next(self.items.broken(), None)
            if broken is not None and broken.start < start:
                return None  # a string or comment left open there may end here
        part = Statements(old, Items.of([one.moved(-start) for one in near]))
        here = Edit(edit.start - start, edit.end - start, edit.replacement)
        tree, edited = part.edited(parse(old.data), here, new)
        found = [one.moved(start) for one in edited]
        if not all(map(_stands_alone, found)) or not is_closed(tree, new.data):
            return None
        before, after = first >= 0, last < len(items)
        if len(found) < before + after:
            return None
        if before and (found[0].node is not near[0].node or found[0].end != near[0].end):
            return None
        if after and (found[-1].node is not near[-1].node or found[-1].end != near[-1].end + growth):
            return None
        behind = [one.moved(growth) for one in items[last + 1 :]]
        return Items.of([*items[: max(first, 0)], *found, *behind])

    def _items_after(
        self, edit: Edit, touched: ChangedBytes, tree: Tree, source: Source
    ) -> tuple[Item, ...]:
        """A statement is kept if its text, its extent and its problems are unchanged. The text after a broken
        statement may fix it, and that after a statement may be parsed with it. Such statements are kept only
        if the parser reports no change in them.
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
            inside = lower_incrementally(middle[-1], touched, new[new_last], source.text)
        if inside is not None:
            after.append(inside)
            new_last -= 1
        lowered = _lowered(new[kept_first : new_last + 1], source)
        return (*items[:kept_first], *lowered, *reversed(after))


def _stands_alone(item: Item) -> bool:
    return item.alone and not item.is_unclosed


def _lowered(children: Iterable[Node], source: Source) -> Iterator[Item]:
    for child in _statements(children):
        found = list(lower(child, source.text))
        for start, end, node, problems in found:
            yield Item(start, end, node, problems, alone=len(found) == 1)


def _statements(children: Iterable[Node]) -> Iterator[Node]:
    return (child for child in children if child.type not in PASSED)


def _point(source: Source, offset: int) -> tuple[int, int]:
    return source.row_of(offset), offset - source.data.rfind(b"\n", 0, offset) - 1
