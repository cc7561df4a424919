"""Runs ptxas on a file and merges its messages into our findings."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from ptx_lsp import ptxas
from ptx_lsp.isa.target import Target
from ptx_lsp.lint.configuration.selection import PTXAS
from ptx_lsp.lint.configuration.suppression import Suppressions
from ptx_lsp.lint.diagnostic import Severity
from ptx_lsp.lint.results.report import Locator, Origin, Reported
from ptx_lsp.ptxas import Message, PtxasError, Report
from ptx_lsp.text import Source, Span

__all__ = ["RULE", "PtxasError", "ask", "with_messages"]

RULE = PTXAS
"""The rule name and code of ptxas findings."""

_TIMEOUT_S = 600
_QUOTED = re.compile(r"'([^']+)'")


def ask(
    source: Source, program: Path, target: Target | None, maxrregcount: int | None = None
) -> Report:
    """The messages of ptxas for `target`, else for the file's own target. Raises PtxasError."""
    if target is not None and str(target) not in ptxas.architectures(program):
        raise PtxasError(f"ptxas {ptxas.version(program)} does not support {target}: skipped")
    arch = str(target) if target is not None else None
    return ptxas.judge(
        source.data, ptxas=program, arch=arch, timeout_s=_TIMEOUT_S, maxrregcount=maxrregcount
    )


def with_messages(
    found: list[Reported],
    answer: Report,
    source: Source,
    comments: Suppressions,
    origin: Callable[[int], tuple[str, Origin | None]] = lambda offset: ("", None),
) -> list[Reported]:
    """The findings merged with the ptxas findings, in the order of their places.

    A ptxas message becomes a note of our own finding if both have the same line and severity, or if it names
    a symbol that our finding points at. An error is thus not reported twice. `comments` suppress ptxas
    findings too.
    """
    merged = list(found)
    added: list[Reported] = []
    locate = Locator(source)
    for message in answer.messages:
        severity = _severity(message)
        line = (message.line or 1) - 1
        if comments.silence_lines(RULE, RULE, line, line):
            continue
        index = _same(merged, message, severity, source)
        if index is None:
            span = _span(message, source)
            function, comes_from = origin(span.start)
            added.append(
                Reported(
                    RULE, RULE, severity, _text(message), locate.mark(span), source=RULE,
                    function=function, origin=comes_from,
                )
            )
        else:
            notes = (*merged[index].notes, f"ptxas: {_text(message)}")
            merged[index] = merged[index]._replace(notes=tuple(dict.fromkeys(notes)))
    return sorted(merged + list(dict.fromkeys(added)), key=lambda one: one.mark.start)


def _same(
    found: list[Reported], message: Message, severity: Severity, source: Source
) -> int | None:
    """Our own finding that reports the same error, if any."""
    own = [
        (index, one)
        for index, one in enumerate(found)
        if one.severity == severity and one.source != RULE
    ]
    for index, one in own:
        if one.mark.start.line == message.line:
            return index
    quoted = set(_QUOTED.findall(message.text))
    for index, one in own:
        if quoted and _marked_text(one) in quoted:
            return index
    return None


def _marked_text(found: Reported) -> str:
    (line, start), (last, end) = found.mark.start, found.mark.end
    excerpt = found.mark.excerpt
    return excerpt.text[start - excerpt.first : end - excerpt.first] if line == last else ""


def _span(message: Message, source: Source) -> Span:
    """The whole line without surrounding blanks, because ptxas reports no column."""
    if message.line is None or not 0 < message.line <= source.line_count:
        return Span(0, 0)
    start, end = source.line_span(message.line - 1)
    line = source.data[start:end]
    return Span(start + len(line) - len(line.lstrip()), max(start, start + len(line.rstrip())))


def _severity(message: Message) -> Severity:
    return "error" if message.severity == "fatal" else message.severity


def _text(message: Message) -> str:
    return message.text
