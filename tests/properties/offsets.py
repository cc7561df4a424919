"""The items of a document with byte offsets in place of marks, which tell how they came to be."""

from __future__ import annotations

from typing import cast

from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.document import Document
from ptx_lsp.syntax.item import Item


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
    if isinstance(part, nodes.Node):
        own = [_plain(item, getattr(part, name)) for name in nodes.field_names(type(part))]
        return type(part).__name__, item.span(part), *own
    if isinstance(part, tuple):
        return tuple(_plain(item, inner) for inner in cast("tuple[object, ...]", part))
    return part
