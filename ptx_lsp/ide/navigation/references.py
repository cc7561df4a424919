"""All references to a name."""

from __future__ import annotations

from ptx_lsp.ide.cursor.occurrences import Occurrence, occurrences
from ptx_lsp.ide.cursor.symbol_at import symbol_at
from ptx_lsp.model.module import Module


def references(
    module: Module, offset: int, include_declaration: bool = True
) -> tuple[Occurrence, ...]:
    """The references to the symbol at `offset`, in order; declarations only on request."""
    found = symbol_at(module, offset)
    if found is None:
        return ()
    return tuple(
        one for one in occurrences(module, found)
        if include_declaration or one.use != "declaration"
    )


def highlights(module: Module, offset: int) -> tuple[Occurrence, ...]:
    """The highlights for the name under the cursor: each with its access, read or write."""
    return references(module, offset)
