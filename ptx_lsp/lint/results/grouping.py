"""Groups findings that have one cause, for reports that people read.

1. Findings with one cause have the same rule, severity and targets, and come from the same source line in the
   user's own file, if there is one.
2. Errors, and findings without a source line, also have the same message, and are in the same function if it
   names a register.
3. The messages of others differ in numbers only: they are the copies of an unrolled loop, or of a function
   that is inlined several times.
"""

from __future__ import annotations

from collections.abc import Iterable

from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.lint.results.report import Reported
from ptx_lsp.named_tuple import NamedTuple

_NUMBERS = lazy_pattern(r"\d+")
_MOST_LINES = 6


class Group(NamedTuple):
    """Findings with one cause, in order."""

    first: Reported
    others: tuple[Reported, ...] = ()

    @property
    def more(self) -> str:
        """`31 more like this: lines 7, 9, 12, ...`; empty for a finding alone."""
        if not self.others:
            return ""
        lines = list(dict.fromkeys(one.mark.start.line for one in self.others))
        listed = ", ".join(map(str, lines[:_MOST_LINES])) + (", ..." if len(lines) > _MOST_LINES else "")
        return f"{len(self.others)} more like this: line{'' if len(lines) == 1 else 's'} {listed}"


def grouped(findings: Iterable[Reported]) -> list[Group]:
    """The groups, in the order of their first findings."""
    groups: dict[tuple[object, ...], list[Reported]] = {}
    for one in findings:
        groups.setdefault(_cause(one), []).append(one)
    return [Group(first, tuple(others)) for first, *others in groups.values()]


def _cause(found: Reported) -> tuple[object, ...]:
    source = found.source_line
    place = (source.path, source.line) if source is not None else ()
    kind = found.rule, found.severity, found.targets, place
    if source is None or found.severity == "error":
        return *kind, found.message, found.function if "`%" in found.message else ""
    return *kind, _NUMBERS.sub("0", found.message)
