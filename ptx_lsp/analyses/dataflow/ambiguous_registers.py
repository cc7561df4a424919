"""Ambiguous registers: those of which some read may see more than one write, or none.

1. A register is *unambiguous* if a single block writes it, completely in the end, and dominates all other
   blocks that read it before they write it. It needs no phi, and it is live at the end of that block if any
   other block reads it. Compilers' output consists mostly of such registers, and of registers that are read
   only in the block that has just written them.
2. Data flow is solved for the other registers that live across blocks: the *ambiguous* ones.
3. Only reachable blocks count. The registers of the return parameters are read at `exit`.
"""

from __future__ import annotations

from ptx_lsp.analyses._flow import BlockSummary
from ptx_lsp.analyses.bitset import BitIndex
from ptx_lsp.analyses.control_flow.cfg import STRAIGHT, Graph, cfg
from ptx_lsp.analyses.control_flow.dominance import Dominance, dominance
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

    __slots__ = ("_bits", "_live_in", "crossing", "graph", "registers", "summaries")

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
        self._bits = BitIndex(registers).bits
        self._live_in = live_in
        self.summaries = summaries

    def updated(self, crossing: frozenset[int], summaries: list[BlockSummary]) -> AmbiguousRegisters:
        """These ambiguous registers, in a function with other `crossing` registers."""
        return AmbiguousRegisters(self.graph, crossing, self.registers, self._live_in, summaries)

    def has_registers_of(self, other: AmbiguousRegisters) -> bool:
        """Whether the same registers are ambiguous, and live at the same places."""
        return self._live_in is other._live_in

    def is_live_in(self, register: int, block: int) -> bool:
        """Whether an ambiguous register may be read after the start of a block, before it is completely
        written.
        """
        bit = self._bits.get(register)
        return bit is not None and self._live_in[block] & bit != 0

    def is_live_out(self, register: int, block: int) -> bool:
        """Whether a register that a block has written may be read after the end of the block."""
        if register not in self.crossing:
            return False
        bit = self._bits.get(register)
        if bit is None:
            return True
        for target in self.graph.successors[block]:
            if self._live_in[target] & bit:
                return True
        return block == self.graph.exit and self._live_in[block] & bit != 0

    @property
    def live_on_entry(self) -> list[int]:
        """The registers that may be read before they are completely written, parameters included."""
        first = self._live_in[0] if self._live_in else 0
        return [register for register, bit in self._bits.items() if first & bit]


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
    readers = _readers(function, graph, summaries)
    if not readers:
        return AmbiguousRegisters(graph, _NO_REGISTERS, [], [], summaries)
    found = _ambiguous(graph, dominance(function), readers, summaries)
    live_in = _live_in(graph, found, readers, summaries)
    return AmbiguousRegisters(graph, frozenset(readers), found, live_in, summaries)


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
        readers: dict[int, list[int]] = {}
        writer: dict[int, int] = {}
        for block in graph.reverse_postorder:
            summary = summaries[block]
            if not changed.isdisjoint(summary.exposed):
                for register in changed.intersection(summary.exposed):
                    readers.setdefault(register, []).append(block)
            if not changed.isdisjoint(summary.defined):
                for register in changed.intersection(summary.defined):
                    writer[register] = -1 if register in writer else block
        if _find_ambiguous(dominance(function), readers, writer, summaries):
            return None
        crossing = crossing.difference(changed).union(readers)
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


def _readers(function: Function, graph: Graph, summaries: list[BlockSummary]) -> dict[int, list[int]]:
    """For each register, the blocks that read it before they have completely written it."""
    found: dict[int, list[int]] = {}
    for block in graph.reverse_postorder:
        for register in summaries[block].exposed:
            blocks = found.get(register)
            if blocks is None:
                found[register] = [block]
            else:
                blocks.append(block)
    if function.body.returns and graph.exit in graph.reached:
        for register in returned(function):
            found.setdefault(register, []).append(graph.exit)
    return found


def _ambiguous(
    graph: Graph, tree: Dominance, readers: dict[int, list[int]], summaries: list[BlockSummary]
) -> list[int]:
    writer: dict[int, int] = {}
    """The only block that writes each of these registers; -1 if there are several."""
    for block in graph.reverse_postorder:
        for register in summaries[block].defined:
            if register in readers:
                writer[register] = -1 if register in writer else block
    return _find_ambiguous(tree, readers, writer, summaries)


def _find_ambiguous(
    tree: Dominance, readers: dict[int, list[int]], writer: dict[int, int], summaries: list[BlockSummary]
) -> list[int]:
    found: list[int] = []
    for register, blocks in readers.items():
        home = writer.get(register, -1)
        if home < 0 or register not in summaries[home].killed:
            found.append(register)
            continue
        for block in blocks:
            if block == home or not tree.dominates(home, block):
                found.append(register)
                break
    found.sort()
    return found


def _live_in(
    graph: Graph, registers: list[int], readers: dict[int, list[int]], summaries: list[BlockSummary]
) -> list[int]:
    """The registers that are live at the start of each block, as bit sets."""
    if not registers:
        return []
    bits = BitIndex(registers).bits
    size = len(graph.successors)
    exposed = [0] * size
    for register, bit in bits.items():
        for block in readers[register]:
            exposed[block] |= bit
    kept = [-1] * size
    for block in graph.reverse_postorder:
        killed = summaries[block].killed
        if killed:
            mask = 0
            for register in killed:
                mask |= bits.get(register, 0)
            kept[block] = ~mask
    return solve(graph, exposed, kept)
