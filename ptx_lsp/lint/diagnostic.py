"""Findings, as rules report them, and diagnostics, as users see them.

A `Finding` refers to a `Place`, so that it stays valid while other parts of the file change. A `Diagnostic`
refers to byte offsets in one text.
"""

from __future__ import annotations

from ptx_lsp.model.place import Place
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING, Literal
from ptx_lsp.text import Edit, Span

if TYPE_CHECKING:
    from typing import TypeAlias

Severity: TypeAlias = Literal["error", "warning", "info", "hint"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info", "hint")
"""The severities, worst first."""
Tag: TypeAlias = Literal["unnecessary", "deprecated"]
"""How an editor may show a finding: greyed out, or struck through."""


class Replacement(NamedTuple):
    """Replaces the text at `place` with `text`."""

    place: Place
    text: str
    with_line: bool = False
    """Also deletes surrounding blanks, and the line if nothing else is in it."""


class FixProposal(NamedTuple):
    """A fix before its places are resolved to offsets. `safe`: it cannot change what the program computes."""

    message: str
    replacements: tuple[Replacement, ...]
    safe: bool = True


class Finding(NamedTuple):
    """One problem, as a rule reports it. `related` are the places that explain it."""

    place: Place
    message: str
    related: tuple[tuple[Place, str], ...] = ()
    fix: FixProposal | None = None
    severity: Severity | None = None
    """The severity, if it differs from the rule's own."""
    alternatives: tuple[FixProposal, ...] = ()
    """Alternative fixes for a person to choose from; none is ever applied automatically."""


class Related(NamedTuple):
    """A related location that explains a diagnostic."""

    span: Span
    message: str


class Fix(NamedTuple):
    """Edits that fix the problem of a diagnostic; they do not overlap."""

    message: str
    edits: tuple[Edit, ...]
    safe: bool


class Origin(NamedTuple):
    """A place in the source from which PTX was generated, according to `.loc`; line and column from 1."""

    path: str
    line: int
    column: int


class Diagnostic(NamedTuple):
    """A finding in one text. `source` is the tool that reported it: `ptx-lint` or `ptxas`."""

    rule: str
    code: str
    severity: Severity
    message: str
    span: Span
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    source: str = "ptx-lint"
    tag: Tag | None = None
    alternatives: tuple[Fix, ...] = ()
    """Alternative fixes for a person to choose from; none is ever applied automatically."""
    origin: Origin | None = None
    """The place in the source, where it is part of the diagnostic."""
