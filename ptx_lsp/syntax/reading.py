"""Reads a text that is parsed once: regular functions without a tree, and with one what is left."""

from __future__ import annotations

import re
from bisect import bisect_right

from ptx_lsp.syntax._scanner import Scanner
from ptx_lsp.syntax.item import Item
from ptx_lsp.syntax.lower import lower
from ptx_lsp.syntax.lower_leaves import PASSED, children_of
from ptx_lsp.syntax.parsing import parse
from ptx_lsp.text import Source

_GAP = re.compile(r"(?>[ \t\r\n]++|//[^\n]*+|/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*+/)*+")
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
        if _GAP.fullmatch(text, position, start) is None:
            rest.append(text[position:start])
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
    root = parse(left.encode("latin-1")).root_node
    if root.has_error:
        return None
    starts.append(len(left) + 1)
    for node in children_of(root):
        start, end = node.start_byte, node.end_byte
        piece = bisect_right(starts, start) - 1
        if end > starts[piece + 1]:
            return None
        if node.type in PASSED:
            continue
        found = list(lower(node, left))
        if len(found) != 1 or found[0].problems:
            return None
        shift = shifts[piece]
        items.append(Item(start + shift, end + shift, found[0].node, (), alone=True))
    items.sort(key=_start)
    return items


def _start(item: Item) -> int:
    return item.start
