"""Errors raised while a kernel executes, and findings of checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from ptx_lsp.finding_kinds.registry import KINDS

Kind = Literal[
    "out-of-bounds", "misaligned", "read-only", "deadlock", "trap", "limit", "unsupported", "launch",
    "mbarrier", "divergent", "tensor-map", "tensor-memory", "heap",
]


class Lane(NamedTuple):
    """A thread: the index of its block in the grid, and its own in the block."""

    block: tuple[int, int, int]
    thread: tuple[int, int, int]


Severity = Literal["error", "note"]


@dataclass(frozen=True)
class Finding:
    """Something wrong with a kernel, seen in one launch.

    `kind` is the name of one of KINDS (`ptx_lsp/finding_kinds/registry.py`).
    `line` is in the PTX, from 1; `source` is `path:line` where there is a `.loc`, else "". `lanes` are the
    first threads concerned, at most 32, and `count` is how many there were. `address` is in the state space
    `space`, `variable` what lies there. A race has a second place: `other_line`, and `other_lane`.
    """

    kind: str
    message: str
    line: int = 0
    source: str = ""
    lanes: tuple[Lane, ...] = ()
    count: int = 0
    space: str = ""
    address: int | None = None
    variable: str = ""
    other_line: int = 0
    other_lane: Lane | None = None
    seed: int = 0
    """A seed with which it occurs."""
    written_line: int = 0
    """The line of a race that writes: the first, if both do."""

    @property
    def severity(self) -> Severity:
        kind = KINDS.get(self.kind)  # that of a recording may be newer
        return "error" if kind is None else kind.severity


class ExecutionError(Exception):
    """A kernel could not be run, or not to its end.

    `line` counts from 1 and is 0 where no instruction is to blame; `lanes` are the threads concerned, at
    most 32 of them. `findings` is what checks found until then, this error included, `seed` the run's.
    """

    def __init__(
        self, message: str, kind: Kind, line: int = 0, lanes: tuple[Lane, ...] = ()
    ) -> None:
        place = f"line {line}: " if line else ""
        super().__init__(place + message)
        self.kind: Kind = kind
        self.line = line
        self.lanes = lanes
        self.message = message
        self.findings: tuple[Finding, ...] = ()
        self.seed = 0

    def __reduce__(self) -> tuple[object, ...]:
        return _error, (self.message, self.kind, self.line, self.lanes, self.findings, self.seed)


def _error(
    message: str, kind: Kind, line: int, lanes: tuple[Lane, ...], findings: tuple[Finding, ...], seed: int
) -> ExecutionError:
    """An error that another process has raised."""
    found = ExecutionError(message, kind, line, lanes)
    found.findings, found.seed = findings, seed
    return found
