"""The items of a document with byte offsets in place of marks, which tell how they came to be."""

from __future__ import annotations

from typing import cast

from ptx_lsp.syntax.document import Document
from ptx_lsp.syntax.item import Item
from ptx_lsp.syntax.stable_offsets import Located


def items(document: Document) -> list[object]:
    """The extent of each item, its nodes, and its problems."""
    return [
        (
            item.start, item.end, _plain(item, item.node),
            [(item.span(problem), *problem[2:]) for problem in item.problems],
        )
        for item in document.items
    ]


def _plain(item: Item, part: object) -> object:
    if not isinstance(part, tuple):
        return part
    parts = cast(tuple[object, ...], part)
    if not hasattr(parts, "_fields"):
        return tuple(_plain(item, inner) for inner in parts)
    span = item.span(cast(Located, part))
    return type(parts).__name__, span, *(_plain(item, inner) for inner in parts[2:])
