"""The values of registers: which write, or which join of several, each read of a register sees.

1. Every write of a register makes a value. A write after which something remains of what the register
   held (`Step.keeps`) has that earlier value as one of its inputs.
2. Where ways meet on which a register has different values, and it is live or kept, a *join* makes a value
   of them, with one input for each reached predecessor; in block 0 what the register held before is first.
3. Before its first write, the value of a register is one of its own: number *n* for register *n*.
4. The carry (`.cc`) is a value within its block. A carry that is read from elsewhere is not known.
5. Steps that cannot be reached have no values: their reads are -1.

This is static single assignment form; joins are placed as in Cytron et al. (1991), pruned by liveness.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from analyses.cfg import Cfg, cfg
from analyses.dominance import dominance
from analyses.liveness import liveness
from analyses.steps import Step, Steps, steps
from ptx_lsp.facts import fact
from ptx_lsp.model.function import Function

NONE = -1
_CARRYING = frozenset({"addc", "subc", "madc"})


class Join(NamedTuple):
    """A value made where ways meet, of its `inputs`."""

    value: int
    register: int
    block: int
    inputs: tuple[int, ...]


class StepValues(NamedTuple):
    """The values of one step, as the registers in `Step`; `carry` is the one that it reads or makes.

    `reads`, `keeps` and `writes` are in the order of the registers in `Step`.
    """

    reads: tuple[int, ...]
    keeps: tuple[int, ...]
    writes: tuple[int, ...]
    guard: int
    carry_in: int
    carry_out: int


@dataclass(frozen=True)
class Values:
    """The values of a function. They are numbers; `origins` tells of each the step that makes it, and is
    -1 for those of joins and for those that registers have before they are written.
    """

    steps: Steps
    cfg: Cfg
    of: tuple[StepValues, ...]
    """For each step its values."""
    joins: dict[int, Join]
    """The joins, by their values."""
    joins_of: tuple[tuple[Join, ...], ...]
    """For each block the joins at its beginning."""
    origins: tuple[int, ...]
    registers: tuple[int, ...]
    """Of each value its register; -1 for carries."""

    def is_initial(self, value: int) -> bool:
        """Whether it is what a register holds before it is written."""
        return value < len(self.steps.registers)

    def block_of(self, value: int) -> int:
        """The block that a value is made in; 0 for what a register holds before."""
        origin = self.origins[value]
        if origin >= 0:
            return self.cfg.block_of[origin]
        join = self.joins.get(value)
        return join.block if join is not None else 0


@fact
def values(function: Function) -> Values:
    """The values of the registers of `function`."""
    return _Renaming(function).run()


class _Renaming:
    def __init__(self, function: Function) -> None:
        self.flow = steps(function)
        self.dominance = dominance(function)
        self.cfg = cfg(function)
        count = len(self.flow.registers)
        self.current = list(range(count))
        """Of each register its value at the place of the walk."""
        self.registers = list(range(count))
        self.origins = [NONE] * count
        nothing = StepValues((), (), (), NONE, NONE, NONE)
        self.of = [
            nothing._replace(
                reads=(NONE,) * len(step.reads), writes=(NONE,) * len(step.writes),
                keeps=(NONE,) * len(step.keeps),
            )
            if self.cfg.block_of[step.number] not in self.cfg.reached
            else nothing
            for step in self.flow.steps
        ]
        self.live_in = liveness(function).live_in
        self.joined: list[dict[int, int]] = [{} for _ in self.cfg.blocks]
        """For each block, the registers with a join and the values that they make."""
        self.inputs: dict[int, list[int]] = {}

    def run(self) -> Values:
        self.place_joins()
        self.rename()
        joins_of = tuple(
            tuple(
                Join(value, register, block.number, tuple(self.inputs[value]))
                for register, value in self.joined[block.number].items()
            )
            for block in self.cfg.blocks
        )
        return Values(
            self.flow, self.cfg, tuple(self.of),
            {join.value: join for joins in joins_of for join in joins},
            joins_of, tuple(self.origins), tuple(self.registers),
        )

    def new(self, register: int, origin: int) -> int:
        self.registers.append(register)
        self.origins.append(origin)
        return len(self.origins) - 1

    # -- joins ----------------------------------------------------------------------------------

    def place_joins(self) -> None:
        frontier = self.frontiers()
        writers: dict[int, set[int]] = {}
        kept = {register for step in self.flow.steps for register in step.keeps}
        for block in self.cfg.order:
            for number in self.cfg.blocks[block].steps:
                for register in self.flow.steps[number].writes:
                    writers.setdefault(register, set()).add(block)
        for register, blocks in writers.items():
            waiting = list(blocks)
            while waiting:
                for block in frontier[waiting.pop()]:
                    if register in self.joined[block]:
                        continue
                    if register in self.live_in[block] or register in kept:
                        value = self.new(register, NONE)
                        self.joined[block][register] = value
                        self.inputs[value] = [register] if block == 0 else []
                        waiting.append(block)

    def frontiers(self) -> list[set[int]]:
        """For each block, where its dominance ends: the joins behind it."""
        found: list[set[int]] = [set() for _ in self.cfg.blocks]
        immediate = self.dominance.immediate
        for block in self.cfg.order:
            sources = [p for p in self.cfg.blocks[block].predecessors if p in self.cfg.reached]
            if len(sources) < 2 and block != 0:
                continue
            for source in sources:
                while source != immediate[block] and block not in found[source]:
                    found[source].add(block)
                    if source == 0:
                        break
                    source = immediate[source]
        return found

    # -- names ----------------------------------------------------------------------------------

    def rename(self) -> None:
        """A walk of the dominator tree; what a block changes is undone when the walk leaves it."""
        below: list[list[int]] = [[] for _ in self.cfg.blocks]
        for block in reversed(self.cfg.order):
            if self.dominance.immediate[block] >= 0:
                below[self.dominance.immediate[block]].append(block)
        undo: list[tuple[int, int]] = []
        path = [(0, False, 0)]
        while path:
            block, is_left, mark = path.pop()
            if is_left:
                while len(undo) > mark:
                    register, value = undo.pop()
                    self.current[register] = value
                continue
            path.append((block, True, len(undo)))
            self.block(block, undo)
            path.extend((lower, False, 0) for lower in below[block])

    def block(self, number: int, undo: list[tuple[int, int]]) -> None:
        current = self.current
        for register, value in self.joined[number].items():
            undo.append((register, current[register]))
            current[register] = value
        carry = NONE
        block = self.cfg.blocks[number]
        for index in block.steps:
            carry = self.step(self.flow.steps[index], carry, undo)
        for target in block.successors:
            for register, value in self.joined[target].items():
                self.inputs[value].append(current[register])

    def step(self, step: Step, carry: int, undo: list[tuple[int, int]]) -> int:
        current = self.current
        reads = tuple([current[register] for register in step.reads])
        keeps = tuple([current[register] for register in step.keeps]) if step.keeps else ()
        guard = current[step.guard] if step.guard >= 0 else NONE
        carry_in = carry_out = NONE
        spelling = step.spelling
        if spelling.partition(".")[0] in _CARRYING:
            carry_in = carry
        made: list[int] = []
        for register in step.writes:
            undo.append((register, current[register]))
            value = self.new(register, step.number)
            current[register] = value
            made.append(value)
        if ".cc" in spelling:
            carry = carry_out = self.new(NONE, step.number)
        self.of[step.number] = StepValues(reads, keeps, tuple(made), guard, carry_in, carry_out)
        return carry
