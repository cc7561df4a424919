"""Reads a text that is parsed once: regular functions without a tree, and with one what is left."""

from __future__ import annotations

from bisect import bisect_right

from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.process_tables import register_process_table
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax._scanner import Scanner, forget_strings
from ptx_lsp.syntax.item import Item
from ptx_lsp.syntax.plain_header import plain_header
from ptx_lsp.text import Source

register_process_table(forget_strings)
_GAP = lazy_pattern(r"(?>[ \t\r\n]++|//[^\n]*+|/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*+/)*+")
"""What may stand between two statements."""


def read_items(source: Source) -> list[Item] | None:
    """The top-level statements of a text without problems; None if there may be problems.

    The regular functions are cut out, and the tree is that of the rest. A function begins on a line of its
    own and is complete, so the tree of the whole text has the same nodes around it. The exception is a node
    that goes on across the cut, such as a comment that contains the function.
    """
    text = source.data.decode("latin-1")  # `source.text` would be kept
    if "\0" in text:  # the lexer of the tree ends comments and tokens there
        return None
    items: list[Item] = []
    rest: list[str] = []
    starts: list[int] = []
    shifts: list[int] = []
    size = position = 0
    for start, end, node in Scanner(text).functions():
        gap = text[position:start]
        if not _is_empty(gap):
            rest.append(gap)
            starts.append(size)
            shifts.append(position - size)
            size += start - position
        items.append(Item(start, end, node, (), alone=True))
        position = end
    if not items:
        return None
    rest.append(text[position:])
    starts.append(size)
    shifts.append(position - size)
    left = "".join(rest)
    statements = plain_header(left)
    if statements is None:
        statements = _by_tree(left)
    if statements is None:
        return None
    starts.append(len(left) + 1)
    for start, end, node in statements:
        piece = bisect_right(starts, start) - 1
        if end > starts[piece + 1]:
            return None
        if node is not None:
            items.append(Item(start + shifts[piece], end + shifts[piece], node, (), alone=True))
    items.sort(key=_start)
    return items


def _is_empty(gap: str) -> bool:
    """Whether it has only spaces and comments."""
    if "/*" in gap:
        return _GAP.fullmatch(gap) is not None
    lines = [line.lstrip(" \t\r") for line in gap.split("\n")]
    return all(not line or line.startswith("//") for line in lines)


def _by_tree(text: str) -> list[tuple[int, int, nodes.Statement | None]] | None:
    """The start, end and node of each statement and each comment (None); None if there are problems."""
    from ptx_lsp.syntax.lower import lower
    from ptx_lsp.syntax.lower_leaves import PASSED, children_of
    from ptx_lsp.syntax.parsing import parse

    root = parse(text.encode("latin-1")).root_node
    if root.has_error:
        return None
    found: list[tuple[int, int, nodes.Statement | None]] = []
    for node in children_of(root):
        lowered = list(lower(node, text)) if node.type not in PASSED else []
        if len(lowered) > 1 or any(one.problems for one in lowered):
            return None
        found.append((node.start_byte, node.end_byte, lowered[0].node if lowered else None))
    return found


def _start(item: Item) -> int:
    return item.start
