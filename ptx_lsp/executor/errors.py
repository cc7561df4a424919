"""What goes wrong in a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from ptx_lsp.executor.check.finding import Finding

Kind = Literal[
    "out-of-bounds", "misaligned", "read-only", "deadlock", "trap", "limit", "unsupported", "launch",
    "mbarrier", "divergent",
]


class Lane(NamedTuple):
    """A thread: the index of its block in the grid, and its own in the block."""

    block: tuple[int, int, int]
    thread: tuple[int, int, int]


class ExecutionError(Exception):
    """A kernel could not be run, or not to its end.

    `line` counts from 1 and is 0 where no instruction is to blame; `lanes` are the threads concerned, at
    most 32 of them. `findings` is what checks found until then, this error included.
    """

    def __init__(
        self, message: str, kind: Kind, line: int = 0, lanes: tuple[Lane, ...] = ()
    ) -> None:
        place = f"line {line}: " if line else ""
        super().__init__(place + message)
        self.kind: Kind = kind
        self.line = line
        self.lanes = lanes
        self.findings: tuple[Finding, ...] = ()
