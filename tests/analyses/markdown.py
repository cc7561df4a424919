"""Reads the Markdown files in which the results of analyses are expected.

A fenced block is one file, completed as `tests/lint/markdown.py` says (`ptx`, `ptx module`, `ptx body`).
Its info string names the views that are compared, too: `ptx body blocks live`. What a view shows of a
line stands at the end of that line, several sentences parted by `;`:

    add.s32 %r1, %r2, 1; // reads %r2; writes %r1

All that the chosen views show must stand there, and nothing else may.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.lint.markdown import fenced


class Case(NamedTuple):
    """One fenced block: its heading, the PTX text, its views and the sentences expected on each line."""

    title: str
    source: str
    views: tuple[str, ...]
    expected: frozenset[tuple[int, str]]


def cases(path: Path) -> Iterator[Case]:
    """The blocks of one Markdown file."""
    for block in fenced(path):
        lines = enumerate(block.source.splitlines(), 1)
        yield Case(
            block.title,
            block.source,
            tuple(word for word in block.words if word not in ("ptx", "module", "body")),
            frozenset((number, text) for number, line in lines for text in _sentences(line)),
        )


def _sentences(line: str) -> Iterator[str]:
    _, _, comment = line.partition("// ")
    for text in comment.split(";"):
        if text.strip():
            yield " ".join(text.split())
