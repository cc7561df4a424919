"""Which registers are live where: those whose value may still be read.

1. A register is live before a step that reads it (its guard included), and before a step after which it
   is live unless that step writes all of it.
2. A register of which something remains when it is written (`Step.keeps`) is not made dead by that.
   The first such write still begins its life: before it, the register is live only where some way leads
   there on which it was written.
3. At the end of a block, live is what is live at the beginning of some successor.
4. At `exit`, the registers of the function's return parameters are live.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass

from analyses.cfg import Cfg, cfg
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

    def backward(self, block: int) -> Iterator[tuple[Step, set[int]]]:
        """The steps of `block` from last to first, each with what is live after it.

        The set is the same one all the time, and changes as the iteration goes on.
        """
        found = self.cfg.blocks[block]
        live = set(self.live_out[block])
        for number in range(found.end - 1, found.first - 1, -1):
            step = self.steps.steps[number]
            yield step, live
            _before(step, self.kills[number], live)

    def before(self, number: int) -> frozenset[int]:
        """What is live before step `number`."""
        block = self.cfg.block_of[number]
        for step, live in self.backward(block):
            if step.number == number:
                _before(step, self.kills[number], live)
                return frozenset(live)
        raise IndexError(number)

    def after(self, number: int) -> frozenset[int]:
        """What is live after step `number`."""
        block = self.cfg.block_of[number]
        for step, live in self.backward(block):
            if step.number == number:
                return frozenset(live)
        raise IndexError(number)


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
    suspects = frozenset(live_in[0])  # without a write on some way
    written = _written(flow, graph, suspects) if suspects else None
    if written is not None:
        for step in flow.steps:
            begins = suspects.intersection(step.keeps)
            if begins:
                kills[step.number] |= _unwritten(flow, graph, written, step, begins)
        live_in = _live_in(flow, graph, kills, returned)
        live_in = [
            live - (suspects - may) for live, may in zip(live_in, written, strict=True)
        ]
    live_out = [
        frozenset[int]().union(*(live_in[target] for target in block.successors))
        for block in graph.blocks
    ]
    if written is not None:
        for block in graph.blocks:
            late = {one for number in block.steps for one in flow.steps[number].writes}
            live_out[block.number] -= suspects - written[block.number] - late
    return Liveness(flow, graph, tuple(map(frozenset, live_in)), tuple(live_out), tuple(kills))


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


def _unwritten(
    flow: Steps, graph: Cfg, written: list[set[int]], step: Step, among: frozenset[int]
) -> frozenset[int]:
    """Those of `among` that no way has written before `step`."""
    block = graph.blocks[graph.block_of[step.number]]
    earlier = {
        one for number in range(block.first, step.number) for one in flow.steps[number].writes
    }
    return among - written[block.number] - earlier
