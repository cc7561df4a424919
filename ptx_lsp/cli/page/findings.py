"""The findings of a file, with their source lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from ptx_lsp.cli.page.text import number, safe
from ptx_lsp.lint.diagnostic import Severity
from ptx_lsp.lint.reporters.places import inlining, line_text, source_mark
from ptx_lsp.lint.results.grouping import Group
from ptx_lsp.lint.results.report import FileReport, Mark, is_shown
from ptx_lsp.lint.results.shown import groups

_MOST: Final = 1000


def findings(file: FileReport, least: Severity) -> Iterator[str]:
    """The lines of HTML, findings below `least` folded away; only the first of very many."""
    found = groups(file, "hint")
    if not found:
        yield "<p>No findings.</p>"
    shown = [one for one in found if is_shown(one.first, least)]
    others = [one for one in found if not is_shown(one.first, least)]
    yield from _some(file.path, shown)
    if others:
        listed = Counter[Severity](one.first.severity for one in others)
        summary = " and ".join(number(n, severity) for severity, n in listed.items())
        yield f"<details><summary>{summary}</summary>"
        yield from _some(file.path, others)
        yield "</details>"


def _some(path: str, found: Sequence[Group]) -> Iterator[str]:
    for one in found[:_MOST]:
        yield from _finding(path, one)
    if len(found) > _MOST:
        yield f"<p>{len(found) - _MOST} more findings are not shown; run ptx-lint to see all.</p>"


def _finding(path: str, group: Group) -> Iterator[str]:
    found = group.first
    code = "" if found.rule == found.code else f" <span class='soft'>{safe(found.code)}</span>"
    only = f" ({', '.join(found.targets)} only)" if found.targets else ""
    yield f'<article class="finding {found.severity}">'
    yield (
        f'<div><span class="severity">{found.severity}</span> {safe(found.message + only)} '
        f'<a href="#rule-{safe(found.rule)}"><code>{safe(found.rule)}</code></a>{code}</div>'
    )
    source = found.source_line
    if source is not None:
        yield f'<div class="source">{safe(line_text(source))}</div>'
        text = source_mark(source, path)
        if text is not None:
            yield _excerpt(text)
        yield f'<div class="soft">{safe(path)}</div>'
    yield _excerpt(found.mark)
    for mark in found.related:
        if mark.message:
            yield f'<div class="soft">{safe(mark.message)}</div>'
        yield _excerpt(mark)
    if found.fix is not None:
        guess = "" if found.fix.safe else " (unsafe)"
        yield f"<div>help: {safe(found.fix.message + guess)}</div>"
    for note in (*found.notes, *inlining(found), *filter(None, [group.more])):
        yield f'<div class="soft">note: {safe(note)}</div>'
    yield "</article>"


def _excerpt(mark: Mark) -> str:
    """The line, or the kept part of a long line, with its marked ranges."""
    excerpt = mark.excerpt
    first = max(0, mark.start.column - excerpt.first)
    last = len(excerpt.text)
    if mark.end.line == mark.start.line:
        last = min(last, max(first, mark.end.column - excerpt.first))
    before, marked, after = excerpt.text[:first], excerpt.text[first:last], excerpt.text[last:]
    cut, more = "..." if excerpt.first > 1 else "", "..." if excerpt.more else ""
    return (
        f'<pre><span class="number">{mark.start.line}:{mark.start.column}</span>  '
        f"{cut}{safe(before)}<mark>{safe(marked)}</mark>{safe(after.rstrip())}{more}</pre>"
    )
