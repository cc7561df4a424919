"""The names visible at a place of a function."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from ptx_lsp.ide.cursor.cursor_context import blocks_at
from ptx_lsp.model.function import Function
from ptx_lsp.model.scope import Scope
from ptx_lsp.model.symbols import Declared, Label, Register, Variable


def scope_at(function: Function, offset: int) -> Scope:
    """The scope of the innermost block around `offset` of the file."""
    blocks = blocks_at(function, offset)
    item, scopes = function.item, function.body.scopes
    if len(blocks) < 2:
        return function.body.scope
    start = item.span(blocks[-1]).start
    return scopes[bisect_left(scopes, start, lo=1, key=lambda scope: item.offset(scope.start))]


def visible(function: Function, offset: int, prefix: str) -> Iterator[Declared]:
    """The symbols visible at `offset` whose name begins with `prefix`; of a range, only used registers.
    Labels may be declared later, all other symbols must be declared before.
    """
    at = function.item.offset
    seen: set[str] = set()
    known: dict[int, bool] = {}
    """Whether symbols are declared before the offset, by declaration (a range has one)."""
    scope: Scope | None = scope_at(function, offset)
    while scope is not None:
        for name, symbol in scope.names.items():
            if not name.startswith(prefix) or name in seen:
                continue
            mark = symbol.place.start
            if mark not in known:
                known[mark] = at(mark) < offset
            if known[mark] or isinstance(symbol, Label):
                seen.add(name)
                yield symbol
        scope = scope.parent


def ranges(function: Function, offset: int) -> Iterator[tuple[Register | Variable, int]]:
    """The ranges declared before `offset`, with their sizes."""
    at = function.item.offset
    scope: Scope | None = scope_at(function, offset)
    while scope is not None:
        for found in scope.ranges.values():
            if at(found.declared.place.start) < offset:
                yield found.declared, found.count
        scope = scope.parent

