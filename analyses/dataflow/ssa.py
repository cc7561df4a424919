"""Static single assignment (SSA) form: for each read of a register, the definition or phi that it sees.

1. Every write of a register defines a value. A partial definition (`InstructionInfo.partial_defs`) has the
   previous value as one of its inputs.
2. A *phi* merges the different values of a register where paths meet, if the register is live or partially
   defined there. It has one input per reached predecessor. In block 0, the initial value of the register
   comes first.
3. Before its first write, a register has an initial value: number *n* for register *n*.
4. The carry (`.cc`) is a value within its block. A carry that is read from elsewhere is unknown.
5. Unreachable instructions have no values: their uses are -1.

6. Values are numbers. Those that a block defines are consecutive, and keep their numbers as long as the block
   is not edited, so that results about them stay valid. Some numbers may be unused.
7. No instruction has values if the graph is too complex (`dominance.py`), or if placing the phis takes more
   than `visit_limit` visits and 4 per instruction. Compiler-generated kernels have at most 6 phis per block.

Phis are placed as in Cytron et al. (1991), pruned by liveness.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final, NamedTuple

from analyses.control_flow.block_identity import BlockIdentity, block_identities
from analyses.control_flow.cfg import BasicBlock, Cfg, cfg
from analyses.control_flow.dominance import dominance, visit_limit
from analyses.dataflow.liveness import liveness
from analyses.dataflow.local_value_numbering import NONE as NONE
from analyses.dataflow.local_value_numbering import InstructionValues as InstructionValues
from analyses.dataflow.local_value_numbering import LocalValueNumbering, local_value_numbering
from analyses.instructions.uses_and_defs import FunctionInstructions, instructions
from ptx_lsp.facts import GenerationalCache, Previous, incremental_fact
from ptx_lsp.model.function import Function

_MOST_FREE: Final = 2
_SPARE: Final = 1_000
_VISITS_OF_STEP: Final = 4


class Phi(NamedTuple):
    """A value that merges `inputs` where paths meet."""

    value: int
    register: int
    block: int
    inputs: tuple[int, ...]


class SsaForm:
    """The SSA values of a function, as numbers."""

    def __init__(
        self,
        instructions: FunctionInstructions,
        cfg: Cfg,
        by_instruction: tuple[InstructionValues, ...],
        phis: dict[int, Phi],
        phis_of: tuple[tuple[Phi, ...], ...],
        blocks: tuple[BlockValues, ...],
        value_numbers: ValueNumbers,
        is_available: bool,
    ) -> None:
        self.instructions: Final = instructions
        self.cfg: Final = cfg
        self.by_instruction: Final = by_instruction
        """The values of each instruction."""
        self.phis: Final = phis
        """The phis, by value."""
        self.phis_of: Final = phis_of
        """The phis at the start of each block."""
        self.blocks: Final = blocks
        self.value_numbers: Final = value_numbers
        self.is_available: Final = is_available
        """Whether the function has SSA values (7)."""

    @property
    def limit(self) -> int:
        """An upper bound of all values."""
        return self.value_numbers.limit

    def definition(self, value: int) -> int:
        """The instruction that defines a value; -1 for phis and initial values."""
        block = self._defining_blocks[value]
        return NONE if block < 0 else self.cfg.blocks[block].first + self.blocks[block].definition(value)[1]

    def register(self, value: int) -> int:
        """The register that holds a value; -1 for carries."""
        if self.is_initial(value):
            return value
        block = self._defining_blocks[value]
        return self.phis[value].register if block < 0 else self.blocks[block].definition(value)[0]

    def is_initial(self, value: int) -> bool:
        """Whether it is the value of a register before its first write."""
        return value < len(self.instructions.registers)

    def block_of(self, value: int) -> int:
        """The block that defines a value; 0 for initial values."""
        block = self._defining_blocks[value]
        if block >= 0:
            return block
        join = self.phis.get(value)
        return join.block if join is not None else 0

    @cached_property
    def _defining_blocks(self) -> list[int]:
        """The block whose instructions define each value."""
        found = [NONE] * self.limit
        for number, block in enumerate(self.blocks):
            found[block.first : block.first + block.count] = [number] * block.count
        return found


class BlockValues:
    """The values of the instructions of one block; the same object as long as the block and its values are
    unchanged. It defines `count` values from `first` on, and reads `inputs` from outside.
    """

    __slots__ = ("_local", "by_instruction", "count", "first", "inputs")

    def __init__(self, local: LocalValueNumbering, first: int, entered: tuple[int, ...] | None) -> None:
        self.first = first
        self.inputs = entered or ()
        self.count = len(local.definitions) if entered is not None else 0
        self.by_instruction = local.unreachable() if entered is None else local.numbered(first, entered)
        self._local = local

    def definition(self, value: int) -> tuple[int, int]:
        """The register of a value that the block defines, and the instruction, counted from the first of the
        block.
        """
        return self._local.definitions[value - self.first]


class ValueNumbers:
    """The assignment of numbers to values. It is renewed when too many numbers are unused."""

    def __init__(self, registers: int) -> None:
        self.registers = registers
        self.limit = registers
        self.firsts: GenerationalCache[BlockIdentity, int] = GenerationalCache()
        self.phis: GenerationalCache[tuple[BlockIdentity, int], int] = GenerationalCache()
        self.blocks: GenerationalCache[
            tuple[BlockIdentity, tuple[int, ...] | None], BlockValues
        ] = GenerationalCache()

    @classmethod
    def next_revision(cls, before: ValueNumbers | None, registers: int, in_use: int) -> ValueNumbers:
        """The value numbers of a revision with this many values."""
        found = cls(registers)
        if before is None or before.registers != registers:
            return found
        if before.limit > _MOST_FREE * (registers + in_use) + _SPARE:
            return found
        found.limit = before.limit
        found.firsts = GenerationalCache(before.firsts)
        found.phis = GenerationalCache(before.phis)
        found.blocks = GenerationalCache(before.blocks)
        return found

    def first_of(self, content: BlockIdentity, count: int) -> int:
        """The number of the first of `count` values that a block defines."""
        found = self.firsts.get(content)
        if found is None:
            found = self.firsts.put(content, self.limit)
            self.limit += count
        return found

    def phi(self, content: BlockIdentity, register: int) -> int:
        found = self.phis.get((content, register))
        if found is None:
            found = self.phis.put((content, register), self.limit)
            self.limit += 1
        return found


@incremental_fact
def ssa_form(function: Function, earlier: Previous[SsaForm] | None) -> SsaForm:
    """The SSA form of `function`."""
    return _Renaming(function, earlier.value.value_numbers if earlier else None).run()


class _Renaming:
    def __init__(self, function: Function, before: ValueNumbers | None) -> None:
        self.instructions = instructions(function)
        self.dominance = dominance(function)
        self.cfg = cfg(function)
        self.local = local_value_numbering(function)
        self.identities = block_identities(function).blocks
        count = len(self.instructions.registers)
        self.numbers = ValueNumbers.next_revision(
            before, count, sum(len(one.definitions) for one in self.local)
        )
        self.current = list(range(count))
        """The value of each register at the current point of the walk."""
        self.live_in = liveness(function).live_in
        self.phis: list[dict[int, int]] = [{} for _ in self.cfg.blocks]
        """For each block, the registers with a phi and the values of those phis."""
        self.inputs: dict[int, list[int]] = {}
        self.blocks: list[BlockValues] = []

    def run(self) -> SsaForm:
        is_known = not self.dominance.is_too_complex and self.place_phis()
        if not is_known:
            self.phis = [{} for _ in self.cfg.blocks]
        found = self.rename() if is_known else {}
        self.blocks = [
            found.get(block.number) or self.block_values(block.number, None)
            for block in self.cfg.blocks
        ]
        joins_of = tuple(
            tuple(
                Phi(value, register, block.number, tuple(self.inputs[value]))
                for register, value in self.phis[block.number].items()
            )
            if self.phis[block.number]
            else ()
            for block in self.cfg.blocks
        )
        return SsaForm(
            self.instructions,
            self.cfg,
            tuple([one for block in self.blocks for one in block.by_instruction]),
            {join.value: join for joins in joins_of for join in joins},
            joins_of,
            tuple(self.blocks),
            self.numbers,
            is_known,
        )

    # -- joins ----------------------------------------------------------------------------------

    def place_phis(self) -> bool:
        """Places the phis. Returns whether their number stays within the limit."""
        left = visit_limit(len(self.cfg.blocks)) + _VISITS_OF_STEP * len(self.instructions.instructions)
        frontier = self.dominance.frontiers
        writers: dict[int, list[int]] = {}
        kept = set[int]().union(*(one.partially_defined for one in self.local))
        wanted = kept.union(*self.live_in)
        for block in self.cfg.reverse_postorder:
            for register, _ in self.local[block].outgoing:
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
                    if register in self.phis[block]:
                        continue
                    if register in self.live_in[block] or register in kept:
                        value = self.numbers.phi(self.identities[block], register)
                        self.phis[block][register] = value
                        self.inputs[value] = [register] if block == 0 else []
                        waiting.append(block)
        return True

    # -- names ----------------------------------------------------------------------------------

    def rename(self) -> dict[int, BlockValues]:
        """Walks the dominator tree. The changes of a block are undone when the walk leaves it."""
        below = self.dominance.children
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

    def block(self, block: BasicBlock, undo: list[tuple[int, int]]) -> BlockValues:
        current = self.current
        for register, value in self.phis[block.number].items():
            undo.append((register, current[register]))
            current[register] = value
        local = self.local[block.number]
        found = self.block_values(
            block.number, tuple(map(current.__getitem__, local.entry_registers))
        )
        for register, index in local.outgoing:
            undo.append((register, current[register]))
            current[register] = found.first + index
        for target in block.successors:
            for register, value in self.phis[target].items():
                self.inputs[value].append(current[register])
        return found

    def block_values(self, block: int, entered: tuple[int, ...] | None) -> BlockValues:
        content, local = self.identities[block], self.local[block]
        known = self.numbers.blocks.get((content, entered))
        if known is not None:
            return known
        first = self.numbers.first_of(content, len(local.definitions))
        return self.numbers.blocks.put((content, entered), BlockValues(local, first, entered))
