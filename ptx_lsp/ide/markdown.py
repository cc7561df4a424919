"""Pieces of Markdown."""

from __future__ import annotations

from collections.abc import Iterable


def code(text: str) -> str:
    """Text between back-ticks, of which it may have some itself."""
    ticks = "``" if "`" in text else "`"
    blank = " " if ticks == "``" else ""
    return f"{ticks}{blank}{text}{blank}{ticks}"


def fenced(text: str) -> str:
    """PTX text as a block of its own."""
    return f"```ptx\n{text}\n```"


def listed(lines: Iterable[str]) -> str:
    """Lines as a list."""
    return "\n".join(f"- {line}" for line in lines)


def paragraphs(parts: Iterable[str]) -> str:
    """Parts below each other; empty ones are left out."""
    return "\n\n".join(part for part in parts if part)
