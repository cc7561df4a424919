"""Generic traversal of nodes."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from ptx_lsp.static_typing import cast
from ptx_lsp.syntax.nodes import Node, field_names

_position = attrgetter("start", "end")


def children(node: Node) -> Iterator[Node]:
    """The direct children of `node`, in the order of the text."""
    found: list[Node] = []
    for name in field_names(type(node)):
        part: object = getattr(node, name)
        if isinstance(part, Node):
            found.append(part)
        elif isinstance(part, tuple):
            found += (one for one in cast("tuple[object, ...]", part) if isinstance(one, Node))
    return iter(sorted(found, key=_position))
