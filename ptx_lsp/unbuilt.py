"""Modules in C that were not built, or that are older than those in Python."""

from __future__ import annotations

import sys
from typing import Final

IN_C: Final = (
    "tree_sitter_ptx._binding",
    "ptx_lsp.syntax._scanner",
    "ptx_lsp.model._core",
    "ptx_lsp.analyses._flow",
)
_TROUBLE: Final = 2


def unbuilt(error: Exception) -> str | None:
    """The message for a module that is absent or old; None for any other error."""
    if not isinstance(error, ImportError) or error.name not in IN_C:
        return None
    return (
        f"{error}: the modules in C are not built, or are older than the others: `pip install .` in "
        "the repository builds them (it needs a C compiler)"
    )


def report_unbuilt(program: str, error: ImportError) -> int:
    """Says what to do, and returns the exit status; raises any other error."""
    message = unbuilt(error)
    if message is None:
        raise error
    print(f"{program}: error: {message}", file=sys.stderr)
    return _TROUBLE
