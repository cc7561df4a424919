"""Applies fixes until none is left."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Protocol, TypeVar

from ptx_lsp.lint.diagnostic import Diagnostic, Fix
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Edit, Source

_MOST_ROUNDS = 20
_MANY = 50
"""The number of edits from which on a complete parse is cheaper than incremental ones."""

class _HasSource(Protocol):
    @property
    def source(self) -> Source: ...


_D = TypeVar("_D", bound=_HasSource)
Lint = Callable[[Document], Sequence[Diagnostic]]


class FixResult(NamedTuple):
    """A document after its fixes. `applied` are the rules of the fixes, in order."""

    document: Document
    applied: tuple[str, ...]


def apply_fixes(document: Document, judge: Lint, unsafe: bool = False) -> FixResult:
    """The document with all safe fixes applied, or with `unsafe` all of them.

    `judge` computes the diagnostics of each of its versions.
    """
    return FixResult(*apply_to(document, judge, edited, _faults, unsafe))


def apply_to(
    document: _D,
    judge: Callable[[_D], Sequence[Diagnostic]],
    edited: Callable[[_D, Collection[Edit]], _D],
    faults: Callable[[_D], int],
    unsafe: bool = False,
) -> tuple[_D, tuple[str, ...]]:
    """The document of any kind with its fixes, and the rules of these. No fix may add to its `faults`."""
    applied: list[str] = []
    refused: set[Fix] = set()
    seen = {document.source.data}
    for _ in range(_MOST_ROUNDS):
        fitting = [
            (one.rule, one.fix)
            for one in judge(document)
            if one.fix is not None and (one.fix.safe or unsafe) and one.fix not in refused
        ]
        chosen = non_overlapping(fitting)
        after, names, bad = _applied(document, chosen, edited, faults)
        refused |= bad
        if not names and bad:
            continue
        if not names or after.source.data in seen:
            break
        seen.add(after.source.data)
        document = after
        applied += names
        refused = set()  # offsets have changed
    return document, tuple(applied)


def non_overlapping(fixes: Iterable[tuple[str, Fix]]) -> list[tuple[str, Fix]]:
    """The fixes that do not overlap another; the same fix of two findings once."""
    chosen: list[tuple[str, Fix]] = []
    taken: list[Edit] = []
    for rule, fix in sorted(set(fixes), key=lambda pair: (min(pair[1].edits), pair[0])):
        if not any(_is_touched(edit, taken) for edit in fix.edits):
            chosen.append((rule, fix))
            for edit in fix.edits:
                insort(taken, edit)
    return chosen


def _is_touched(edit: Edit, taken: list[Edit]) -> bool:
    """`taken` are in order, and apart from each other."""
    index = bisect_left(taken, edit)
    return any(_touch(edit, other) for other in taken[max(0, index - 1) : index + 1])


def _touch(one: Edit, other: Edit) -> bool:
    """Whether two fixes touch. Two deletions may be adjacent: of lines, for example."""
    if one.replacement or other.replacement:
        return other.start <= one.end and one.start <= other.end
    return other.start < one.end and one.start < other.end


def _applied(
    document: _D,
    fixes: list[tuple[str, Fix]],
    edited: Callable[[_D, Collection[Edit]], _D],
    faults: Callable[[_D], int],
) -> tuple[_D, list[str], set[Fix]]:
    """The document after the fixes, the rules of applied fixes, and the rejected fixes."""
    before = faults(document)
    after = edited(document, [edit for _, fix in fixes for edit in fix.edits])
    if faults(after) <= before:
        return after, [rule for rule, _ in fixes], set()
    bad = {fix for _, fix in fixes if faults(edited(document, fix.edits)) > before}
    good = [(rule, fix) for rule, fix in fixes if fix not in bad]
    after = edited(document, [edit for _, fix in good for edit in fix.edits])
    if not bad or faults(after) > before:  # only together they do harm: one of them, then the next
        good = good[:1]
        after = edited(document, good[0][1].edits) if good else document
    return after, [rule for rule, _ in good], bad


def edited(document: Document, edits: Collection[Edit]) -> Document:
    """A document after edits that do not overlap, with offsets in the current text."""
    ordered = sorted(edits, key=lambda edit: edit.start, reverse=True)
    if len(ordered) < _MANY:
        for edit in ordered:
            document = document.edited(edit)
        return document
    return Document.parse(text_edited(document.source, edits))


def text_edited(source: Source, edits: Collection[Edit]) -> Source:
    """A text after edits that do not overlap, with offsets in the current text."""
    ordered = sorted(edits, key=lambda edit: edit.start, reverse=True)
    parts: list[bytes] = []
    end = len(source.data)
    for edit in ordered:
        parts += [source.data[edit.end : end], edit.replacement]
        end = edit.start
    parts.append(source.data[:end])
    return Source(b"".join(reversed(parts)))


def _faults(document: Document) -> int:
    return sum(len(item.problems) for item in document.items.broken())
