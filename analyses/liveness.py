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

from collections.abc import Iterator, Set
from dataclasses import dataclass

from analyses.cfg import Block, Cfg, cfg
from analyses.steps import Step, Steps, steps
from ptx_lsp.facts import fact
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Register


@dataclass(frozen=True)
class Liveness:
    """Registers are numbers, see `Steps.registers`; of each block its live ones at both ends."""

    steps: Steps
    cfg: Cfg
    live_in: tuple[frozenset[int], ...]
    live_out: tuple[frozenset[int], ...]
    kills: tuple[frozenset[int], ...]
    """For each step, the registers whose lives begin there."""
    unborn: tuple[dict[int, int], ...]
    """For each block, what no way to it has written, with the first step that does; past its end if none."""
    exposed: frozenset[int]
    """What may be read before anything has written all of it, parameters included."""

    def backward(self, block: int) -> Iterator[tuple[Step, set[int]]]:
        """The steps of `block` from last to first, each with what is live after it.

        The set is the same one all the time, and changes as the iteration goes on.
        """
        live = set(self.live_out[block])
        for number in reversed(self.cfg.blocks[block].steps):
            step = self.steps.steps[number]
            yield step, live
            self._step_back(block, step, live)

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
        if unborn:
            live.difference_update([one for one in live if unborn.get(one, -1) >= step.number])


@fact
def liveness(function: Function) -> Liveness:
    """Which registers of `function` are live where."""
    flow, graph = steps(function), cfg(function)
    returned = frozenset(
        number
        for symbol in function.body.returns
        if isinstance(symbol, Register) and (number := flow.number(symbol)) is not None
    )
    kills = [frozenset(step.writes).difference(step.keeps) for step in flow.steps]
    live_in = _live_in(flow, graph, kills, returned)
    live_out = [set[int]().union(*(live_in[b] for b in block.successors)) for block in graph.blocks]
    live_out[graph.exit] |= returned
    exposed = frozenset(live_in[0])
    unborn = _unborn(flow, graph, live_in)
    for block, begins in zip(graph.blocks, unborn, strict=True):
        for number in block.steps if begins else ():
            keeps = flow.steps[number].keeps
            kills[number] |= {one for one in keeps if begins.get(one) == number}
        live_in[block.number] -= begins.keys()
        live_out[block.number] -= {one for one, at in begins.items() if at >= block.end}
    return Liveness(
        flow, graph, tuple(map(frozenset, live_in)), tuple(map(frozenset, live_out)), tuple(kills),
        tuple(unborn), exposed,
    )


def _live_in(
    flow: Steps, graph: Cfg, kills: list[frozenset[int]], returned: frozenset[int]
) -> list[set[int]]:
    live_in: list[set[int]] = []
    killed: list[set[int]] = []
    for block in graph.blocks:
        live: set[int] = set()
        dead: set[int] = set()
        for number in reversed(block.steps):
            dead |= kills[number]
            _before(flow.steps[number], kills[number], live)
        live_in.append(live)
        killed.append(dead)
    live_in[graph.exit] |= returned
    waiting = [block.number for block in graph.blocks]
    queued = set(waiting)
    while waiting:
        number = waiting.pop()
        queued.discard(number)
        block = graph.blocks[number]
        known = live_in[number]
        size = len(known)
        for target in block.successors:
            known |= live_in[target] - killed[number]
        if len(known) > size or number == graph.exit:
            for source in block.predecessors:
                if source not in queued:
                    queued.add(source)
                    waiting.append(source)
    return live_in


def _before(step: Step, kills: frozenset[int], live: set[int]) -> None:
    live -= kills
    live.update(step.reads)
    if step.guard >= 0:
        live.add(step.guard)


def _unborn(flow: Steps, graph: Cfg, live_in: list[set[int]]) -> list[dict[int, int]]:
    """For each block, what no way to it has written, though it would be live, see `Liveness.unborn`."""
    unreached = [block.number for block in graph.blocks if block.number not in graph.reached]
    suspects = live_in[0].union(*(live_in[number] for number in unreached))
    if not suspects:  # whatever is live at some place has been written on some way there
        return [{} for _ in graph.blocks]
    written = _written(flow, graph, suspects)
    return [
        _first_writes(flow, block, suspects - known)
        for block, known in zip(graph.blocks, written, strict=True)
    ]


def _written(flow: Steps, graph: Cfg, suspects: Set[int]) -> list[set[int]]:
    """For each block, those of `suspects` that some way to it has written."""
    writes = [
        {one for number in block.steps for one in flow.steps[number].writes if one in suspects}
        for block in graph.blocks
    ]
    found: list[set[int]] = [set() for _ in graph.blocks]
    waiting = [block.number for block in graph.blocks]
    while waiting:
        number = waiting.pop()
        after = found[number] | writes[number]
        for target in graph.blocks[number].successors:
            if not after <= found[target]:
                found[target] |= after
                waiting.append(target)
    return found


def _first_writes(flow: Steps, block: Block, registers: Set[int]) -> dict[int, int]:
    """For each of `registers` the first step of `block` that writes it; the end of the block if none."""
    if not registers:
        return {}
    found = dict.fromkeys(registers, block.end)
    for number in reversed(block.steps):
        found.update((one, number) for one in flow.steps[number].writes if one in registers)
    return found
