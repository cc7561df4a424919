"""Liveness: which registers hold a value that may still be read, at each instruction.

1. A register is live before an instruction that reads it (its guard included). If it is live after an
   instruction, it is live before it unless the instruction writes all of it.
2. A partial definition (`InstructionInfo.partial_defs`) does not end the live range of the previous value.
3. A register is live at the end of a block if it is live at the start of some successor.
4. At `exit`, the registers of the function's return parameters are live.
5. A register is live only where some path has written it: a register without a value is not live. Each
   unreachable block counts as entered.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from heapq import heappop, heappush

from ptx_lsp.analyses._flow import BlockSummary
from ptx_lsp.analyses.bitset import EMPTY, BitIndex
from ptx_lsp.analyses.control_flow.block_identity import block_fact, block_identities
from ptx_lsp.analyses.control_flow.cfg import BasicBlock, Cfg, cfg
from ptx_lsp.analyses.dataflow.ambiguous_registers import returned
from ptx_lsp.analyses.dataflow.bitvector_dataflow import GenKill, LiveSets
from ptx_lsp.analyses.dataflow.block_summary import block_summaries
from ptx_lsp.analyses.instructions.uses_and_defs import (
    FunctionInstructions,
    InstructionInfo,
    instructions,
)
from ptx_lsp.facts import Previous, incremental_fact
from ptx_lsp.model.function import Function
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final, TypeAlias

LiveAtEnd: TypeAlias = tuple[frozenset[int], tuple[tuple[int, int], ...]]


class Liveness:
    """The live registers at both ends of each block. Registers are indices, see
    `FunctionInstructions.registers`.
    """

    __slots__ = (
        "cfg", "instructions", "kills", "live_in", "live_on_entry", "live_out", "not_yet_defined",
        "sets", "summaries",
    )  # fmt: skip

    def __init__(
        self,
        instructions: FunctionInstructions,
        cfg: Cfg,
        live_in: tuple[frozenset[int], ...],
        live_out: tuple[frozenset[int], ...],
        kills: tuple[Collection[int], ...],
        not_yet_defined: tuple[dict[int, int], ...],
        live_on_entry: frozenset[int],
        summaries: list[BlockSummary],
        sets: LiveSets,
    ) -> None:
        self.instructions: Final = instructions
        self.cfg: Final = cfg
        self.live_in: Final = live_in
        self.live_out: Final = live_out
        self.kills: Final = kills
        """For each instruction, the registers whose live ranges begin there."""
        self.not_yet_defined: Final = not_yet_defined
        """For each block, the registers that no path to it has written, with the first instruction that does;
        past its end if none.
        """
        self.live_on_entry: Final = live_on_entry
        """The registers that may be read before they are completely written, parameters included."""
        self.summaries: Final = summaries
        self.sets: Final = sets

    def backward(self, block: int) -> Iterator[tuple[InstructionInfo, set[int]]]:
        """The instructions of `block` from last to first, each with the registers live after it.

        The set is reused between iterations: copy it to keep it.
        """
        live = set(self.live_out[block])
        for number in reversed(self.cfg.blocks[block].instructions):
            step = self.instructions.info(number)
            yield step, live
            self.step_back(block, step.number, live)

    def live_at_end(self, block: int) -> LiveAtEnd:
        """The registers live at the end of a block, and those not yet defined in it, by the instruction
        counted from its first. Together with the block's instructions, they determine the live registers
        anywhere in it.
        """
        first, end = self.cfg.blocks[block].first, self.cfg.blocks[block].end
        late = [
            (one, at - first)
            for one, at in self.not_yet_defined[block].items()
            if at < end or one in self.summaries[block].exposed
        ]
        return self.live_out[block], tuple(late)

    def before(self, number: int) -> frozenset[int]:
        """The registers live before instruction `number`."""
        block = self.cfg.block_of[number]
        for step, live in self.backward(block):
            if step.number == number:
                self.step_back(block, step.number, live)
                return frozenset(live)
        raise IndexError(number)

    def after(self, number: int) -> frozenset[int]:
        """The registers live after instruction `number`."""
        block = self.cfg.block_of[number]
        for step, live in self.backward(block):
            if step.number == number:
                return frozenset(live)
        raise IndexError(number)

    def step_back(self, block: int, number: int, live: set[int]) -> None:
        """Changes the registers live after an instruction of `block` to those live before it."""
        flow = self.instructions
        live.difference_update(self.kills[number])
        live.update(flow.uses[number])
        if flow.guards[number] >= 0:
            live.add(flow.guards[number])
        not_yet_defined = self.not_yet_defined[block]
        if len(not_yet_defined) > len(live):
            live.difference_update([one for one in live if not_yet_defined.get(one, -1) >= number])
        elif not_yet_defined:
            live.difference_update([one for one, at in not_yet_defined.items() if at >= number])


@incremental_fact
def liveness(function: Function, earlier: Previous[Liveness] | None) -> Liveness:
    """The live registers of `function`."""
    flow, graph = instructions(function), cfg(function)
    sets = _sets(function)
    not_yet_defined = _not_yet_defined(function, graph, sets)
    kills = [one for block in _kills_of_blocks(function) for one in block]
    for block, begins in zip(graph.blocks, not_yet_defined, strict=True):
        for number in block.instructions if begins else ():
            born = [one for one in flow.partial_defs[number] if begins.get(one) == number]
            if born:
                kills[number] = frozenset([*kills[number], *born])
    before = earlier.value if earlier else None
    if (
        before is not None
        and before.sets.live_in is sets.live_in
        and not any((*not_yet_defined, *before.not_yet_defined))
    ):
        live_in, live_out = before.live_in, before.live_out
    else:
        live_in, live_out = _live_at_ends(graph, sets, not_yet_defined)
    entered = sets.members(sets.live_in[0])
    return Liveness(
        flow, graph, live_in, live_out, tuple(kills), tuple(not_yet_defined), entered,
        block_summaries(function), sets,
    )


def _live_at_ends(
    graph: Cfg, sets: LiveSets, not_yet_defined: list[dict[int, int]]
) -> tuple[tuple[frozenset[int], ...], tuple[frozenset[int], ...]]:
    """The registers live at the start and at the end of each block."""
    live_in = sets.live_in
    ins: list[frozenset[int]] = []
    outs: list[frozenset[int]] = []
    for block, begins in zip(graph.blocks, not_yet_defined, strict=True):
        out = live_in[graph.exit] if block.number == graph.exit else 0
        for target in block.successors:
            out |= live_in[target]
        live = live_in[block.number]
        if begins:  # their bits are removed first, so that most sets are already known
            live &= ~sets.bits.mask(begins)
            out &= ~sets.bits.mask([one for one, at in begins.items() if at >= block.end])
        ins.append(sets.members(live))
        outs.append(sets.members(out))
    return tuple(ins), tuple(outs)


@block_fact
def _kills_of_blocks(flow: FunctionInstructions, first: int, end: int) -> list[Collection[int]]:
    """The `kills` of each instruction of a block."""
    return [_kills(flow.defs[number], flow.partial_defs[number]) for number in range(first, end)]


@incremental_fact
def _sets(function: Function, earlier: Previous[LiveSets] | None) -> LiveSets:
    summaries = block_summaries(function)
    exposed, killed = [one.exposed for one in summaries], [one.killed for one in summaries]
    blocks = GenKill(block_identities(function).blocks, exposed, killed)
    return LiveSets(cfg(function).graph, blocks, returned(function), earlier.value if earlier else None)


def _kills(defs: tuple[int, ...], partial_defs: tuple[int, ...]) -> Collection[int]:
    """The registers that an instruction writes completely, without duplicates. A set of one would take four
    times the memory.
    """
    if len(defs) < 2 and not partial_defs:
        return defs
    return frozenset(defs).difference(partial_defs) or EMPTY


def _not_yet_defined(function: Function, graph: Cfg, sets: LiveSets) -> list[dict[int, int]]:
    """For each block, the live registers that no path to it has written, see `Liveness.not_yet_defined`."""
    bits, live_in = sets.bits, sets.live_in
    suspects = live_in[0]
    for block in graph.blocks:
        if block.number not in graph.reached:
            suspects |= live_in[block.number]
    if not suspects:  # a register that is live at some point has been written on some path to it
        return [{} for _ in graph.blocks]
    written = _written(function, graph, bits, suspects)
    flow = instructions(function)
    found: list[dict[int, int]] = []
    for block, summary, known in zip(graph.blocks, block_summaries(function), written, strict=True):
        registers = sets.members(live_in[block.number] & suspects & ~known)
        if registers.isdisjoint(summary.defined):
            found.append(dict.fromkeys(registers, block.end))
        else:
            found.append(_first_writes(flow, block, registers))
    return found


def _written(function: Function, graph: Cfg, bits: BitIndex, suspects: int) -> list[int]:
    """The registers among `suspects` that some path to each block has written."""
    named = bits.members(suspects)
    writes = [bits.mask(named.intersection(one.defined)) for one in block_summaries(function)]
    found = [0] * len(graph.blocks)
    rank = graph.graph.ranks
    block_at = sorted(range(len(rank)), key=rank.__getitem__)
    waiting = list(range(len(block_at)))
    queued = set(waiting)
    while waiting:
        place = heappop(waiting)
        queued.discard(place)
        number = block_at[place]
        after = found[number] | writes[number]
        for target in graph.blocks[number].successors:
            if after & ~found[target]:
                found[target] |= after
                if rank[target] not in queued:
                    queued.add(rank[target])
                    heappush(waiting, rank[target])
    return found


def _first_writes(flow: FunctionInstructions, block: BasicBlock, registers: frozenset[int]) -> dict[int, int]:
    """The first instruction of `block` that writes each of `registers`; the end of the block if none."""
    found = dict.fromkeys(registers, block.end)
    for number in range(block.end - 1, block.first - 1, -1):
        for register in flow.defs[number]:
            if register in registers:
                found[register] = number
    return found
