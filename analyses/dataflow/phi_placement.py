"""Where SSA form needs phis: at the dominance frontiers of the writes of a register, as in Cytron et al.
(1991), if the register is live there or is partially defined somewhere.
"""

from __future__ import annotations

from typing import Final

from analyses.control_flow.cfg import STRAIGHT, cfg
from analyses.control_flow.dominance import dominance, visit_limit
from analyses.dataflow.ambiguous_registers import AmbiguousRegisters, ambiguous_registers
from analyses.dataflow.block_summary import BlockSummary, block_summaries
from ptx_lsp.facts import fact
from ptx_lsp.model.function import Function

_VISITS_OF_STEP: Final = 4


class PhiPlacement:
    """The registers with a phi at the start of a block. `merged` are those that may have one anywhere. Other
    registers are never read at a place that their writes do not dominate.
    """

    __slots__ = ("is_available", "merged", "registers")

    def __init__(self, registers: dict[int, list[int]], merged: frozenset[int], is_available: bool) -> None:
        self.registers = registers
        self.merged = merged
        self.is_available = is_available
        """Whether the graph and the phis stay within the limits (`ssa.py`, 7)."""


_WITHOUT: Final = PhiPlacement({}, frozenset(), is_available=True)


@fact
def phi_placement(function: Function) -> PhiPlacement:
    """The registers that need a phi in each block of `function`."""
    graph = cfg(function).graph
    if graph is STRAIGHT:
        return _WITHOUT
    if dominance(function).is_too_complex:
        return PhiPlacement({}, frozenset(), is_available=False)
    summaries = block_summaries(function)
    lives = ambiguous_registers(function)
    kept: set[int] = set()
    for block in summaries:
        kept |= block.partially_defined
    merged = frozenset(kept.union(lives.registers))
    if not merged:
        return _WITHOUT
    placed = _placed(function, merged, kept, lives, summaries)
    if placed is None:
        return PhiPlacement({}, frozenset(), is_available=False)
    return PhiPlacement(placed, merged, is_available=True)


def _placed(
    function: Function,
    merged: frozenset[int],
    kept: set[int],
    lives: AmbiguousRegisters,
    summaries: list[BlockSummary],
) -> dict[int, list[int]] | None:
    """The registers with a phi at the start of each block; None if that takes too many visits."""
    graph = cfg(function)
    frontiers = dominance(function).frontiers
    left = visit_limit(len(graph.blocks)) + _VISITS_OF_STEP * len(function.body.instructions)
    writers: dict[int, list[int]] = {}
    for block in graph.reverse_postorder:
        for register in summaries[block].defined:
            if register in merged:
                blocks = writers.get(register)
                if blocks is None:
                    writers[register] = [block]
                else:
                    blocks.append(block)
    found: dict[int, list[int]] = {}
    for register, waiting in writers.items():
        is_kept = register in kept
        placed: set[int] = set()
        while waiting:
            frontier = frontiers[waiting.pop()]
            left -= len(frontier)
            if left < 0:
                return None
            for block in frontier:
                if block not in placed and (is_kept or lives.is_live_in(register, block)):
                    placed.add(block)
                    found.setdefault(block, []).append(register)
                    waiting.append(block)
    return found
