"""The details of a kernel on a page: its control flow, and the register pressure along its code.

Like a report, they need no source text and can be sent between processes.
"""

from __future__ import annotations

from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from typing import Final, TypeAlias

Turn: TypeAlias = Literal["none", "uniform", "divergent", "unknown"]
"""The uniformity of the branch at the end of a block: unconditional (`none`), uniform, divergent or unknown.
"""


MOST_SHOWN: Final = 12
"""The number of instructions whose text a box shows."""


class FlowBlock(NamedTuple):
    """A block: the instructions from `first` up to `end` (exclusive). Lines count from 1; the last block of a
    flow, the exit, has none.
    """

    number: int
    labels: tuple[str, ...]
    """The labels at its beginning, without those of debug information."""
    first: int
    end: int
    first_line: int
    last_line: int
    instructions: tuple[str, ...]
    """The text of its instructions in order. Of more than `MOST_SHOWN` and one, the first and last halves of
    `MOST_SHOWN`.
    """
    turn: Turn
    is_reached: bool
    is_loop_head: bool


class FlowEdge(NamedTuple):
    """An edge from one block to another."""

    source: int
    target: int
    kind: Literal["next", "taken"]
    """`next` falls through, `taken` jumps or leaves."""
    condition: str = ""
    """The condition of this edge, from the guard: `%p1`, `!%p1`."""
    is_known: bool = True
    """Whether the targets are known; otherwise the jump may go to every label of the function."""


class FlowLoop(NamedTuple):
    """A natural loop: its header, and all its blocks in order."""

    header: int
    blocks: tuple[int, ...]


class Flow(NamedTuple):
    """A control flow graph; `order` has the blocks in reverse postorder, unreachable ones last. A block
    begins where control can arrive from elsewhere: at the target of a branch, or after the end of another.
    """

    name: str
    blocks: tuple[FlowBlock, ...]
    edges: tuple[FlowEdge, ...]
    order: tuple[int, ...]
    loops: tuple[FlowLoop, ...]
    """In the order of their headers."""


class Live(NamedTuple):
    """A register that is live at the peak."""

    name: str
    type: str
    units: int
    """The number of 32-bit registers; none for a predicate."""


class Pressure(NamedTuple):
    """The number of live 32-bit registers in PTX as written."""

    units: tuple[int, ...]
    """The pressure at each instruction; 0 if unreachable."""
    lines: tuple[int, ...]
    """The line of each instruction."""
    peak_step: int | None
    live: tuple[Live, ...]
    """The registers live at the peak, the widest first."""


class Details(NamedTuple):
    """Both."""

    flow: Flow
    pressure: Pressure
