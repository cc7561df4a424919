"""Text escaped for the page."""

from __future__ import annotations

from html import escape

from ptx_lsp.lint.results.style import printable


def safe(text: str) -> str:
    """The text without HTML syntax and without characters that a browser does not show."""
    return escape(printable(text.replace("\t", "    ")))


def number(count: int, noun: str) -> str:
    """`1 kernel`, `2 kernels`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
