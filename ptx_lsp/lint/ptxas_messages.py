"""Merges the messages of ptxas into our findings.

A message belongs to a finding of ours if both have the same line and severity, or if it names a symbol that
our finding points at, or if it is advice that one of our rules predicts. Nothing is thus reported twice.
Every other message becomes a finding of its own, at the token that it names; ptxas itself reports only lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from ptx_lsp.lint.configuration.selection import PTXAS
from ptx_lsp.lint.configuration.suppression import Suppressions
from ptx_lsp.lint.diagnostic import Diagnostic, Origin, Severity
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.ptxas import Message
from ptx_lsp.text import Source, Span

_QUOTED = re.compile(r"'([^']+)'")
_ADVICE = re.compile(r"\(C7\d{3}\)")
_ADVISED = ("setmaxnreg", "wgmma")
"""The opcodes with which the names of rules begin that predict advice."""
_DIRECTIVE = re.compile(r"\.\w+")
_ENTRY = re.compile(r"\b[Ee]ntry (?:function )?'?([\w$%]+)'?")


class MergedMessages(NamedTuple):
    """`notes` has the messages that belong to a finding of ours, by its index; `added` has the others."""

    notes: dict[int, list[str]]
    added: list[Diagnostic]


def merge_messages(
    found: Sequence[Diagnostic],
    messages: Iterable[Message],
    source: Source,
    comments: Suppressions,
    origin: Callable[[int], Origin | None] = lambda offset: None,
) -> MergedMessages:
    """Merges messages about a text into its findings. `comments` suppress messages too. `origin` returns the
    source line of an offset.
    """
    own = [(index, one, source.line_of(one.span.start) + 1) for index, one in enumerate(found)]
    notes: dict[int, list[str]] = {}
    added: dict[Diagnostic, None] = {}
    for message in messages:
        severity = severity_of(message)
        line = (message.line or 1) - 1
        if comments.silence_lines(PTXAS, PTXAS, line, line):
            continue
        candidates = [(index, one, line) for index, one, line in own if one.severity == severity]
        index = next(predicted(found, message.text), None)
        if index is None:
            index = _same(candidates, message, source)
        if index is None:
            span = _span(message, source)
            one = Diagnostic(PTXAS, PTXAS, severity, message.text, span, source=PTXAS)
            added[one._replace(origin=origin(span.start))] = None
        elif message.text not in notes.setdefault(index, []):
            notes[index].append(message.text)
    return MergedMessages(notes, list(added))


def severity_of(message: Message) -> Severity:
    """The severity of a message as we report it."""
    return "error" if message.severity == "fatal" else message.severity


def predicted(found: Sequence[Diagnostic], text: str) -> Iterator[int]:
    """The indices of the findings of rules that predict ptxas's advice about an instruction."""
    if _ADVICE.search(text) is None:
        return
    for index, one in enumerate(found):
        opcode = next((opcode for opcode in _ADVISED if one.rule.startswith(opcode)), None)
        if opcode is not None and opcode in text:
            yield index


def _same(own: list[tuple[int, Diagnostic, int]], message: Message, source: Source) -> int | None:
    """The index of our own finding that reports the same error, if any."""
    for index, _, line in own:
        if line == message.line:
            return index
    quoted = set(_QUOTED.findall(message.text))
    if quoted:
        for index, one, _ in own:
            if source.decoded(*one.span) in quoted:
                return index
    if message.line is None:  # a directive that is ignored, for example
        for index, one, _ in own:
            directive = _DIRECTIVE.match(source.decoded(*one.span))
            if directive is not None and directive[0] in message.text:
                return index
    return None


def _span(message: Message, source: Source) -> Span:
    """The token that a message names on its line; else the line without surrounding blanks. If the message
    has no line, it may name a kernel.
    """
    if message.line is None:
        return _entry(message, source)
    if not 0 < message.line <= source.line_count:
        return Span(0, 0)
    start, end = source.line_span(message.line - 1)
    for name in _QUOTED.findall(message.text):
        span = _token(source, name, start, end)
        if span is not None:
            return span
    line = source.data[start:end]
    return Span(start + len(line) - len(line.lstrip()), max(start, start + len(line.rstrip())))


def _token(source: Source, name: str, start: int, end: int) -> Span | None:
    """The first occurrence of a name as a whole token, or as a part of a dotted one."""
    before = rb"(?<![\w$.%])" if re.match(r"[\w$%]", name) else b""
    after = rb"(?![\w$])" if re.search(r"[\w$]$", name) else b""
    found = re.compile(before + re.escape(name.encode()) + after).search(source.data, start, end)
    return Span(*found.span()) if found is not None else None


def _entry(message: Message, source: Source) -> Span:
    """The name of the kernel that a message without a line is about; else the beginning of the file."""
    named = _ENTRY.search(message.text)
    if named is None:
        return Span(0, 0)
    pattern = rb"\.entry\s+(" + re.escape(named[1].encode()) + rb")(?![\w$])"
    found = re.search(pattern, source.data)
    return Span(*found.span(1)) if found is not None else Span(0, 0)
