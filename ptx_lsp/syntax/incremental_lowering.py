"""Incremental lowering: after an edit in the body of a function, only the touched statements get new
nodes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.item import Item
from ptx_lsp.syntax.lower import lower_statements
from ptx_lsp.syntax.problem import SyntaxProblem
from ptx_lsp.syntax.stable_offsets import MOST_PIECES

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_DEEP = 100
"""With deeper blocks, the whole function is lowered again."""


class ChangedBytes(NamedTuple):
    """The changed bytes of the old text, and their growth."""

    start: int
    end: int
    growth: int


class _EnclosingBlock(NamedTuple):
    """A block that contains the whole change: its nodes before and after the edit, and its changed
    statements.
    """

    block: nodes.Block
    node: Node
    first: int
    end: int


def lower_incrementally(item: Item, touched: ChangedBytes, node: Node, text: str) -> Item | None:
    """`item` after an edit, with `node` as its new tree; None if it must be lowered completely.

    `text` has one character per byte of the file.
    """
    old = item.node
    if not isinstance(old, nodes.Function) or old.body is None or not _can_stay(item, touched, node):
        return None
    body = node.children[-1]
    if body.type != "block" or body.start_byte != item.offset(old.body.start):
        return None
    path = _path(item, old.body, body, touched)
    return _IncrementalLowering(item, old, path, touched, text).run() if path else None


def _can_stay(item: Item, touched: ChangedBytes, node: Node) -> bool:
    return (
        item.alone
        and not item.is_unclosed
        and len(item.offsets.pieces) < MOST_PIECES
        and node.type == "function"
        and (node.start_byte, node.end_byte) == (item.start, item.end + touched.growth)
    )


def _path(item: Item, block: nodes.Block, node: Node, touched: ChangedBytes) -> list[_EnclosingBlock]:
    """The blocks around what is touched, the outermost first; empty where it is not inside one."""
    path: list[_EnclosingBlock] = []
    while len(path) < _MOST_DEEP:
        start, end = item.span(block)
        if (
            not start < touched.start <= touched.end < end
            or (node.start_byte, node.end_byte) != (start, end + touched.growth)
            or node.children[-1].type != "}"
        ):
            return []
        inner = _around(item, block.statements, touched)
        if inner is not None:
            at = block.statements[inner]
            start, end = item.span(at)
            found = next(_children(node, start, start + 1), None)
            if found is not None and found.type == "block" and isinstance(at, nodes.Block):
                path.append(_EnclosingBlock(block, node, inner, inner + 1))
                block, node = at, found
                continue
        path.append(_EnclosingBlock(block, node, *_touched(item, block.statements, touched)))
        return path
    return []


def _around(
    item: Item, statements: tuple[nodes.Statement, ...], touched: ChangedBytes
) -> int | None:
    """The block whose braces contain the whole change."""
    index = bisect_left(statements, touched.start, key=lambda one: item.span(one)[1])
    inner = statements[index] if index < len(statements) else None
    if not isinstance(inner, nodes.Block) or inner.guard is not None:
        return None
    start, end = item.span(inner)
    return index if start < touched.start <= touched.end < end else None


def _touched(
    item: Item, statements: tuple[nodes.Statement, ...], touched: ChangedBytes
) -> tuple[int, int]:
    """The range of statements that an edit may have changed.

    The statement before the edit may now end elsewhere. A problem of a statement may be due to the text after
    it.
    """
    first = bisect_left(statements, touched.start, key=lambda one: item.span(one)[1])
    last = bisect_left(statements, touched.end + 1, lo=first, key=lambda one: item.span(one)[0])
    if first and not isinstance(statements[first - 1], nodes.Block):
        first -= 1
    problems = sorted([item.offset(problem.start) for problem in item.problems])
    while first and _is_broken(item, statements[first - 1], problems):
        first -= 1
    while last < len(statements) and _is_broken(item, statements[last], problems):
        last += 1
    return first, last


def _is_broken(item: Item, statement: nodes.Statement, problems: list[int]) -> bool:
    """Whether a statement contains one of the problems, which are offsets in order."""
    if not problems:
        return False
    start, end = item.span(statement)
    index = bisect_left(problems, start)
    return index < len(problems) and problems[index] <= end


def _children(node: Node, start: int, end: int) -> Iterator[Node]:
    """The children of `node` that end after byte `start`, and begin before `end`."""
    cursor = node.walk()
    if cursor.goto_first_child_for_byte(start) is None:
        return
    while True:
        child = cursor.node
        if child is None or child.start_byte >= end:
            return
        if child.end_byte > start or child.start_byte == start:
            yield child
        if not cursor.goto_next_sibling():
            return


class _IncrementalLowering:
    def __init__(
        self, item: Item, old: nodes.Function, path: list[_EnclosingBlock], touched: ChangedBytes, text: str
    ) -> None:
        self.item = item
        self.old = old
        self.path = path
        self.touched = touched
        self.growth = touched.growth
        self.text = text

    def run(self) -> Item | None:
        item, (block, node, first, last) = self.item, self.path[-1]
        start = item.span(block.statements[first - 1])[1] if first else item.span(block)[0] + 1
        end = (
            item.span(block.statements[last])[0]
            if last < len(block.statements)
            else item.span(block)[1] - 1
        )
        children = list(_children(node, start, end + self.growth))
        if any(one.start_byte < start or one.end_byte > end + self.growth for one in children):
            return None
        base = start - item.offsets.limit
        lowered = lower_statements(children, self.text, base)
        problems = self.problems(start, end, lowered[1]) if lowered is not None else None
        if lowered is None or problems is None:
            return None
        added = lowered[0]
        if not problems:
            while self.is_as_before(block.statements[first:last], added, base):
                start, first, added = item.span(block.statements[first])[1], first + 1, added[1:]
            while self.is_as_behind(block.statements[first:last], added, base):
                end, last, added = item.span(block.statements[last - 1])[0], last - 1, added[:-1]
            self.path[-1] = _EnclosingBlock(block, node, first, last)
        marks = item.offsets.spliced(
            start - item.start, end - item.start, end + self.growth - start, start - base
        )
        function = self.old.with_body(self.rebuilt(added))
        return Item(
            item.start, item.end + self.growth, function, problems, item.alone, marks
        )

    def is_as_before(
        self, old: tuple[nodes.Statement, ...], new: tuple[nodes.Statement, ...], base: int
    ) -> bool:
        """Whether the first statement precedes the edit and is unchanged."""
        if not old or not new or self.item.span(old[0])[1] > self.touched.start:
            return False
        by = base - self.item.offset(old[0].start) + old[0].start
        return nodes.is_same(new[0], old[0], by)

    def is_as_behind(
        self, old: tuple[nodes.Statement, ...], new: tuple[nodes.Statement, ...], base: int
    ) -> bool:
        """Whether the last statement follows the edit and is unchanged."""
        if not old or not new or self.item.span(old[-1])[0] < self.touched.end:
            return False
        by = base - self.growth - self.item.offset(old[-1].start) + old[-1].start
        return nodes.is_same(new[-1], old[-1], by)

    def rebuilt(self, added: tuple[nodes.Statement, ...]) -> nodes.Block:
        """The outermost block, with `added` in place of the changed statements."""
        for block, _, first, end in reversed(self.path):
            statements = (*block.statements[:first], *added, *block.statements[end:])
            added = (nodes.Block(block.start, block.end, block.guard, statements),)
        outermost = added[0]
        assert isinstance(outermost, nodes.Block)
        return outermost

    def problems(
        self, start: int, end: int, added: tuple[SyntaxProblem, ...]
    ) -> tuple[SyntaxProblem, ...] | None:
        """The problems of the kept statements, and the new ones between them; None if they cannot be
        separated.
        """
        before: list[SyntaxProblem] = []
        after: list[SyntaxProblem] = []
        for problem in self.item.problems:
            at = self.item.offset(problem.start)
            if at in (start, end):
                return None
            if at < start:
                before.append(problem)
            elif at > end:
                after.append(problem)
        return (*before, *added, *after)
