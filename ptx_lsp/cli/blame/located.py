"""A message of ptxas with its place in the source."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ptx_lsp.cli.blame.log import stem
from ptx_lsp.cli.blame.message import Message
from ptx_lsp.cli.blame.ptx_text import Call
from ptx_lsp.lint.results.report import Mark
from ptx_lsp.named_tuple import NamedTuple

How: TypeAlias = Literal["asm", "loc", "ptx", "name", "none"]


class Finding(NamedTuple):
    """A finding of ptx-lint at the same statement."""

    code: str
    rule: str
    message: str
    help: str


class PtxPlace(NamedTuple):
    """The place in the PTX. `line` and `column` from 1; `statement` is the text there."""

    name: str
    line: int
    column: int
    end_column: int
    statement: str
    function: str
    path: str | None


class Located(NamedTuple):
    """A message and its place. `path` is the file of `mark`; without a mark, only `line` and `column` are
    known, or nothing.
    """

    message: Message
    how: How
    """How the place was found: at the instruction within inline assembly (`asm`), at the line that `.loc`
    gives (`loc`), in the PTX itself (`ptx`), by what only one block of inline assembly of the sources has
    (`name`), or not at all.
    """
    path: str = ""
    mark: Mark | None = None
    line: int | None = None
    column: int | None = None
    ptx: PtxPlace | None = None
    calls: tuple[Call, ...] = ()
    """The source according to `.loc`: the line itself, then each that it is inlined at."""
    function: str = ""
    """The demangled name of the kernel or function of the PTX."""
    notes: tuple[str, ...] = ()
    meaning: str = ""
    findings: tuple[Finding, ...] = ()

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for messages that say the same of the same place."""
        place = self.mark.start if self.mark is not None else (self.line, self.column)
        where = self.ptx if self.how == "ptx" else None
        number = self.message.line if self.how in ("none", "name") else None
        file = stem(self.message.path) if self.how == "none" else ""
        return self.path, place, where, file, number, self.message.severity, self.message.text
