"""Words as they may stand on a page."""

from __future__ import annotations

from html import escape

from ptx_lsp.lint.results.style import printable


def safe(text: str) -> str:
    """Without anything that HTML would take for its own, or that a browser would not show."""
    return escape(printable(text.replace("\t", "    ")))


def number(count: int, noun: str) -> str:
    """`1 kernel`, `2 kernels`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
