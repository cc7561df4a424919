"""All places where a name is used."""

from __future__ import annotations

from ptx_lsp.ide.cursor.occurrences import Occurrence, occurrences
from ptx_lsp.ide.cursor.symbol_at import symbol_at
from ptx_lsp.model.module import Module


def references(
    module: Module, offset: int, include_declaration: bool = True
) -> tuple[Occurrence, ...]:
    """The places of what stands at `offset`, in order; its declarations only where they are wanted."""
    found = symbol_at(module, offset)
    if found is None:
        return ()
    return tuple(
        one for one in occurrences(module, found)
        if include_declaration or one.use != "declaration"
    )


def highlights(module: Module, offset: int) -> tuple[Occurrence, ...]:
    """The same for the cursor resting on a name: each with whether it is read or written there."""
    return references(module, offset)
