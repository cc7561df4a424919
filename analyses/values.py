"""The values of registers: which write, or which join of several, each read of a register sees.

1. Every write of a register makes a value. A write after which something remains of what the register
   held (`Step.keeps`) has that earlier value as one of its inputs.
2. Where ways meet on which a register has different values, and it is live or kept, a *join* makes a value
   of them, with one input for each reached predecessor; in block 0 what the register held before is first.
3. Before its first write, the value of a register is one of its own: number *n* for register *n*.
4. The carry (`.cc`) is a value within its block. A carry that is read from elsewhere is not known.
5. Steps that cannot be reached have no values: their reads are -1.

6. Values are numbers. Those that a block makes are next to each other, and keep their numbers for as long as
   the block is not edited, so that what is known of them can be kept: some numbers may stand for nothing.
7. Where the graph is intricate (`dominance.py`), or there are so many registers with so many joins that they
   take more than `most_visited` visits and 4 for each step, no step has values. Kernels of compilers have 6
   joins for each block at most.

This is static single assignment form; joins are placed as in Cytron et al. (1991), pruned by liveness.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from analyses.cfg import Block, Cfg, cfg
from analyses.contents import Content, contents
from analyses.dominance import dominance, most_visited
from analyses.liveness import liveness
from analyses.local_values import NONE as NONE
from analyses.local_values import LocalValues, local_values
from analyses.local_values import StepValues as StepValues
from analyses.steps import Steps, steps
from ptx_lsp.facts import Earlier, Memory, lasting_fact
from ptx_lsp.model.function import Function

_MOST_FREE: Final = 2
_SPARE: Final = 1_000
_VISITS_OF_STEP: Final = 4


class Join(NamedTuple):
    """A value made where ways meet, of its `inputs`."""

    value: int
    register: int
    block: int
    inputs: tuple[int, ...]


@dataclass(frozen=True)
class Values:
    """The values of a function. They are numbers."""

    steps: Steps
    cfg: Cfg
    of: tuple[StepValues, ...]
    """For each step its values."""
    joins: dict[int, Join]
    """The joins, by their values."""
    joins_of: tuple[tuple[Join, ...], ...]
    """For each block the joins at its beginning."""
    blocks: tuple[BlockValues, ...]
    numbers: Numbers
    is_known: bool
    """Whether there are values at all (7)."""

    @property
    def limit(self) -> int:
        """All values are below it."""
        return self.numbers.limit

    def origin(self, value: int) -> int:
        """The step that makes a value; -1 for those of joins and those that registers have before they are
        written.
        """
        block = self._makers[value]
        return NONE if block < 0 else self.cfg.blocks[block].first + self.blocks[block].made_by(value)[1]

    def register(self, value: int) -> int:
        """The register that holds a value; -1 for carries."""
        if self.is_initial(value):
            return value
        block = self._makers[value]
        return self.joins[value].register if block < 0 else self.blocks[block].made_by(value)[0]

    def is_initial(self, value: int) -> bool:
        """Whether it is what a register holds before it is written."""
        return value < len(self.steps.registers)

    def block_of(self, value: int) -> int:
        """The block that a value is made in; 0 for what a register holds before."""
        block = self._makers[value]
        if block >= 0:
            return block
        join = self.joins.get(value)
        return join.block if join is not None else 0

    @cached_property
    def _makers(self) -> list[int]:
        """Of each value the block whose steps make it."""
        found = [NONE] * self.limit
        for number, block in enumerate(self.blocks):
            found[block.first : block.first + block.made] = [number] * block.made
        return found


class BlockValues:
    """The values of the steps of one block; the same object for as long as it is the same block with the same
    values. Those that it makes are `first` and on, those that it enters with are `entered`.
    """

    __slots__ = ("_local", "entered", "first", "made", "of")

    def __init__(self, local: LocalValues, first: int, entered: tuple[int, ...] | None) -> None:
        self.first = first
        self.entered = entered or ()
        self.made = len(local.made) if entered is not None else 0
        self.of = local.nowhere() if entered is None else local.at(first, entered)
        self._local = local

    def made_by(self, value: int) -> tuple[int, int]:
        """The register of a value that the block makes, and the step, counted from the first of the block."""
        return self._local.made[value - self.first]


class Numbers:
    """Which numbers values have. They stay until too many stand for nothing."""

    def __init__(self, registers: int) -> None:
        self.registers = registers
        self.limit = registers
        self.firsts: Memory[Content, int] = Memory()
        self.joins: Memory[tuple[Content, int], int] = Memory()
        self.blocks: Memory[tuple[Content, tuple[int, ...] | None], BlockValues] = Memory()

    @classmethod
    def after(cls, before: Numbers | None, registers: int, in_use: int) -> Numbers:
        """Those of a version with so many values."""
        found = cls(registers)
        if before is None or before.registers != registers:
            return found
        if before.limit > _MOST_FREE * (registers + in_use) + _SPARE:
            return found
        found.limit = before.limit
        found.firsts = Memory(before.firsts)
        found.joins = Memory(before.joins)
        found.blocks = Memory(before.blocks)
        return found

    def first_of(self, content: Content, count: int) -> int:
        """The number of the first of `count` values that a block makes."""
        found = self.firsts.get(content)
        if found is None:
            found = self.firsts.put(content, self.limit)
            self.limit += count
        return found

    def join(self, content: Content, register: int) -> int:
        found = self.joins.get((content, register))
        if found is None:
            found = self.joins.put((content, register), self.limit)
            self.limit += 1
        return found


@lasting_fact
def values(function: Function, earlier: Earlier[Values] | None) -> Values:
    """The values of the registers of `function`."""
    return _Renaming(function, earlier.value.numbers if earlier else None).run()


class _Renaming:
    def __init__(self, function: Function, before: Numbers | None) -> None:
        self.flow = steps(function)
        self.dominance = dominance(function)
        self.cfg = cfg(function)
        self.local = local_values(function)
        self.contents = contents(function).of
        count = len(self.flow.registers)
        self.numbers = Numbers.after(before, count, sum(len(one.made) for one in self.local))
        self.current = list(range(count))
        """Of each register its value at the place of the walk."""
        self.live_in = liveness(function).live_in
        self.joined: list[dict[int, int]] = [{} for _ in self.cfg.blocks]
        """For each block, the registers with a join and the values that they make."""
        self.inputs: dict[int, list[int]] = {}
        self.blocks: list[BlockValues] = []

    def run(self) -> Values:
        is_known = not self.dominance.is_too_complex and self.place_joins()
        if not is_known:
            self.joined = [{} for _ in self.cfg.blocks]
        found = self.rename() if is_known else {}
        self.blocks = [
            found.get(block.number) or self.block_values(block.number, None)
            for block in self.cfg.blocks
        ]
        joins_of = tuple(
            tuple(
                Join(value, register, block.number, tuple(self.inputs[value]))
                for register, value in self.joined[block.number].items()
            )
            if self.joined[block.number]
            else ()
            for block in self.cfg.blocks
        )
        return Values(
            self.flow, self.cfg, tuple([one for block in self.blocks for one in block.of]),
            {join.value: join for joins in joins_of for join in joins},
            joins_of, tuple(self.blocks), self.numbers, is_known,
        )

    # -- joins ----------------------------------------------------------------------------------

    def place_joins(self) -> bool:
        """Whether there are few enough."""
        left = most_visited(len(self.cfg.blocks)) + _VISITS_OF_STEP * len(self.flow.steps)
        frontier = self.dominance.frontiers
        writers: dict[int, list[int]] = {}
        kept = set[int]().union(*(one.kept for one in self.local))
        wanted = kept.union(*self.live_in)
        for block in self.cfg.order:
            for register, _ in self.local[block].last:
                if register in wanted:
                    writers.setdefault(register, []).append(block)
        for register, blocks in writers.items():
            waiting = list(blocks)
            while waiting:
                blocks_behind = frontier[waiting.pop()]
                left -= len(blocks_behind)
                if left < 0:
                    return False
                for block in blocks_behind:
                    if register in self.joined[block]:
                        continue
                    if register in self.live_in[block] or register in kept:
                        value = self.numbers.join(self.contents[block], register)
                        self.joined[block][register] = value
                        self.inputs[value] = [register] if block == 0 else []
                        waiting.append(block)
        return True

    # -- names ----------------------------------------------------------------------------------

    def rename(self) -> dict[int, BlockValues]:
        """A walk of the dominator tree; what a block changes is undone when the walk leaves it."""
        below = self.dominance.below
        found: dict[int, BlockValues] = {}
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
            found[block] = self.block(self.cfg.blocks[block], undo)
            path.extend((lower, False, 0) for lower in below[block])
        return found

    def block(self, block: Block, undo: list[tuple[int, int]]) -> BlockValues:
        current = self.current
        for register, value in self.joined[block.number].items():
            undo.append((register, current[register]))
            current[register] = value
        local = self.local[block.number]
        found = self.block_values(
            block.number, tuple(map(current.__getitem__, local.entries))
        )
        for register, index in local.last:
            undo.append((register, current[register]))
            current[register] = found.first + index
        for target in block.successors:
            for register, value in self.joined[target].items():
                self.inputs[value].append(current[register])
        return found

    def block_values(self, block: int, entered: tuple[int, ...] | None) -> BlockValues:
        content, local = self.contents[block], self.local[block]
        known = self.numbers.blocks.get((content, entered))
        if known is not None:
            return known
        first = self.numbers.first_of(content, len(local.made))
        return self.numbers.blocks.put((content, entered), BlockValues(local, first, entered))
