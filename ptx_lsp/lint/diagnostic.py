"""What a rule finds, and what a user is told.

A `Finding` points by `Place`, so that it can be kept while other parts of the file change; a
`Diagnostic` points by byte offsets into one text.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from ptx_lsp.model.place import Place
from ptx_lsp.text import Edit, Span

Severity: TypeAlias = Literal["error", "warning", "info", "hint"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info", "hint")
"""Worst first."""
Tag: TypeAlias = Literal["unnecessary", "deprecated"]
"""How an editor may show what is found: greyed out, or struck through."""


class Replacement(NamedTuple):
    """Puts `text` where `place` is."""

    place: Place
    text: str
    with_line: bool = False
    """Takes the blanks around it away as well, and the line where nothing else stands in it."""


class Remedy(NamedTuple):
    """What would be right. `safe`: it cannot change what the program computes."""

    message: str
    replacements: tuple[Replacement, ...]
    safe: bool = True


class Finding(NamedTuple):
    """One thing wrong, as a rule reports it. `related` are the places that explain it."""

    place: Place
    message: str
    related: tuple[tuple[Place, str], ...] = ()
    remedy: Remedy | None = None
    severity: Severity | None = None
    """Where it differs from the rule's own."""
    alternatives: tuple[Remedy, ...] = ()
    """Other remedies, for a person to choose from: none is ever applied unasked."""


class Related(NamedTuple):
    """A second place that explains a diagnostic."""

    span: Span
    message: str


class Fix(NamedTuple):
    """Edits that mend what a diagnostic tells; they do not overlap."""

    message: str
    edits: tuple[Edit, ...]
    safe: bool


class Diagnostic(NamedTuple):
    """A finding in one text. `source` names the tool that found it: `ptx-lint` or `ptxas`."""

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
    """Other fixes, for a person to choose from: none is ever applied unasked."""
