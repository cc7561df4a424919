"""Which registers are live where: those whose value may still be read.

1. A register is live before a step that reads it (its guard included), and before a step after which it
   is live unless that step writes all of it.
2. A register of which something remains when it is written (`Step.keeps`) is not made dead by that.
3. At the end of a block, live is what is live at the beginning of some successor.
4. At `exit`, the registers of the function's return parameters are live.
5. All that only where some way leads on which the register was written: what has no value yet does not
   live. Code that is not reached counts as if each of its blocks were entered.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple, TypeAlias

from analyses.bits import NOTHING, Bits
from analyses.block_sets import BlockSet, BlockSets
from analyses.cfg import Block, Cfg, cfg
from analyses.contents import block_fact, contents
from analyses.steps import Step, Steps, steps
from ptx_lsp.facts import Earlier, lasting_fact
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Register

LiveBehind: TypeAlias = tuple[frozenset[int], tuple[tuple[int, int], ...]]


@dataclass(frozen=True)
class Liveness:
    """Registers are numbers, see `Steps.registers`; of each block its live ones at both ends."""

    steps: Steps
    cfg: Cfg
    live_in: tuple[frozenset[int], ...]
    live_out: tuple[frozenset[int], ...]
    kills: tuple[Collection[int], ...]
    """For each step, the registers whose lives begin there."""
    unborn: tuple[dict[int, int], ...]
    """For each block, what no way to it has written, with the first step that does; past its end if none."""
    exposed: frozenset[int]
    """What may be read before anything has written all of it, parameters included."""
    read_first: tuple[frozenset[int], ...]
    """For each block what it reads before it writes all of it."""
    written: tuple[frozenset[int], ...]
    """For each block what it writes."""
    sets: BlockSets

    def backward(self, block: int) -> Iterator[tuple[Step, set[int]]]:
        """The steps of `block` from last to first, each with what is live after it.

        The set is the same one all the time, and changes as the iteration goes on.
        """
        live = set(self.live_out[block])
        for number in reversed(self.cfg.blocks[block].steps):
            step = self.steps.steps[number]
            yield step, live
            self._step_back(block, step, live)

    def behind(self, block: int) -> LiveBehind:
        """What is live behind a block, and what is unborn in it, by the steps counted from its first: with
        its steps this tells what is live anywhere in it.
        """
        first, end = self.cfg.blocks[block].first, self.cfg.blocks[block].end
        late = [
            (one, at - first)
            for one, at in self.unborn[block].items()
            if at < end or one in self.read_first[block]
        ]
        return self.live_out[block], tuple(late)

    def before(self, number: int) -> frozenset[int]:
        """What is live before step `number`."""
        block = self.cfg.block_of[number]
        for step, live in self.backward(block):
            if step.number == number:
                self._step_back(block, step, live)
                return frozenset(live)
        raise IndexError(number)

    def after(self, number: int) -> frozenset[int]:
        """What is live after step `number`."""
        block = self.cfg.block_of[number]
        for step, live in self.backward(block):
            if step.number == number:
                return frozenset(live)
        raise IndexError(number)

    def _step_back(self, block: int, step: Step, live: set[int]) -> None:
        _before(step, self.kills[step.number], live)
        unborn = self.unborn[block]
        if len(unborn) > len(live):
            live.difference_update([one for one in live if unborn.get(one, -1) >= step.number])
        elif unborn:
            live.difference_update([one for one, at in unborn.items() if at >= step.number])


@lasting_fact
def liveness(function: Function, earlier: Earlier[Liveness] | None) -> Liveness:
    """Which registers of `function` are live where."""
    flow, graph, lives = steps(function), cfg(function), _lives(function)
    sets = _sets(function)
    unborn = _unborn(function, graph, sets)
    kills = [one for block in lives for one in block.kills]
    for block, begins in zip(graph.blocks, unborn, strict=True):
        for number in block.steps if begins else ():
            born = [one for one in flow.steps[number].keeps if begins.get(one) == number]
            if born:
                kills[number] = frozenset([*kills[number], *born])
    before = earlier.value if earlier else None
    if before is not None and before.sets.live_in is sets.live_in and not any((*unborn, *before.unborn)):
        live_in, live_out = before.live_in, before.live_out
    else:
        live_in, live_out = _ends(graph, sets, unborn)
    entered = sets.numbers_of(sets.live_in[0])
    return Liveness(
        flow, graph, live_in, live_out, tuple(kills), tuple(unborn), entered,
        tuple([one.exposed for one in lives]), tuple([one.written for one in lives]), sets,
    )


def _ends(
    graph: Cfg, sets: BlockSets, unborn: list[dict[int, int]]
) -> tuple[tuple[frozenset[int], ...], tuple[frozenset[int], ...]]:
    """What is live where each block begins, and where it ends."""
    live_in = sets.live_in
    ins: list[frozenset[int]] = []
    outs: list[frozenset[int]] = []
    for block, begins in zip(graph.blocks, unborn, strict=True):
        out = live_in[graph.exit] if block.number == graph.exit else 0
        for target in block.successors:
            out |= live_in[target]
        live = live_in[block.number]
        if begins:  # their bits are taken away first, so that the sets are mostly known
            live &= ~sets.bits.of(begins)
            out &= ~sets.bits.of([one for one, at in begins.items() if at >= block.end])
        ins.append(sets.numbers_of(live))
        outs.append(sets.numbers_of(out))
    return tuple(ins), tuple(outs)


class _Lives(NamedTuple):
    """Of a block what it reads before it writes all of it, what it writes, what it writes all of, and of each
    step its `kills`.
    """

    exposed: frozenset[int]
    written: frozenset[int]
    killed: frozenset[int]
    kills: tuple[Collection[int], ...]


@block_fact
def _lives(_: Function, block: Sequence[Step]) -> _Lives:
    kills = tuple([_kills(step) for step in block])
    live: set[int] = set()
    dead: set[int] = set()
    for step, killed in zip(reversed(block), reversed(kills), strict=True):
        dead.update(killed)
        _before(step, killed, live)
    written = dead.union(*[step.keeps for step in block])
    return _Lives(
        frozenset(live) or NOTHING, frozenset(written) or NOTHING, frozenset(dead) or NOTHING, kills
    )


@lasting_fact
def _sets(function: Function, earlier: Earlier[BlockSets] | None) -> BlockSets:
    blocks = [
        BlockSet(content, one.exposed, one.killed)
        for content, one in zip(contents(function).of, _lives(function), strict=True)
    ]
    return BlockSets(cfg(function).graph, blocks, _returned(function), earlier.value if earlier else None)


def _returned(function: Function) -> frozenset[int]:
    """The registers of the return parameters."""
    flow = steps(function)
    return frozenset(
        number
        for symbol in function.body.returns
        if isinstance(symbol, Register) and (number := flow.number(symbol)) is not None
    )


def _kills(step: Step) -> Collection[int]:
    """The registers that a step writes all of, each once. A set of one would take four times the memory."""
    if len(step.writes) < 2 and not step.keeps:
        return step.writes
    return frozenset(step.writes).difference(step.keeps) or NOTHING


def _before(step: Step, kills: Collection[int], live: set[int]) -> None:
    live.difference_update(kills)
    live.update(step.reads)
    if step.guard >= 0:
        live.add(step.guard)


def _unborn(function: Function, graph: Cfg, sets: BlockSets) -> list[dict[int, int]]:
    """For each block, what no way to it has written, though it would be live, see `Liveness.unborn`."""
    bits, live_in = sets.bits, sets.live_in
    suspects = live_in[0]
    for block in graph.blocks:
        if block.number not in graph.reached:
            suspects |= live_in[block.number]
    if not suspects:  # whatever is live at some place has been written on some way there
        return [{} for _ in graph.blocks]
    written = _written(function, graph, bits, suspects)
    flow = steps(function)
    found: list[dict[int, int]] = []
    for block, lives, known in zip(graph.blocks, _lives(function), written, strict=True):
        registers = sets.numbers_of(live_in[block.number] & suspects & ~known)
        if registers.isdisjoint(lives.written):
            found.append(dict.fromkeys(registers, block.end))
        else:
            found.append(_first_writes(flow, block, registers))
    return found


def _written(function: Function, graph: Cfg, bits: Bits, suspects: int) -> list[int]:
    """For each block, those of `suspects` that some way to it has written."""
    named = bits.numbers_of(suspects)
    writes = [bits.of(one.written & named) for one in _lives(function)]
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


def _first_writes(flow: Steps, block: Block, registers: frozenset[int]) -> dict[int, int]:
    """For each of `registers` the first step of `block` that writes it; the end of the block if none."""
    found = dict.fromkeys(registers, block.end)
    for step in reversed(flow.steps[block.first : block.end]):
        for register in step.writes:
            if register in registers:
                found[register] = step.number
    return found
