"""Reads the Markdown files in which findings are expected.

A fenced block is one file. Its info string says how it is completed:

- `ptx`: it is whole;
- `ptx module`: `.version`, `.target` and `.address_size` are put before it;
- `ptx body`: it is the body of a kernel, too.

`version=7.0` and `target=sm_70` may follow (9.5 and sm_90 otherwise). A finding is expected on the line
that ends with `// error: [rule]`, and `"text"` behind that must be part of its message. Several stand one
after the other; a `^` for each line between, `// error^^: [rule]`, speaks of a line further up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_FENCE = re.compile(r"^```(ptx[^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_EXPECTED = re.compile(
    r"// (?P<severity>error|warning|info|hint)(?P<up>\^*): \[(?P<rule>[\w-]+)\](?: \"(?P<text>[^\"]*)\")?"
)


class Expected(NamedTuple):
    """A finding that must be there; `line` counts from 1."""

    line: int
    severity: str
    rule: str
    text: str


class Case(NamedTuple):
    """One fenced block: its heading, the PTX text, and what must be found in it."""

    title: str
    source: str
    expected: tuple[Expected, ...]


class Fenced(NamedTuple):
    """One fenced block, completed to a whole file. `words` are those of its info string but the options."""

    title: str
    words: tuple[str, ...]
    source: str


def fenced(path: Path) -> Iterator[Fenced]:
    """The blocks of one Markdown file."""
    text = path.read_text()
    for index, match in enumerate(_FENCE.finditer(text), 1):
        headings = re.findall(r"^#+ (.*)$", text[: match.start()], re.MULTILINE)
        title = f"{path.stem}: {headings[-1] if headings else ''} ({index})"
        words = match[1].split()
        source = _completed(words, match[2])
        yield Fenced(title, tuple(word for word in words if "=" not in word), source)


def cases(path: Path) -> Iterator[Case]:
    """The blocks of one Markdown file, with the findings expected in each."""
    for block in fenced(path):
        yield Case(block.title, block.source, tuple(_expected(block.source)))


def _completed(words: list[str], body: str) -> str:
    options = dict(word.split("=", 1) for word in words if "=" in word)
    before, after = "", ""
    if "module" in words or "body" in words:
        before = (
            f".version {options.get('version', '9.5')}\n.target {options.get('target', 'sm_90')}\n"
            ".address_size 64\n"
        )
    if "body" in words:
        before += ".visible .entry kernel()\n{\n"
        after = "}\n"
    return before + body + after


def _expected(source: str) -> Iterator[Expected]:
    for number, line in enumerate(source.splitlines(), 1):
        for match in _EXPECTED.finditer(line):
            up, text = len(match["up"]), match["text"] or ""
            yield Expected(number - up, match["severity"], match["rule"], text)
