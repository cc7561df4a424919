"""`clusterlaunchcontrol`

A request to cancel a cluster is granted as long as one has not started (`cluster_queue.py`), when it is
made; the answer comes later. It has the bit 0 for yes, and from bit 32 on the indices of the cluster's
first block.
"""

from __future__ import annotations

import numpy as np

from ptx_lsp.executor.arithmetic.program import Array, Bools, Program
from ptx_lsp.executor.asynchronous.async_store import Stores
from ptx_lsp.executor.asynchronous.cluster import peers
from ptx_lsp.executor.asynchronous.pending import pending
from ptx_lsp.executor.instructions.access import sources
from ptx_lsp.executor.instructions.threads import (
    MemorySlice,
    by_name,
    memory_slices,
    pointer,
    shared_offsets,
    threads,
)
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.control import Action
from ptx_lsp.executor.machine.memory import Space
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.types import TYPES
from ptx_lsp.syntax import nodes


class Request:
    """`clusterlaunchcontrol.try_cancel`"""

    def __init__(
        self, spaces: Spaces, target: tuple[Space, Program], barrier: tuple[Space, Program], *, to_all: bool
    ) -> None:
        self._spaces = spaces
        self._target, self._barrier = target, barrier
        self._to_all = to_all

    def run(self, wave: Wave, mask: Bools | None) -> None:
        row = threads(wave, mask)
        space, program = self._target
        parts = memory_slices(self._spaces, row, row.compute(program)[0], space, 16, "write")
        space, program = self._barrier
        barriers = shared_offsets(self._spaces, row, row.compute(program)[0], space, 8, "update")
        lanes, answers = row.lanes, self._answers(wave, row.count)
        if self._to_all:
            everybody = np.full(row.count, -1, np.int64)
            barriers = peers(row, barriers, everybody)[1]
            (part,) = parts
            which, places = peers(row, part.offsets, everybody)
            parts = [MemorySlice(part.data, places, np.arange(places.size), part.address)]
            lanes, answers = lanes[which], [one[which] for one in answers]
        stores = Stores(self._spaces, lanes, wave, parts, answers, barriers >> 3, None)
        self._spaces.began(wave, stores)
        pending(wave).on_mbarriers.begin(lanes, stores, barriers >> 3)

    def _answers(self, wave: Wave, count: int) -> list[Array]:
        """The two halves of the answer to each of some threads."""
        halves = np.zeros((2, count), np.uint64)
        x, y, _ = wave.launch.grid
        for at in range(count):
            block = None if wave.cancel is None else wave.cancel()
            if block is None:
                break
            halves[0, at] = block % x << 32 | 1
            halves[1, at] = block // (x * y) << 32 | block // x % y
        return list(halves)


class Answer:
    """`clusterlaunchcontrol.query_cancel`: bits of an answer, from those numbers on."""

    def __init__(self, answer: Program, parts: list[tuple[int, int | None]], *, is_truth: bool) -> None:
        self._answer = answer
        self._parts = parts
        self._is_truth = is_truth

    def run(self, wave: Wave, mask: Bools | None) -> None:
        row = threads(wave, mask)
        halves = [one.astype(np.uint64) for one in row.compute(self._answer)]
        for bit, number in self._parts:
            if number is not None:
                value = halves[bit // 64] >> np.uint64(bit % 64) & np.uint64(0xFFFFFFFF)
                row.write(number, value & np.uint64(1) if self._is_truth else value)


def cluster_control(
    node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces
) -> Action:
    """The action of an instruction whose opcode is `clusterlaunchcontrol`."""
    modifiers = match.candidate.choices.modifiers
    given = by_name(node, match)
    if match.entry.name.endswith("try_cancel"):
        space = ".shared" if ".shared::cta" in modifiers else ""
        return Request(
            spaces, pointer(given["addr"], space, operands), pointer(given["mbar"], space, operands),
            to_all=".multicast::cluster::all" in modifiers,
        )
    answer = sources([(node.operands[1], TYPES[".b128"])], operands)
    first = node.operands[0]
    if ".is_canceled" in modifiers or ".pred" in modifiers:
        return Answer(answer, [(0, operands.number(first))], is_truth=True)
    if isinstance(first, nodes.Vector):
        named = zip((32, 64, 96), first.items, strict=False)
        return Answer(answer, [(bit, operands.number(one)) for bit, one in named], is_truth=False)
    axis = match.candidate.choices["dimension"][-1]
    return Answer(answer, [({"x": 32, "y": 64, "z": 96}[axis], operands.number(first))], is_truth=False)
