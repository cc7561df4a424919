"""Where control goes: jumps, ends of threads, barriers. The machine acts on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from ptx_lsp.executor.program import Bools
from ptx_lsp.executor.wave import Wave

if TYPE_CHECKING:
    from ptx_lsp.executor.inline import Line


class Action(Protocol):
    """What an instruction does to the lanes of a mask (None: all)."""

    def run(self, wave: Wave, mask: Bools | None) -> None: ...


@dataclass(frozen=True)
class Jump:
    """`bra`: to the block with that number."""

    target: int


@dataclass(frozen=True)
class Leave:
    """`ret`, `exit` or `trap`."""

    kind: Literal["ret", "exit", "trap"]


@dataclass(frozen=True)
class Barrier:
    """`bar.sync` and `barrier.sync` of all threads of a block."""

    number: int


@dataclass(frozen=True)
class Step:
    """An instruction. `guard` is the number of a predicate; `line` counts from 1. `source` is what it was
    made from; None for the end of the text.
    """

    line: int
    text: str
    action: Action | Jump | Leave | Barrier
    guard: int = -1
    negated: bool = False
    source: Line | None = None

    def taken(self, wave: Wave, mask: Bools | None) -> tuple[Bools | None, bool]:
        """The lanes of `mask` that execute it, and whether there are any."""
        if self.guard < 0:
            return mask, True
        holds = np.asarray(wave.registers[self.guard], np.bool_)
        if self.negated:
            holds = ~holds
        if holds.all():
            return mask, True
        if not holds.any():
            return mask, False
        here = np.logical_and(holds, wave.exists if mask is None else mask)
        return wave.normal(here), bool(here.any())


@dataclass(frozen=True)
class Block:
    """Steps up to one that ends a block. `rank` is its place in the order of `flow`."""

    steps: tuple[Step, ...]
    rank: int = 0


@dataclass
class Waiting:
    """Threads at a barrier: for each block that they go on at, which."""

    lanes: dict[int, Bools] = field(default_factory=dict[int, Bools])
    step: Step | None = None

    @property
    def line(self) -> int:
        return self.step.line if self.step is not None else 0
