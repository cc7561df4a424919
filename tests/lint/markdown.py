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


def cases(path: Path) -> Iterator[Case]:
    """The blocks of one Markdown file."""
    text = path.read_text()
    for index, match in enumerate(_FENCE.finditer(text), 1):
        headings = re.findall(r"^#+ (.*)$", text[: match.start()], re.MULTILINE)
        title = f"{path.stem}: {headings[-1] if headings else ''} ({index})"
        yield Case(title, *_completed(match[1], match[2]))


def _completed(info: str, body: str) -> tuple[str, tuple[Expected, ...]]:
    words = info.split()
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
    source = before + body + after
    expected = [
        Expected(number - len(match["up"]), match["severity"], match["rule"], match["text"] or "")
        for number, line in enumerate(source.splitlines(), 1)
        for match in _EXPECTED.finditer(line)
    ]
    return source, tuple(expected)
