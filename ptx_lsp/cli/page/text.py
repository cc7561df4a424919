"""Text of the user as it may stand in HTML."""

from __future__ import annotations

from html import escape

from ptx_lsp.lint.reporters.style import printable


def safe(text: str) -> str:
    """Without anything that HTML would take for its own, or that a browser would not show."""
    return escape(printable(text.replace("\t", "    ")))
