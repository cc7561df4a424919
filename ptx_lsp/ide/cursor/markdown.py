"""Pieces of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable


def code(text: str) -> str:
    """Text between back-ticks, of which it may have some itself."""
    ticks = _more_ticks(text, 1)
    blank = " " if len(ticks) > 1 else ""
    return f"{ticks}{blank}{text}{blank}{ticks}"


def fenced(text: str) -> str:
    """PTX text as a block of its own, whatever its comments have in them."""
    fence = _more_ticks(text, 3)
    return f"{fence}ptx\n{text}\n{fence}"


def listed(lines: Iterable[str]) -> str:
    """Lines as a list."""
    return "\n".join(f"- {line}" for line in lines)


def paragraphs(parts: Iterable[str]) -> str:
    """Parts below each other; empty ones are left out."""
    return "\n\n".join(part for part in parts if part)


def _more_ticks(text: str, least: int) -> str:
    """More back-ticks than there are in a row in a text."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)
