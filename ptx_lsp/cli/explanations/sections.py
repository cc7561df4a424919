"""The layout of an explanation: a title, a sentence, and sections, omitted when empty."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from textwrap import wrap

from ptx_lsp.lint.results.style import Style

_WIDTH = 96
_INDENT = "    "


def title(name: str, kind: str, summary: str, style: Style) -> Iterator[str]:
    yield f"{style.paint(name, 'bold')} ({kind})"
    yield from wrap(summary, _WIDTH + len(_INDENT))


def section(heading: str, lines: Iterable[str], style: Style) -> Iterator[str]:
    """A section with the given lines; nothing if there are none."""
    listed = list(lines)
    if listed:
        yield ""
        yield style.paint(heading, "bold")
        yield from (f"{_INDENT}{line}".rstrip() for line in listed)


def prose(sentences: Iterable[str]) -> list[str]:
    """Each sentence starts a new line; longer sentences continue on indented lines."""
    return [
        line
        for sentence in sentences
        for line in wrap(sentence, _WIDTH, subsequent_indent="  ", break_long_words=False,
                         break_on_hyphens=False)
    ]


def table(rows: Iterable[tuple[str, str]], most: int = 24) -> list[str]:
    """Two columns; a name wider than `most` characters gets its own line."""
    listed = list(rows)
    size = max((len(name) for name, _ in listed if len(name) <= most), default=most)
    lines: list[str] = []
    for name, text in listed:
        below = " " * (size + 2)
        parts = wrap(text, _WIDTH - len(below), break_long_words=False) or [""]
        if len(name) > size:
            lines.append(name)
            lines.extend(f"{below}{part}" for part in parts)
            continue
        lines.append(f"{name:{size}}  {parts[0]}".rstrip())
        lines.extend(f"{below}{part}" for part in parts[1:])
    return lines


def statements(text: str) -> list[str]:
    """Statements of the notation, one per line; longer ones continue on indented lines."""
    lines: list[str] = []
    for statement in text.splitlines():
        kept = re.sub(r"(?<=\{,) | (?=\})", "\xa0", statement)  # no line break after these
        parts = wrap(kept, _WIDTH, subsequent_indent=_INDENT * 2, break_long_words=False,
                     break_on_hyphens=False)
        lines += [part.replace("\xa0", " ") for part in parts]
    return lines
