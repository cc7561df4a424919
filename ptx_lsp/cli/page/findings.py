"""The findings of a file, with their source lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ptx_lsp.cli.page.text import safe
from ptx_lsp.lint.results.report import Mark, Reported

_MOST: Final = 1000


def findings(found: Sequence[Reported]) -> Iterator[str]:
    """The lines of HTML; only the first of very many findings."""
    if not found:
        yield "<p>No findings.</p>"
    for one in found[:_MOST]:
        yield from _finding(one)
    if len(found) > _MOST:
        yield f"<p>{len(found) - _MOST} more findings are not shown; run ptx-lint to see all.</p>"


def _finding(found: Reported) -> Iterator[str]:
    code = "" if found.rule == found.code else f" <span class='soft'>{safe(found.code)}</span>"
    only = f" ({', '.join(found.targets)} only)" if found.targets else ""
    yield f'<article class="finding {found.severity}">'
    yield (
        f'<div><span class="severity">{found.severity}</span> {safe(found.message + only)} '
        f"<code>{safe(found.rule)}</code>{code}</div>"
    )
    yield _excerpt(found.mark)
    for mark in found.related:
        if mark.message:
            yield f'<div class="soft">{safe(mark.message)}</div>'
        yield _excerpt(mark)
    if found.fix is not None:
        guess = "" if found.fix.safe else " (unsafe)"
        yield f"<div>help: {safe(found.fix.message + guess)}</div>"
    for note in found.notes:
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
