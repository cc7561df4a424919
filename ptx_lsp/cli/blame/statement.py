"""The place in a PTX text that a message is about, and what we find there.

ptxas names a line only. It is that of the last modifier for messages about a whole instruction, that of the
word for messages about a name, and that of the next statement if a `;` is missing (docs/ptxas.md).
"""

from __future__ import annotations

import re
from typing import Final

from ptx_lsp.cli.blame.located import Finding
from ptx_lsp.cli.blame.message import Message
from ptx_lsp.cli.blame.ptx_text import PtxText
from ptx_lsp.lint.diagnostic import Diagnostic
from ptx_lsp.lint.ptxas_messages import predicted
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.text import Span

_MOST_FINDINGS: Final = 3
_MOST_COMMENTS: Final = 10
"""Lines without code before a statement."""


class Place(NamedTuple):
    """`span` is what the message names, in `statement`. `is_function`: it is about a function as a whole."""

    span: Span
    statement: Span
    notes: tuple[str, ...] = ()
    is_function: bool = False


def place_of(message: Message, text: PtxText, number: int = 0) -> Place | None:
    """The place of a message; None if it names none. `number` counts equal messages about a text, from 0."""
    line = _line(message, text)
    if line is None:
        return _of_function(message, text, number)
    source = text.source
    start, end = source.line_span(line)
    here = source.data[start:end]
    code = Span(start + len(here) - len(here.lstrip()), max(start, start + len(here.rstrip())))
    statement = text.statement(line) or code
    for token in message.tokens:
        for where in (code, statement):
            span = _token(source.data, token, where)
            if span is not None:
                return _with_notes(message, text, Place(span, statement), line)
    opcode = Span(max(code.start, statement.start), code.end) if statement.start >= start else code
    return _with_notes(message, text, Place(opcode, statement), line)


def _line(message: Message, text: PtxText) -> int | None:
    """The line, from 0."""
    if message.line is not None and 0 < message.line <= text.source.line_count:
        return message.line - 1
    return None


def _of_function(message: Message, text: PtxText, number: int) -> Place | None:
    """The instruction of which our finding predicts the advice, else the name of the function."""
    name = message.function
    start = text.function_start(name) if name else None
    if name and message.is_missing_definition:
        call = re.compile(rb"\bcall\b[^;]*?(?<![\w$])(" + re.escape(name.encode()) + rb")(?![\w$])")
        if found := call.search(text.source.data):
            return Place(Span(*found.span(1)), Span(*found.span()))
    if message.word == "info":
        spans = [text.findings[index].span for index in predicted(text.findings, message.text)]
        spans = [span for span in spans if not name or text.function_at(span.start) == name]
        if spans:
            span = spans[min(number, len(spans) - 1)]
            return Place(span, text.statement(text.source.line_of(span.start)) or span)
    if start is None:
        return None
    span = Span(start, start + len(name))
    return Place(span, span, is_function=True)


def _with_notes(message: Message, text: PtxText, place: Place, line: int) -> Place:
    source = text.source
    first = source.line_of(place.statement.start)
    if message.is_syntax_error:
        before = _missing_semicolon(text, place)
        if before is not None:
            number = source.line_of(max(0, before.start)) + 1
            note = f"the mistake is before this line: line {number} of the PTX has no `;` at its end"
            return place._replace(span=before, statement=before, notes=(note,))
    elif first != line:
        note = f"ptxas names line {line + 1}, but the statement begins in line {first + 1}"
        return place._replace(notes=(note,))
    return place


def _missing_semicolon(text: PtxText, place: Place) -> Span | None:
    """The statement without a `;` before a syntax error, if that is what is wrong."""
    source = text.source
    line = source.line_of(place.span.start)
    if source.data[source.line_start(line) : place.span.start].strip():
        return None
    for before in range(line - 1, max(-1, line - _MOST_COMMENTS), -1):
        start, end = source.line_span(before)
        code = source.data[start:end].partition(b"//")[0]
        if word := code.strip():
            if word[-1:] in b";{}:,()" or word[:1] == b".":
                return None
            start += len(code) - len(code.lstrip())
            return Span(start, start + len(word))
    return None


def _token(data: bytes, token: str, within: Span) -> Span | None:
    """The first place of a name as a whole word; of `cvt.bf16.f32`, that of the opcode."""
    for name in (token, token.split(".")[0] if not token.startswith(".") else ""):
        if not name:
            continue
        before = rb"(?<![\w$.%])" if re.match(r"[\w$%]", name) else b""
        after = rb"(?![\w$])" if re.search(r"[\w$]$", name) else b""
        pattern = re.compile(before + re.escape(name.encode()) + after)
        found = pattern.search(data, *within)
        if found is not None:
            return Span(*found.span())
    return None


def findings_at(message: Message, text: PtxText, place: Place) -> tuple[Finding, ...]:
    """Our findings at the statement; those at the word that the message names, if there are some."""
    of_kind = [one for one in text.findings if (one.severity == "error") == (message.severity == "error")]
    here = [one for one in of_kind if _touch(one.span, place.statement)]
    exact = [one for one in here if _touch(one.span, place.span)]
    return tuple(finding(one) for one in (exact or here)[:_MOST_FINDINGS])


def _touch(one: Span, other: Span) -> bool:
    return one.start <= other.end and one.end >= other.start


def finding(one: Diagnostic) -> Finding:
    """A finding of ours, for people."""
    return Finding(one.code, one.rule, one.message, one.fix.message if one.fix is not None else "")
