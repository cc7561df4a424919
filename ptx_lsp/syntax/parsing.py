"""Parses texts into trees, using the grammar."""

from __future__ import annotations

from _thread import get_ident
from functools import cache
from typing import TYPE_CHECKING

from ptx_lsp.syntax.incremental_lowering import ChangedBytes
from ptx_lsp.text import Edit

if TYPE_CHECKING:
    from tree_sitter import Language, Parser, Query, Tree

# The package and the grammar are imported when there is something to parse: most files need no tree.


def parse(data: bytes, edited_tree: Tree | None = None) -> Tree:
    """The tree of a text. `told` is the tree of an earlier text with all edits since then applied, which
    saves most of the work.
    """
    parse = _parser(get_ident()).parse
    if edited_tree is None:
        return parse(data)
    tree = parse(data, edited_tree)
    if tree.root_node.has_error:
        # Tree-sitter's own recovery may depend on the history of edits; the scanner makes it almost
        # unnecessary.
        return parse(data)
    return tree


def apply_edit(
    tree: Tree, edit: Edit, start: tuple[int, int], end: tuple[int, int], stop: tuple[int, int]
) -> Tree:
    """The tree with the positions of an edit applied, but not yet reparsed (`Tree.edit`).

    `start`, `end` and `stop` are the rows and columns (in bytes) of the edit's start, old end and new end.
    """
    copied = tree.copy()
    copied.edit(edit.start, edit.end, edit.start + len(edit.replacement), start, end, stop)
    return copied


def changed_range(edit: Edit, old: Tree, new: Tree) -> ChangedBytes:
    """The range that an edit may have changed, from the edited tree and the new tree."""
    stop = edit.start + len(edit.replacement)
    changed = old.changed_ranges(new)
    start = min((edit.start, *(one.start_byte for one in changed)))
    last = max((stop, *(one.end_byte for one in changed)))
    return ChangedBytes(start, last - edit.growth, edit.growth)


@cache
def language() -> Language:
    import tree_sitter_ptx
    from tree_sitter import Language

    return Language(tree_sitter_ptx.language())


@cache
def _parser(thread: int) -> Parser:
    """The parser of a thread: two must not use one at once, and it releases Python's lock while it works."""
    from tree_sitter import Parser

    return Parser(language())


@cache
def damage() -> Query:
    """Finds the nodes that the grammar marks as errors."""
    from tree_sitter import Query

    return Query(language(), "[(missing) (junk) (malformed_number) (stray_brace)] @damage")
