"""What a page shows of a kernel beside its figures: its control flow, and its pressure along the code.

Like a report, it needs no source text and can be sent from one process to another.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Turn: TypeAlias = Literal["none", "uniform", "divergent", "unknown"]
"""How the threads of a warp leave a block: in one way only (`none`), else all alike or not."""


class FlowBlock(NamedTuple):
    """A basic block. Lines count from 1; the last block of a flow, where all leave, has none."""

    number: int
    labels: tuple[str, ...]
    first_line: int
    last_line: int
    opcodes: tuple[str, ...]
    """Of its instructions, in order; behind the guard where there is one."""
    turn: Turn
    is_reached: bool
    is_loop_head: bool


class FlowEdge(NamedTuple):
    """A way from one block to another."""

    source: int
    target: int
    kind: Literal["next", "taken"]
    """`next` goes on in the text, `taken` jumps or leaves."""
    condition: str = ""
    """The guard, as it decides for this way: `%p1`, `!%p1`."""
    is_known: bool = True
    """Else the jump may go to every label of the function."""


class Flow(NamedTuple):
    """A control flow graph; `order` has the blocks in reverse postorder, unreached ones last."""

    name: str
    blocks: tuple[FlowBlock, ...]
    edges: tuple[FlowEdge, ...]
    order: tuple[int, ...]


class Live(NamedTuple):
    """A register that is live at the peak."""

    name: str
    type: str
    units: int
    """32-bit registers that it takes; none for a predicate."""


class Pressure(NamedTuple):
    """How many 32-bit registers PTX has live, as it stands."""

    units: tuple[int, ...]
    """At each instruction; 0 where control does not get."""
    lines: tuple[int, ...]
    """The line of each instruction."""
    peak_step: int | None
    live: tuple[Live, ...]
    """At the peak, the widest first."""


class Details(NamedTuple):
    """Both."""

    flow: Flow
    pressure: Pressure
