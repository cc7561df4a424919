"""The header of a file: `.version`, `.target` and `.address_size`, at the start of the file and in this
order.

ptxas accepts several consecutive `.target`, of which the last applies, and `.target` inside bodies
(docs/ptxas.md, 4.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptx_lsp.model.module import Module
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.item import Item


class Header(NamedTuple):
    """The header directives in their proper place, and those elsewhere. Each is None or empty if absent."""

    version: Item | None
    targets: tuple[Item, ...]
    address_size: Item | None
    late: tuple[Item, ...]
    """Header directives later in the file. The first of a kind that the header lacks may be misplaced; the
    others are duplicates.
    """
    after_version: Item | None
    """The statement in the place of the first `.target`."""


def header(module: Module) -> Header:
    """The header of `module`."""
    items = list(_first(module.document.items))
    position = 0
    version: Item | None = None
    targets: list[Item] = []
    address_size: Item | None = None
    if items and isinstance(items[0].node, nodes.Version):
        version = items[0]
        position = 1
    after_version = items[position] if position < len(items) else None
    while position < len(items) and isinstance(items[position].node, nodes.Target):
        targets.append(items[position])
        position += 1
    if targets and position < len(items) and isinstance(items[position].node, nodes.AddressSize):
        address_size = items[position]
        position += 1
    used = {id(item) for item in items[:position]}
    late = [
        item for item in module.outside if isinstance(item.node, _HEADER) and id(item) not in used
    ]
    return Header(version, tuple(targets), address_size, tuple(late), after_version)


_HEADER = (nodes.Version, nodes.Target, nodes.AddressSize)


def _first(items: Iterable[Item]) -> Iterator[Item]:
    """Up to the first that does not belong in a header."""
    for item in items:
        if not isinstance(item.node, nodes.DwarfLine):
            yield item
            if not isinstance(item.node, _HEADER):
                return


def targets(module: Module) -> tuple[nodes.Target, ...]:
    """The `.target` directives at module level, at any position."""
    return tuple(
        item.node for item in module.outside if isinstance(item.node, nodes.Target)
    )
