"""Accesses to Tensor Memory for which nobody has waited, when another instruction needs their result or
place.

Only tracked for observers.

1. A load or store is open until its warp waits with `tcgen05.wait::ld` or `tcgen05.wait::st`.
2. A load must not read cells that an open store or an operation in flight writes, a store must not write
   cells that either reads or writes.
3. `mma`, `cp` and `shift` must not use columns that an open store writes, nor write ones that an open load
   reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.observer import CurrentStep
from ptx_lsp.executor.machine.wave import Wave, WaveState
from ptx_lsp.executor.tensor_memory.in_flight import InFlight, Operation
from ptx_lsp.executor.tensor_memory.memory import columns_text

Numbers = npt.NDArray[np.int64]

KIND = "tcgen05-not-waited"


@dataclass(frozen=True)
class Open:
    """An access of a warp, whose first lane is `lane`, to columns of a quarter of the lanes of a block."""

    lane: int
    block: int
    quarter: int
    first: int
    count: int
    stores: bool
    line: int
    text: str

    def overlaps(self, block: int, first: int, count: int) -> bool:
        return self.block == block and self.first < first + count and first < self.first + self.count

    def message(self) -> str:
        what, wait = ("writes", "st") if self.stores else ("reads", "ld")
        return (
            f"{columns_text(self.first, self.count)} of Tensor Memory, which `{self.text}` in line"
            f" {self.line} {what}: its warp has not waited with `tcgen05.wait::{wait}`"
        )


class Hazards(WaveState):
    """The open accesses of a wave."""

    def __init__(self, wave: Wave) -> None:
        super().__init__(wave)
        self._wave = wave
        self._open: list[Open] = []

    def access(self, spaces: Spaces, new: Open) -> None:
        """A warp loads or stores (sentence 2)."""
        for old in self._open:
            both = new.stores or old.stores
            if both and old.quarter == new.quarter and old.overlaps(new.block, new.first, new.count):
                if old.lane == new.lane and new.stores and old.stores:
                    continue
                self._report(spaces, new.lane, 32, old.message())
                break
        operations = InFlight.of(self._wave).operations
        using = operations.using(new.block, new.first, new.count, writes=not new.stores)
        if using is not None:
            self._report(
                spaces, new.lane, 32, f"{columns_text(new.first, new.count)} of Tensor Memory, which"
                f" `{using.text}` in line {using.line} uses: nobody has waited for its `tcgen05.commit`",
            )
        self._open.append(new)

    def waited(self, lanes: Numbers, *, stores: bool) -> None:
        """Warps, by their first lanes, have waited."""
        self._open = [one for one in self._open if one.stores != stores or one.lane not in lanes]

    def begin(self, spaces: Spaces, lane: int, operation: Operation, chosen: Bools) -> None:
        """A thread begins an operation (sentence 3)."""
        for old in self._conflicts(operation, chosen):
            self._report(spaces, lane, 1, old.message())
            break

    def _conflicts(self, operation: Operation, chosen: Bools) -> Iterator[Open]:
        for span in operation.spans(chosen):
            for block, first in zip(span.blocks.tolist(), span.firsts.tolist(), strict=True):
                for old in self._open:
                    if (old.stores or span.writes) and old.overlaps(block, first, span.width):
                        yield old

    def _report(self, spaces: Spaces, lane: int, count: int, what: str) -> None:
        step = CurrentStep.of(self._wave).step
        if spaces.observer is not None and step is not None:
            lanes = np.arange(lane, lane + count)
            spaces.observer.misused(self._wave, step, KIND, f"it uses {what}", lanes)


def tell_begun(spaces: Spaces, wave: Wave, lanes: Numbers, operation: Operation) -> None:
    """Threads begin an operation."""
    if spaces.observer is not None:
        for at, lane in enumerate(lanes.tolist()):
            Hazards.of(wave).begin(spaces, lane, operation, np.arange(lanes.size) == at)
