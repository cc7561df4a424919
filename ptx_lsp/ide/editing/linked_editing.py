"""Linked editing: all occurrences of a register or label in its function."""

from __future__ import annotations

from ptx_lsp.ide.cursor.occurrences import is_range, occurrences
from ptx_lsp.ide.cursor.symbol_at import symbol_at
from ptx_lsp.ide.editing.rename import is_numbered
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import Predefined
from ptx_lsp.text import Span


def linked_editing(module: Module, offset: int) -> tuple[Span, ...]:
    """The spans that change together when the name at `offset` is edited. Empty if that is not safe: for
    registers in a range such as `%r<8>`, and for names visible outside their function.
    """
    found = symbol_at(module, offset)
    if found is None or not found.is_local or isinstance(found.symbol, Predefined):
        return ()
    if is_range(found.symbol) or is_numbered(found.symbol):
        return ()
    return tuple(one.span for one in occurrences(module, found))
