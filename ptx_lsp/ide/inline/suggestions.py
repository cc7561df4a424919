"""Completion in blocks of inline assembly."""

from __future__ import annotations

from ptx_lsp.ide.completion.completion import Completion, completion
from ptx_lsp.ide.completion.suggestion import Suggestion
from ptx_lsp.ide.inline.block_places import BlockPlaces, is_own_name
from ptx_lsp.ide.inline.operand_text import operand_detail


def block_completion(places: BlockPlaces, offset: int, after_blank: bool = False) -> Completion | None:
    """The completions at an offset of the PTX. Operands say what the host passes."""
    found = completion(places.checked.module, offset, after_blank)
    if found is None:
        return None
    kept = [
        _described(places, offset, one)
        for one in found.suggestions
        if not is_own_name(one.label)
    ]
    return found._replace(suggestions=tuple(kept)) if kept else None


def _described(places: BlockPlaces, offset: int, found: Suggestion) -> Suggestion:
    if found.sort == "label":  # its line is one of the PTX
        return found._replace(detail="")
    operand = places.checked.block.operand(found.label) if found.sort == "register" else None
    if operand is None:
        return found
    written = places.written(offset, found.text) or found.label  # as `{x}` in Rust, which is `$x` in the PTX
    return found._replace(label=written, detail=operand_detail(operand))
