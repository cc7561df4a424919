"""Lowers names and numbers of a tree-sitter tree, missing tokens between them, and junk."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.problem import SyntaxProblem

if TYPE_CHECKING:
    from tree_sitter import Node

PASSED = frozenset({"comment", "preprocessor_line"})
_BLANK = lazy_pattern(r"(?:[\s\x1a]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_WHOLE = frozenset({"integer", "malformed_number"})
_CLOSING = {"[": "]", "(": ")", "{": "}"}


class Leaves:
    """Lowers leaves. Offsets in `text`, which has one character per byte of the file, count from `base`."""

    def __init__(self, text: str, base: int) -> None:
        self.text = text
        self.base = base
        self.problems: list[SyntaxProblem] = []

    def name(self, node: Node) -> nodes.Name:
        start, end = node.start_byte, node.end_byte
        return nodes.Name(start - self.base, end - self.base, sys.intern(self.text[start:end]))

    def number(self, node: Node, wanted: str, within: str) -> nodes.Number | nodes.Missing:
        if node.type == "missing":
            return self.missing(node, wanted, within)
        start, end = self._span(node)
        if node.type == "malformed_number":
            self.problems.append(SyntaxProblem(start, end, "a well-formed number", within))
        return nodes.Number(start, end, self._text(node), node.type)

    def count(self, node: Node, wanted: str, within: str) -> nodes.Number | nodes.Missing:
        """A whole number, or `WARP_SZ`, which directives accept as a number."""
        found = self.number(node, wanted, within)
        is_whole = found.text == "WARP_SZ" or node.type in _WHOLE if isinstance(found, nodes.Number) else True
        if not is_whole:
            self.problems.append(SyntaxProblem(found.start, found.end, "a whole number", within))
        return found

    def missing(
        self, node: Node, expected: str, within: str, token: str | None = None
    ) -> nodes.Missing:
        start, end = self._span(node)
        self.problems.append(SyntaxProblem(start, start, expected, within, token))
        return nodes.Missing(start, end)

    def junk(self, node: Node, expected: str, within: str) -> None:
        start, end = node.start_byte, node.end_byte
        blank = _BLANK.match(self.text, start, end)
        if blank is not None and blank.end() < end:
            start = blank.end()
            end = start + len(self.text[start:end].rstrip(" \t\r\n\f\v\x1a"))
        self.problems.append(
            SyntaxProblem(start - self.base, end - self.base, expected, within)
        )

    # -- parts ----------------------------------------------------------------------------------

    def _items(
        self, node: Node, wanted: str, within: str, skip: Node | None = None
    ) -> Iterator[Node | nodes.Missing]:
        """The items between brackets; the closing one is missed where it is absent."""
        parts = [part for part in parts_of(node) if skip is None or part.id != skip.id]
        closing = _CLOSING[parts[0].type]
        for index, part in enumerate(parts[1:], 1):
            if part.type == "missing":
                if parts[index - 1].type == "," or index < len(parts) - 1:
                    yield self.missing(part, wanted, within)
                else:
                    self.missing(part, f"`{closing}`", within, closing)
            elif part.type != "," and (part.type != closing or index < len(parts) - 1):
                yield part

    def _missing_in_list(self, node: Node, previous: str, wanted: str, within: str, some: bool) -> None:
        """The missing token in a list that `;` ends: a required item, else the `;`. `previous` is the type of
        the node before it, as `prev_sibling` takes time in proportion to the nesting of blocks.
        """
        if some and previous != ",":
            self.missing(node, "`;`", within, ";")
        else:
            self.missing(node, wanted, within)

    def _follows(self, node: Node, mark: str) -> bool:
        """Whether `mark` is the next token in the text at `node`."""
        blank = _BLANK.match(self.text, node.start_byte)
        return blank is not None and self.text.startswith(mark, blank.end())

    def _span(self, node: Node) -> tuple[int, int]:
        return node.start_byte - self.base, node.end_byte - self.base

    def _text(self, node: Node) -> str:
        return self.text[node.start_byte : node.end_byte]


def children_of(node: Node) -> Iterator[Node]:
    """The children, one at a time. `Node.children` keeps all of them and every visited descendant as long as
    `node` exists.
    """
    cursor = node.walk()
    more = cursor.goto_first_child()
    while more:
        child = cursor.node
        assert child is not None
        yield child
        more = cursor.goto_next_sibling()


def parts_of(node: Node) -> Iterator[Node]:
    """The children that are neither comments nor preprocessor lines."""
    return (child for child in node.children if child.type not in PASSED)
