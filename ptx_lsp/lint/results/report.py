"""The report on one file: findings with lines and columns, and its kernels.

Unlike a `Diagnostic`, a report does not need the source text. It can be sent between processes and kept for
thousands of files.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import accumulate, pairwise

from ptx_lsp.lint.diagnostic import SEVERITIES, Diagnostic, Fix, Origin, Severity
from ptx_lsp.lint.results.details import Details
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING, Literal
from ptx_lsp.text import Source, Span

if TYPE_CHECKING:
    from typing import TypeAlias

_WHOLE_LINE = 1_000
_AROUND = 300
"""In a line with more than `_WHOLE_LINE` bytes, this many are kept before and after the mark."""
_STEP = 4_096
_RECENT = 64
_LONGEST = 1_000
"""The maximum length of a message in characters."""


class Point(NamedTuple):
    """A line and a column, both from 1; columns count Unicode code points."""

    line: int
    column: int


class Excerpt(NamedTuple):
    """The text of a line, or of a long line the part from column `first` on."""

    first: int
    text: str
    more: bool
    """Whether the line continues after `text`."""


class Mark(NamedTuple):
    """A range of the text, with the line that it begins in and a label, if any."""

    start: Point
    end: Point
    excerpt: Excerpt
    message: str = ""


class Change(NamedTuple):
    """One edit of a fix: replaces the range from `start` to `end` with `text`."""

    start: Point
    end: Point
    text: str


class Mending(NamedTuple):
    """A fix, ready for output."""

    message: str
    safe: bool
    changes: tuple[Change, ...]


class Reported(NamedTuple):
    """One finding. `targets` are those that have it, empty if all do; `notes` are additional information."""

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
    """The kernel or function that contains it; empty at file level."""
    origin: Origin | None = None
    """The source line according to `.loc`, perhaps of a function that was inlined."""
    fingerprint: str = ""
    """Stable across moved lines (`fingerprint.py`)."""
    alternatives: tuple[Mending, ...] = ()
    inlined_at: tuple[Origin, ...] = ()
    """The source lines at which that function was inlined, the innermost first."""

    @property
    def source_line(self) -> Origin | None:
        """The source line in the user's own file, which is the one that has the kernel: code inlined from a
        header is at the line that calls it.
        """
        if not self.inlined_at:
            return self.origin
        return next(one for one in self.source_lines if one.path == self.inlined_at[-1].path)

    @property
    def source_lines(self) -> tuple[Origin, ...]:
        """The source line according to `.loc`, then those at which it was inlined."""
        return (self.origin, *self.inlined_at) if self.origin is not None else ()

    @property
    def text(self) -> str:
        """The message, with the affected targets if not all are."""
        return f"{self.message} ({', '.join(self.targets)} only)" if self.targets else self.message


class Registers(NamedTuple):
    """32-bit registers per thread. `estimate`, `low`, `high` and `peak_live` are estimates, `measured` comes
    from ptxas. `limit` is exact: the maximum that the launch bounds allow.
    """

    estimate: int | None = None
    low: int | None = None
    high: int | None = None
    peak_live: int | None = None
    measured: int | None = None
    limit: int | None = None

    @property
    def interval(self) -> tuple[int, int] | None:
        """The interval of the estimate; None if it is a single number."""
        if self.low is None or self.high is None or self.low == self.high:
            return None
        return self.low, self.high

    @property
    def estimate_text(self) -> str:
        """`30 (26-34)`; `?` where there is no estimate."""
        if self.estimate is None:
            return "?"
        return f"{self.estimate}{interval_text(self.interval)}"


def interval_text(interval: tuple[int, int] | None) -> str:
    """` (26-34)`, to follow an estimate; empty if there is none."""
    return f" ({interval[0]}-{interval[1]})" if interval is not None else ""


RegistersSource: TypeAlias = Literal["measured", "estimate"]
ThreadsSource: TypeAlias = Literal["reqntid", "maxntid", "option", "metadata", "best"]
ClusterSource: TypeAlias = Literal["reqnctapercluster", "metadata"]


class Occupancy(NamedTuple):
    """The occupancy of an SM: exact for the given threads and registers."""

    blocks_per_sm: int | None = None
    warps_per_sm: int | None = None
    percent: float | None = None
    limiters: tuple[str, ...] | None = None
    threads_per_block: int | None = None
    registers: int | None = None
    registers_source: RegistersSource | None = None


DynamicSharedSource: TypeAlias = Literal["none", "launch comment", "setting", "metadata", "unknown"]


class DynamicShared(NamedTuple):
    """The dynamic shared memory per block, in bytes, and what says so; `lint/results/dynamic_shared.py`."""

    size: int | None
    source: DynamicSharedSource


class Branches(NamedTuple):
    """The number of branches proved uniform within a warp, of divergent ones, and of undecided ones."""

    uniform: int | None = None
    divergent: int | None = None
    unknown: int | None = None


class Measured(NamedTuple):
    """Measurements of ptxas besides registers, in bytes."""

    shared_bytes: int | None = None
    stack_bytes: int | None = None
    spill_store_bytes: int | None = None
    spill_load_bytes: int | None = None


class Compilation(NamedTuple):
    """The compilation of a kernel, from the metadata beside its file."""

    compiler: str
    options: tuple[tuple[str, int], ...] = ()
    """They distinguish kernels of the same name."""


class Kernel(NamedTuple):
    """The metrics of one kernel for one target; None if not applicable or unknown."""

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
    """Blocks per cluster; 1 unless something says otherwise."""
    cluster_source: ClusterSource | None = None
    occupancy: Occupancy = Occupancy()
    branches: Branches = Branches()
    measured: Measured | None = None
    instructions: tuple[tuple[str, int], ...] = ()
    """The number of instructions per spelling, the most frequent first."""
    dynamic_shared: DynamicShared | None = None
    """Part of the occupancy if it is known; None if it was not determined."""
    compilation: Compilation | None = None
    """None without metadata."""
    details: Details | None = None
    """Only with `--report`, and for the first target."""
    fingerprint: str = ""
    """The fingerprint of its code (`code_fingerprint.py`), if requested."""


Decides: TypeAlias = Literal["ptx_version", "target"]


class Because(NamedTuple):
    """A spelling that determines the requirements of a file, with its first line and its count."""

    line: int
    what: str
    needs: str
    times: int
    decides: tuple[Decides, ...]


class Needed(NamedTuple):
    """The lowest version for the target of a file, None if that target does not support everything it uses.
    Also the lowest target, or all supporting targets with a suffix, each with its own lowest version.
    """

    target: str | None
    ptx_version: str | None
    targets: tuple[tuple[str, str], ...]
    because: tuple[Because, ...]


class FileReport(NamedTuple):
    """The report on one file. `error` is set if there is no result: the file could not be read, or the tool
    failed.

    `failures` are rules that crashed, `complaints` the reasons why ptxas was not run, or metadata are wrong.
    Neither affects the rest.
    """

    path: str
    ptx_version: str | None = None
    target: str | None = None
    targets: tuple[str, ...] = ()
    """The targets checked against in place of the file's own."""
    diagnostics: tuple[Reported, ...] = ()
    kernels: tuple[Kernel, ...] = ()
    error: str | None = None
    failures: tuple[str, ...] = ()
    complaints: tuple[str, ...] = ()
    needed: Needed | None = None
    """Only with `--requires`."""
    fixed: tuple[str, ...] = ()
    """The rules of the applied fixes; the findings are the remaining ones."""
    text: bytes | None = None
    """The fixed text, if any fix was applied."""
    language: str | None = None
    """The language of a file with inline PTX; None for PTX itself."""
    blocks: int = 0
    """The number of blocks of inline PTX in it."""
    container: str | None = None
    """The file that holds it, if it is a member of a container: its path is `CONTAINER!MEMBER`."""

    @property
    def member(self) -> str | None:
        """The name of the member; None for a container as a whole."""
        return self.path[len(self.container) + 1 :] or None if self.container is not None else None


def count(files: Iterable[FileReport]) -> dict[Severity, int]:
    """The number of findings per severity."""
    counts: dict[Severity, int] = dict.fromkeys(SEVERITIES, 0)
    for file in files:
        for found in file.diagnostics:
            counts[found.severity] += 1
    return counts


class Counts:
    """Counts files and findings as the files come."""

    def __init__(self, least: Severity = "hint") -> None:
        self.least: Severity = least
        """The lowest severity that is shown."""
        self.files = 0
        self.unread = 0
        """The files that could not be checked."""
        self.having = 0
        """The files with findings that are shown."""
        self.fixed = 0
        """The applied fixes."""
        self.findings: dict[Severity, int] = dict.fromkeys(SEVERITIES, 0)

    def counted(self, files: Iterable[FileReport]) -> Iterator[FileReport]:
        """The files as they come, each counted."""
        for file in files:
            self.files += 1
            self.unread += file.error is not None
            self.having += any(is_shown(found, self.least) for found in file.diagnostics)
            self.fixed += len(file.fixed)
            for found in file.diagnostics:
                self.findings[found.severity] += 1
            yield file

    @property
    def shown(self) -> dict[Severity, int]:
        """The number of findings that are shown per severity, those without any left out."""
        return {one: n for one, n in self.findings.items() if n and _RANK[one] <= _RANK[self.least]}

    @property
    def hidden(self) -> dict[Severity, int]:
        """The number of findings that are not shown, likewise."""
        return {one: n for one, n in self.findings.items() if n and _RANK[one] > _RANK[self.least]}


_RANK: dict[Severity, int] = {severity: rank for rank, severity in enumerate(SEVERITIES)}


def is_shown(found: Reported, least: Severity) -> bool:
    """Whether a finding has at least this severity."""
    return _RANK[found.severity] <= _RANK[least]


class Locator:
    """Converts byte offsets of one text to lines and columns, fast on lines of any length."""

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
    origins: Callable[[int], tuple[str, tuple[Origin, ...]]] = lambda offset: ("", ()),
) -> Iterator[Reported]:
    """The diagnostics of one text, in the given order; `origins` is `SourceLocations.of`."""
    locate = Locator(source)
    for found in diagnostics:
        function, lines = origins(found.span.start)
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
            origin=lines[0] if lines else None,
            alternatives=tuple(_mending(fix, locate) for fix in found.alternatives),
            inlined_at=lines[1:],
        )


def by_place(one: Reported) -> tuple[Point, Point, str, str]:
    """The order of findings."""
    return one.mark.start, one.mark.end, one.code, one.message


def _short(message: str) -> str:
    """Shortens a name in a message, which may be as long as the file."""
    if len(message) <= _LONGEST:
        return message
    return f"{message[: _LONGEST * 2 // 3]}...{message[-_LONGEST // 3 :]}"


def _mending(fix: Fix, locate: Locator) -> Mending:
    changes = tuple(
        Change(locate.point(edit.start), locate.point(edit.end), edit.replacement.decode())
        for edit in fix.edits
    )
    return Mending(_short(fix.message), fix.safe, changes)
