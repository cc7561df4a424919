"""Defines hosts: the ways in which languages embed PTX.

A host is one module in `hosts/` with a `HOST`, which says in which languages it occurs and finds its blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from ptx_lsp.embedded.block import Block
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.text import Source

if TYPE_CHECKING:
    from tree_sitter import Tree


class HostText(NamedTuple):
    """A text in which a host looks for blocks."""

    source: Source
    language: str
    tree: Tree | None
    """None if the language has no grammar."""
    known: Mapping[tuple[str, int], Block]
    """The blocks before an edit that did not touch them, by host and start, where they are now. They may be
    none any more, for example in a comment.
    """


Finder: TypeAlias = Callable[[HostText], Iterable[Block]]
"""Finds the blocks in a text. Their places are relative to their start (`relative` in `block.py`)."""


class Host(NamedTuple):
    """A way to embed PTX."""

    name: str
    """Its name in settings."""
    languages: tuple[str, ...]
    words: tuple[bytes, ...]
    """A text without any of these has no blocks."""
    blocks: Finder
