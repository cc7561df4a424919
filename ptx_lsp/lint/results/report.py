"""What is told of one file: findings with lines and columns, and its kernels.

Unlike a `Diagnostic`, a report needs no source text any more, so it can be sent from one process to
another and kept for thousands of files.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple, TypeAlias

from ptx_lsp.lint.diagnostic import SEVERITIES, Diagnostic, Fix, Severity
from ptx_lsp.lint.results.details import Details
from ptx_lsp.text import Source, Span

_WHOLE_LINE = 1_000
_AROUND = 300
"""Of a line with more than `_WHOLE_LINE` bytes, this many are kept before and after what is marked."""
_STEP = 4_096
_RECENT = 64
_LONGEST = 1_000
"""Characters of a message."""


class Point(NamedTuple):
    """A line and a column, both from 1; columns count Unicode code points."""

    line: int
    column: int


class Excerpt(NamedTuple):
    """The text of a line, or of a long line the part from column `first` on."""

    first: int
    text: str
    more: bool
    """Whether the line goes on behind `text`."""


class Mark(NamedTuple):
    """A range of the text, with the line that it begins in and a word on it, if any."""

    start: Point
    end: Point
    excerpt: Excerpt
    message: str = ""


class Change(NamedTuple):
    """One edit of a fix: what is from `start` to `end` becomes `text`."""

    start: Point
    end: Point
    text: str


class Mending(NamedTuple):
    """A fix, ready to be told."""

    message: str
    safe: bool
    changes: tuple[Change, ...]


class Origin(NamedTuple):
    """A place in the source that PTX was made from, as `.loc` tells it; line and column from 1."""

    path: str
    line: int
    column: int


class Reported(NamedTuple):
    """One finding. `targets` are those that have it, empty where all do; `notes` what else is known."""

    rule: str
    code: str
    severity: Severity
    message: str
    mark: Mark
    related: tuple[Mark, ...] = ()
    fix: Mending | None = None
    source: str = "ptx-lint"
    targets: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    function: str = ""
    """The kernel or function that it is in; empty at the level of the file."""
    origin: Origin | None = None
    fingerprint: str = ""
    """The same after lines have moved (`fingerprint.py`)."""
    alternatives: tuple[Mending, ...] = ()

    @property
    def text(self) -> str:
        """The message, and which targets it is about where it is not about all."""
        return f"{self.message} ({', '.join(self.targets)} only)" if self.targets else self.message


class Registers(NamedTuple):
    """32-bit registers of a thread. `estimate`, `low`, `high` and `peak_live` are estimated, `measured` is
    ptxas's, `limit` is exact: what the launch bounds allow.
    """

    estimate: int | None = None
    low: int | None = None
    high: int | None = None
    peak_live: int | None = None
    measured: int | None = None
    limit: int | None = None


RegistersSource: TypeAlias = Literal["measured", "estimate"]
ThreadsSource: TypeAlias = Literal["reqntid", "maxntid", "option", "best"]


class Occupancy(NamedTuple):
    """How full a multiprocessor gets: exact for blocks of so many threads with so many registers."""

    blocks_per_sm: int | None = None
    warps_per_sm: int | None = None
    percent: float | None = None
    limiters: tuple[str, ...] | None = None
    threads_per_block: int | None = None
    registers: int | None = None
    registers_source: RegistersSource | None = None


class Branches(NamedTuple):
    """How many branches all threads of a warp are proved to take alike, how many depend on what tells
    threads apart, and how many may be either.
    """

    uniform: int | None = None
    divergent: int | None = None
    unknown: int | None = None


class Measured(NamedTuple):
    """What ptxas measured besides registers, in bytes."""

    shared_bytes: int | None = None
    stack_bytes: int | None = None
    spill_store_bytes: int | None = None
    spill_load_bytes: int | None = None


class Kernel(NamedTuple):
    """The figures of one kernel for one target; None is what does not apply or is not known."""

    name: str
    line: int
    target: str | None
    registers: Registers = Registers()
    shared_bytes: int | None = None
    local_bytes: int | None = None
    parameter_bytes: int | None = None
    threads_per_block: int | None = None
    threads_source: ThreadsSource | None = None
    cluster_size: int = 1
    """Blocks in a cluster, as a directive fixes it."""
    occupancy: Occupancy = Occupancy()
    branches: Branches = Branches()
    measured: Measured | None = None
    instructions: tuple[tuple[str, int], ...] = ()
    """How many there are of each spelling, the most frequent first."""
    details: Details | None = None
    """With `--report` only, and for the first target."""


Decides: TypeAlias = Literal["ptx_version", "target"]


class Because(NamedTuple):
    """A spelling that decides what a file needs, with the first of its lines and how many there are."""

    line: int
    what: str
    needs: str
    times: int
    decides: tuple[Decides, ...]


class Needed(NamedTuple):
    """The least version for the target of a file, None where that target does not have all it uses; and
    the least target, or all with a suffix that have it, each with its own least version.
    """

    target: str | None
    ptx_version: str | None
    targets: tuple[tuple[str, str], ...]
    because: tuple[Because, ...]


class FileReport(NamedTuple):
    """All about one file. `error` says why there is nothing: it could not be read, or the tool failed.

    `failures` are rules that crashed, `complaints` why ptxas was not asked: neither costs the rest.
    """

    path: str
    ptx_version: str | None = None
    target: str | None = None
    targets: tuple[str, ...] = ()
    """Those judged for in place of the file's own."""
    diagnostics: tuple[Reported, ...] = ()
    kernels: tuple[Kernel, ...] = ()
    error: str | None = None
    failures: tuple[str, ...] = ()
    complaints: tuple[str, ...] = ()
    needed: Needed | None = None
    """With `--requires` only."""
    fixed: tuple[str, ...] = ()
    """The rules of the fixes applied; the findings are those that are left."""
    text: bytes | None = None
    """The text with the fixes, where there were any."""


def count(files: Iterable[FileReport]) -> dict[Severity, int]:
    """How many findings there are of each severity."""
    counts: dict[Severity, int] = dict.fromkeys(SEVERITIES, 0)
    for file in files:
        for found in file.diagnostics:
            counts[found.severity] += 1
    return counts


class Locator:
    """Turns byte offsets of one text into lines and columns, fast on lines of any length."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._steps: dict[int, tuple[list[int], list[int]]] = {}
        # findings next to each other have much in common
        self.point = lru_cache(_RECENT)(self._point)
        self._whole_line = lru_cache(_RECENT)(self._excerpt_of)

    def _point(self, offset: int) -> Point:
        source = self.source
        offset = min(offset, len(source.data))
        line = source.line_of(offset)
        start = source.line_start(line)
        if source.is_ascii:
            return Point(line + 1, offset - start + 1)
        before = 0
        if offset - start > _STEP:
            offsets, columns = self._steps_of(line)
            index = bisect_right(offsets, offset) - 1
            start, before = offsets[index], columns[index]
        return Point(line + 1, before + len(source.decoded(start, offset)) + 1)

    def _steps_of(self, line: int) -> tuple[list[int], list[int]]:
        """Offsets in a long line, some `_STEP` bytes apart, and the columns there, from 0."""
        found = self._steps.get(line)
        if found is None:
            start, end = self.source.line_span(line)
            offsets = [self._whole(at, start) for at in range(start, end + 1, _STEP)]
            lengths = (len(self.source.decoded(*pair)) for pair in pairwise(offsets))
            found = self._steps[line] = offsets, [0, *accumulate(lengths)]
        return found

    def _whole(self, offset: int, least: int) -> int:
        """The beginning of the character that `offset` is within."""
        data = self.source.data
        while offset > least and offset < len(data) and data[offset] & 0xC0 == 0x80:
            offset -= 1
        return offset

    def mark(self, span: Span, message: str = "") -> Mark:
        start = self.point(span.start)
        return Mark(start, self.point(span.end), self._excerpt(span, start), message)

    def _excerpt(self, span: Span, start: Point) -> Excerpt:
        source = self.source
        line = source.line_span(start.line - 1)
        if line.end - line.start <= _WHOLE_LINE:
            return self._whole_line(line)
        first = self._whole(max(line.start, span.start - _AROUND), line.start)
        last = min(line.end, max(span.start, min(span.end, span.start + _AROUND)) + _AROUND)
        before = len(source.decoded(first, min(span.start, line.end)))
        return Excerpt(start.column - before, source.decoded(first, last), more=last < line.end)


    def _excerpt_of(self, line: Span) -> Excerpt:
        return Excerpt(1, self.source.decoded(*line), more=False)


def reported(
    diagnostics: Iterable[Diagnostic],
    source: Source,
    origin: Callable[[int], tuple[str, Origin | None]] = lambda offset: ("", None),
) -> Iterator[Reported]:
    """The diagnostics of one text, in the order given; `origin` tells of an offset where it comes from."""
    locate = Locator(source)
    for found in diagnostics:
        function, comes_from = origin(found.span.start)
        yield Reported(
            found.rule,
            found.code,
            found.severity,
            _short(found.message),
            locate.mark(found.span),
            tuple(locate.mark(related.span, _short(related.message)) for related in found.related),
            _mending(found.fix, locate) if found.fix is not None else None,
            found.source,
            function=function,
            origin=comes_from,
            alternatives=tuple(_mending(fix, locate) for fix in found.alternatives),
        )


def by_place(one: Reported) -> tuple[Point, Point, str, str]:
    """The order of findings."""
    return one.mark.start, one.mark.end, one.code, one.message


def _short(message: str) -> str:
    """A name in a message may be as long as the file."""
    if len(message) <= _LONGEST:
        return message
    return f"{message[: _LONGEST * 2 // 3]}...{message[-_LONGEST // 3 :]}"


def _mending(fix: Fix, locate: Locator) -> Mending:
    changes = tuple(
        Change(locate.point(edit.start), locate.point(edit.end), edit.replacement.decode())
        for edit in fix.edits
    )
    return Mending(_short(fix.message), fix.safe, changes)
