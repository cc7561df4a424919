"""Markdown building blocks."""

from __future__ import annotations

import re
from collections.abc import Iterable


def code(text: str) -> str:
    """Text between back-ticks, which may itself contain back-ticks."""
    ticks = _more_ticks(text, 1)
    blank = " " if len(ticks) > 1 else ""
    return f"{ticks}{blank}{text}{blank}{ticks}"


def fenced(text: str, language: str = "ptx") -> str:
    """Text as a code block with a fence that it does not contain."""
    fence = _more_ticks(text, 3)
    return f"{fence}{language}\n{text}\n{fence}"


def listed(lines: Iterable[str]) -> str:
    """Lines as a list."""
    return "\n".join(f"- {line}" for line in lines)


def paragraphs(parts: Iterable[str]) -> str:
    """Consecutive paragraphs; empty ones are left out."""
    return "\n\n".join(part for part in parts if part)


def _more_ticks(text: str, least: int) -> str:
    """More back-ticks than there are in a row in a text."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)
