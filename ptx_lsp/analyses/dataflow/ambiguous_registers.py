"""Ambiguous registers: those of which some read may see more than one write, or none.

1. A register is *unambiguous* if a single block writes it, completely in the end, and dominates all other
   blocks that read it before they write it. It needs no phi, and it is live at the end of that block if any
   other block reads it. Compilers' output consists mostly of such registers, and of registers that are read
   only in the block that has just written them.
2. Data flow is solved for the other registers that live across blocks: the *ambiguous* ones.
3. Only reachable blocks count. The registers of the return parameters are read at `exit`.
"""

from __future__ import annotations

from ptx_lsp.analyses._flow import BlockSummary, crossing_registers
from ptx_lsp.analyses.bitset import BitIndex
from ptx_lsp.analyses.control_flow.cfg import STRAIGHT, Graph, cfg
from ptx_lsp.analyses.control_flow.dominance import dominance
from ptx_lsp.analyses.dataflow.bitvector_dataflow import solve
from ptx_lsp.analyses.dataflow.block_summary import block_summaries, reads_and_writes_alike
from ptx_lsp.analyses.instructions.uses_and_defs import instructions
from ptx_lsp.facts import Previous, incremental_fact
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Register
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final


class AmbiguousRegisters:
    """The ambiguous registers of a function, and where they are live."""

    __slots__ = ("crossing", "graph", "live_in", "places", "registers", "summaries")

    def __init__(
        self,
        graph: Graph,
        crossing: frozenset[int],
        registers: list[int],
        live_in: list[int],
        summaries: list[BlockSummary],
    ) -> None:
        self.graph = graph
        self.crossing = crossing
        """All registers that some block reads before it has completely written them."""
        self.registers = registers
        self.places = BitIndex(registers).places
        """The bits of the registers in `live_in`."""
        self.live_in = live_in
        """The registers that are live at the start of each block, as bit sets."""
        self.summaries = summaries

    def updated(self, crossing: frozenset[int], summaries: list[BlockSummary]) -> AmbiguousRegisters:
        """These ambiguous registers, in a function with other `crossing` registers."""
        return AmbiguousRegisters(self.graph, crossing, self.registers, self.live_in, summaries)

    def has_registers_of(self, other: AmbiguousRegisters) -> bool:
        """Whether the same registers are ambiguous, and live at the same places."""
        return self.live_in is other.live_in

    def is_live_out(self, register: int, block: int) -> bool:
        """Whether a register that a block has written may be read after the end of the block."""
        if register not in self.crossing:
            return False
        place = self.places.get(register)
        if place is None:
            return True
        graph, live_in = self.graph, self.live_in
        for target in (block,) if block == graph.exit else graph.successors[block]:
            if live_in[target] >> place & 1:
                return True
        return False

    @property
    def live_on_entry(self) -> list[int]:
        """The registers that may be read before they are completely written, parameters included."""
        first = self.live_in[0] if self.live_in else 0
        return [register for register, place in self.places.items() if first >> place & 1]


@incremental_fact
def ambiguous_registers(
    function: Function, earlier: Previous[AmbiguousRegisters] | None
) -> AmbiguousRegisters:
    """The ambiguous registers of `function`."""
    graph = cfg(function).graph
    summaries = block_summaries(function)
    if earlier is not None:
        known = _updated(function, graph, summaries, earlier.value)
        if known is not None:
            return known
    if graph is STRAIGHT and not summaries[0].exposed and not function.body.returns:
        return _NONE_IN_STRAIGHT
    at_exit = _NO_REGISTERS
    if function.body.returns and graph.exit in graph.reached:
        at_exit = returned(function)
    crossing, registers = _crossing(function, summaries, at_exit)
    live_in = _live_in(graph, registers, summaries, at_exit)
    return AmbiguousRegisters(graph, crossing, registers, live_in, summaries)


def _crossing(
    function: Function,
    summaries: list[BlockSummary],
    at_exit: frozenset[int],
    among: set[int] | None = None,
) -> tuple[frozenset[int], list[int]]:
    """The registers that some block reads before it has completely written them, and the ambiguous ones,
    among some or all.
    """
    order, subtrees = cfg(function).reverse_postorder, dominance(function).subtrees
    return crossing_registers(order, summaries, at_exit, subtrees, among, instructions(function).count)


def _updated(
    function: Function, graph: Graph, summaries: list[BlockSummary], before: AmbiguousRegisters
) -> AmbiguousRegisters | None:
    """The registers after an edit of a few blocks; None if any register that these read or write otherwise
    than before is, or was, ambiguous.
    """
    if graph is STRAIGHT or graph is not before.graph or function.body.returns:
        return None
    changed: set[int] = set()
    for one, other in changed_blocks(before.summaries, summaries):
        if not reads_and_writes_alike(one, other):
            changed.update(_differing(one, other))
    if len(changed) > _MOST_CHANGED or not changed.isdisjoint(before.registers):
        return None
    crossing = before.crossing
    if changed:
        more, ambiguous = _crossing(function, summaries, _NO_REGISTERS, changed)
        if ambiguous:
            return None
        crossing = crossing.difference(changed).union(more)
    return before.updated(crossing, summaries)


def _differing(one: BlockSummary, other: BlockSummary) -> set[int]:
    """The registers that two blocks read or write differently."""
    return {
        *set(one.exposed).symmetric_difference(other.exposed),
        *set(one.defined).symmetric_difference(other.defined),
        *one.killed.symmetric_difference(other.killed),
    }


def changed_blocks(
    before: list[BlockSummary], summaries: list[BlockSummary]
) -> list[tuple[BlockSummary, BlockSummary]]:
    """The summaries, before and after an edit, of the blocks that it touched; the graph is the same."""
    return [(one, other) for one, other in zip(before, summaries, strict=True) if one is not other]


def returned(function: Function) -> frozenset[int]:
    """The registers of the return parameters."""
    flow = instructions(function)
    found: set[int] = set()
    for symbol in function.body.returns:
        if isinstance(symbol, Register):
            index = flow.index_of(symbol)
            if index is not None:
                found.add(index)
    return frozenset(found)


_NO_REGISTERS: Final = frozenset[int]()
_NONE_IN_STRAIGHT: Final = AmbiguousRegisters(STRAIGHT, _NO_REGISTERS, [], [], [])
_MOST_CHANGED: Final = 32


def _live_in(
    graph: Graph, registers: list[int], summaries: list[BlockSummary], at_exit: frozenset[int]
) -> list[int]:
    """The registers that are live at the start of each block, as bit sets."""
    if not registers:
        return []
    index = BitIndex(registers)
    size, order = len(graph.successors), graph.reverse_postorder
    exposed, kept = [0] * size, [-1] * size
    for block, mask in zip(order, index.masks([summaries[one].exposed for one in order]), strict=True):
        exposed[block] = mask
    for block, mask in zip(order, index.masks([summaries[one].killed for one in order]), strict=True):
        kept[block] = ~mask
    if at_exit:
        exposed[graph.exit] |= index.mask(at_exit)
    return solve(graph, exposed, kept)
