"""Texts to trees, with the grammar."""

from __future__ import annotations

from functools import cache
from threading import local

import tree_sitter_ptx
from tree_sitter import Language, Parser, Query, Tree

from ptx_lsp.syntax.relower import Touched
from ptx_lsp.text import Edit


def parsed(data: bytes, told: Tree | None = None) -> Tree:
    """The tree of a text. `told` is one of an earlier text that has been told of all edits since, and saves
    most of the work.
    """
    parse = _of_thread().parser.parse
    if told is None:
        return parse(data)
    tree = parse(data, told)
    if tree.root_node.has_error:
        # Tree-sitter's own recovery may depend on the history of edits; the scanner leaves it next to
        # nothing to do.
        return parse(data)
    return tree


def told(
    tree: Tree, edit: Edit, start: tuple[int, int], end: tuple[int, int], stop: tuple[int, int]
) -> Tree:
    """A tree that knows of an edit, but not yet what it means. `start`, `end` and `stop` are the rows and
    columns (in bytes) where the edit begins, where it ended, and where it ends now.
    """
    copied = tree.copy()
    copied.edit(edit.start, edit.end, edit.start + len(edit.replacement), start, end, stop)
    return copied


def touched(edit: Edit, old: Tree, new: Tree) -> Touched:
    """What an edit may have changed, by the tree that was told of it and the one that came of it."""
    stop = edit.start + len(edit.replacement)
    changed = old.changed_ranges(new)
    start = min((edit.start, *(one.start_byte for one in changed)))
    last = max((stop, *(one.end_byte for one in changed)))
    return Touched(start, last - edit.growth, edit.growth)


@cache
def language() -> Language:
    return Language(tree_sitter_ptx.language())


class _OfThread(local):
    """A parser must not be used by two threads at once, and gives up Python's lock while it works."""

    def __init__(self) -> None:
        self.parser = Parser(language())


_of_thread = cache(_OfThread)


@cache
def damage() -> Query:
    """Finds what the grammar has to say that something is wrong."""
    return Query(language(), "[(missing) (junk) (malformed_number) (stray_brace)] @damage")
