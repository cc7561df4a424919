"""File name patterns, as in `.gitignore`: `*`, `?` and `[a-z]` stay within a folder, `**` does not."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from ptx_lsp.lazy_pattern import lazy_pattern

if TYPE_CHECKING:
    from pathlib import PurePath


def matches(pattern: str, path: PurePath) -> bool:
    """Whether the pattern matches `path`, relative to its folder, or a folder that contains it.

    A pattern without `/` inside matches in every folder: `*.gen.ptx`, `vendored`.
    """
    return _compiled(pattern).fullmatch(path.as_posix()) is not None


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    stem = pattern.removesuffix("/")
    anywhere = "" if "/" in stem else "(?:.*/)?"
    return re.compile(f"{anywhere}{_translated(stem.removeprefix('/'))}(?:/.*)?", re.DOTALL)


_PART = lazy_pattern(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]/]*\]|.", re.DOTALL)


def _translated(pattern: str) -> str:
    return "".join(_TRANSLATED.get(part) or _one(part) for part in _PART.findall(pattern))


_TRANSLATED = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def _one(part: str) -> str:
    if len(part) == 1:
        return re.escape(part)
    inside = part[1:-1]
    negated = inside.startswith("!")
    ranges = "".join(map(_range, _RANGE.findall(inside[negated:])))
    if negated:
        return f"[^/{ranges}]"
    return f"[{ranges}]" if ranges else "(?!)"


_RANGE = lazy_pattern(r".-.|.", re.DOTALL)


def _range(text: str) -> str:
    """A character range. One that ends before it begins, such as `z-a`, is empty."""
    if len(text) == 1:
        return re.escape(text)
    first, _, last = text
    return f"{re.escape(first)}-{re.escape(last)}" if first <= last else ""
