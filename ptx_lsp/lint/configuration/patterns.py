"""File name patterns, as in `.gitignore`: `*`, `?` and `[a-z]` stay within a folder, `**` does not."""

from __future__ import annotations

from functools import lru_cache

from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from pathlib import PurePath


def matches(pattern: str, path: PurePath) -> bool:
    """Whether the pattern matches `path`, relative to its folder, or a folder that contains it.

    A pattern without `/` inside matches in every folder: `*.gen.ptx`, `vendored`.
    """
    return _compiled(pattern).fullmatch(path.as_posix()) is not None


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    import re

    stem = pattern.removesuffix("/")
    anywhere = "" if "/" in stem else "(?:.*/)?"
    return re.compile(f"{anywhere}{_translated(stem.removeprefix('/'))}(?:/.*)?", re.DOTALL)


_PART = lazy_pattern(r"(?s)\*\*/|\*\*|\*|\?|\[!?\]?[^\]/]*\]|.")


def _translated(pattern: str) -> str:
    return "".join(_TRANSLATED.get(part) or _one(part) for part in _PART.findall(pattern))


_TRANSLATED = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def _one(part: str) -> str:
    if len(part) == 1:
        return _escaped(part)
    inside = part[1:-1]
    negated = inside.startswith("!")
    ranges = "".join(map(_range, _RANGE.findall(inside[negated:])))
    if negated:
        return f"[^/{ranges}]"
    return f"[{ranges}]" if ranges else "(?!)"


_RANGE = lazy_pattern(r"(?s).-.|.")


def _range(text: str) -> str:
    """A character range. One that ends before it begins, such as `z-a`, is empty."""
    if len(text) == 1:
        return _escaped(text)
    first, _, last = text
    return f"{_escaped(first)}-{_escaped(last)}" if first <= last else ""


def _escaped(text: str) -> str:
    import re

    return re.escape(text)
