"""The explanations of the rules that have findings, to which the findings link."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from ptx_lsp.cli.page.text import safe
from ptx_lsp.lint.configuration.selection import OUTSIDE
from ptx_lsp.lint.registry import all_rules

_PARAGRAPH = re.compile(r"^## (.+)|((?:^(?!## ).+\n?)+)", re.MULTILINE)
_BLOCK = re.compile(r"```ptx\n(.*?)```", re.DOTALL)


def rules(names: Collection[str]) -> Iterator[str]:
    """The lines of HTML: what `ptx-lint --explain` prints about each rule, folded away."""
    if not names:
        return
    yield "<h2>Rules</h2>"
    for name, (summary, *more) in OUTSIDE.items():
        if name in names:
            yield from _section(name, "", summary, "\n\n".join(more))
    for rule in all_rules():
        if rule.name in names:
            summary, _, text = rule.documentation.partition("\n")
            yield from _section(rule.name, f" {rule.code}", summary, text)


def _section(name: str, code: str, summary: str, text: str) -> Iterator[str]:
    title = f"<code>{safe(name)}</code>{code}: {_prose(summary)}"
    yield f'<details class="rule" id="rule-{safe(name)}"><summary>{title}</summary>'
    for at, piece in enumerate(_BLOCK.split(text)):
        yield f"<pre>{_lines(piece)}</pre>" if at % 2 else "\n".join(_paragraphs(piece))
    yield "</details>"


def _paragraphs(text: str) -> Iterator[str]:
    for found in _PARAGRAPH.finditer(text):
        heading, words = found.groups("")
        yield f"<h4>{_prose(heading)}</h4>" if heading else f"<p>{_prose(' '.join(words.split()))}</p>"


def _lines(text: str) -> str:
    return "\n".join(map(safe, text.splitlines()))


def _prose(text: str) -> str:
    """A text with names in back-ticks as code."""
    pieces = enumerate(re.split("`([^`]+)`", text))
    return "".join(f"<code>{safe(piece)}</code>" if at % 2 else safe(piece) for at, piece in pieces)
