"""Where SSA form needs phis: at the dominance frontiers of the writes of a register, as in Cytron et al.
(1991), if the register is live there or is partially defined somewhere.
"""

from __future__ import annotations

from ptx_lsp.analyses._flow import BlockSummary, placed_phis
from ptx_lsp.analyses.control_flow.cfg import STRAIGHT, Graph, cfg
from ptx_lsp.analyses.control_flow.dominance import dominance, visit_limit
from ptx_lsp.analyses.dataflow.ambiguous_registers import (
    AmbiguousRegisters,
    ambiguous_registers,
    changed_blocks,
)
from ptx_lsp.analyses.dataflow.block_summary import block_summaries
from ptx_lsp.analyses.instructions.uses_and_defs import instructions
from ptx_lsp.facts import Previous, incremental_fact
from ptx_lsp.model.function import Function
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

_VISITS_OF_STEP: Final = 4


class PhiPlacement:
    """The registers with a phi at the start of a block. `merged` are those that may have one anywhere. Other
    registers are never read at a place that their writes do not dominate.
    """

    __slots__ = ("is_available", "kept", "lives", "merged", "registers", "visits")

    def __init__(
        self,
        registers: dict[int, list[int]],
        merged: frozenset[int],
        is_available: bool,
        lives: AmbiguousRegisters | None = None,
        kept: frozenset[int] = frozenset(),
        visits: int = 0,
    ) -> None:
        self.registers = registers
        self.merged = merged
        self.is_available = is_available
        """Whether the graph and the phis stay within the limits (`ssa.py`, 7)."""
        self.lives = lives
        self.kept = kept
        """The registers that some block partially defines."""
        self.visits = visits
        """The visits that placing the phis took, and their inputs."""


_WITHOUT: Final = PhiPlacement({}, frozenset(), is_available=True)


@incremental_fact
def phi_placement(function: Function, earlier: Previous[PhiPlacement] | None) -> PhiPlacement:
    """The registers that need a phi in each block of `function`."""
    graph = cfg(function).graph
    if graph is STRAIGHT:
        return _WITHOUT
    if dominance(function).is_too_complex:
        return PhiPlacement({}, frozenset(), is_available=False)
    summaries = block_summaries(function)
    lives = ambiguous_registers(function)
    most = visit_limit(len(graph.successors)) + _VISITS_OF_STEP * len(function.body.instructions)
    if earlier is not None and _is_same(earlier.value, graph, lives, summaries, most):
        before = earlier.value
        return PhiPlacement(before.registers, before.merged, True, lives, before.kept, before.visits)
    kept: set[int] = set()
    for block in summaries:
        kept |= block.partially_defined
    merged = frozenset(kept.union(lives.registers))
    if not merged:
        return _WITHOUT
    return _placed(function, merged, frozenset(kept), lives, summaries, most)


def _is_same(
    before: PhiPlacement, graph: Graph, lives: AmbiguousRegisters, summaries: list[BlockSummary], most: int
) -> bool:
    """Whether all phis are where they were before an edit."""
    known = before.lives
    if known is None or known.graph is not graph or not lives.has_registers_of(known) or before.visits > most:
        return False
    for one, other in changed_blocks(known.summaries, summaries):
        if one.partially_defined != other.partially_defined:
            return False
        if [r for r in one.defined if r in before.merged] != [r for r in other.defined if r in before.merged]:
            return False
    return True


def _placed(
    function: Function,
    merged: frozenset[int],
    kept: frozenset[int],
    lives: AmbiguousRegisters,
    summaries: list[BlockSummary],
    most: int,
) -> PhiPlacement:
    """The registers with a phi at the start of each block; none if that takes more than `most` visits."""
    graph, frontiers, count = cfg(function).graph, dominance(function).frontiers, instructions(function).count
    found = placed_phis(
        graph.reverse_postorder, summaries, merged, kept, frontiers, graph.predecessors, lives.places,
        lives.live_in, count, most,
    )  # fmt: skip
    if found is None:
        return PhiPlacement({}, frozenset(), is_available=False)
    registers, left = found
    return PhiPlacement(registers, merged, True, lives, kept, most - left)
