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

Phis are placed as in Cytron et al. (1991), pruned by liveness (`phi_placement.py`). Values are named in one
walk over the dominator tree.
"""

from __future__ import annotations

from ptx_lsp.analyses._flow import (
    BlockSummary,
    InstructionValues,
    defining_instructions,
    number_values,
)
from ptx_lsp.analyses.control_flow.block_identity import BlockIdentity, block_identities
from ptx_lsp.analyses.control_flow.cfg import Cfg, cfg
from ptx_lsp.analyses.control_flow.dominance import dominance
from ptx_lsp.analyses.dataflow.block_summary import block_summaries
from ptx_lsp.analyses.dataflow.phi_placement import phi_placement
from ptx_lsp.analyses.instructions.uses_and_defs import FunctionInstructions, instructions
from ptx_lsp.facts import Previous, incremental_fact
from ptx_lsp.model.function import Function
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

NONE: Final = -1
_MOST_FREE: Final = 2
_SPARE: Final = 1_000
_NO_PHIS: Final[dict[int, int]] = {}


class Phi(NamedTuple):
    """A value that merges `inputs` where paths meet."""

    value: int
    register: int
    block: int
    inputs: tuple[int, ...]


class BlockValues:
    """The values of the instructions of one block; the same object as long as the block and its values are
    unchanged. It defines `count` values from `first` on, and reads `inputs` from outside. `last` has the last
    value of each register that it writes.
    """

    __slots__ = ("_defining", "by_instruction", "count", "first", "inputs", "is_reached", "last")

    def __init__(self, first: int, inputs: tuple[int, ...], is_reached: bool = True) -> None:
        self.first = first
        self.is_reached = is_reached
        self.inputs = inputs
        self.count = 0
        self.by_instruction: list[InstructionValues] = []
        self.last: tuple[int, ...] = ()
        self._defining: list[int] | None = None

    def definition(self, value: int) -> int:
        """The instruction that defines one of the block's values, counted from the first of the block."""
        if self._defining is None:
            self._defining = defining_instructions(self.by_instruction)
        return self._defining[value - self.first]


class SsaForm:
    """The SSA values of a function, as numbers."""

    __slots__ = (
        "_by_instruction", "_defining_blocks", "blocks", "cfg", "identities", "instructions", "is_available",
        "limit", "phis", "phis_of",
    )  # fmt: skip

    def __init__(
        self,
        instructions: FunctionInstructions,
        cfg: Cfg,
        identities: list[BlockIdentity],
        blocks: list[BlockValues],
        phis_of: list[tuple[Phi, ...]],
        limit: int,
        is_available: bool,
    ) -> None:
        self.instructions = instructions
        self.cfg = cfg
        self.identities = identities
        self.blocks = blocks
        self.phis_of = phis_of
        """The phis at the start of each block."""
        self.phis: dict[int, Phi] = {phi.value: phi for phis in phis_of for phi in phis}
        """The phis, by value."""
        self.limit = limit
        """An upper bound of all values."""
        self.is_available = is_available
        """Whether the function has SSA values (7)."""
        self._by_instruction: list[InstructionValues] | None = None
        self._defining_blocks: list[int] | None = None

    @property
    def by_instruction(self) -> list[InstructionValues]:
        """The values of each instruction."""
        if self._by_instruction is None:
            found: list[InstructionValues] = []
            for block in self.blocks:
                found += block.by_instruction
            self._by_instruction = found
        return self._by_instruction

    def definition(self, value: int) -> int:
        """The instruction that defines a value; -1 for phis and initial values."""
        block = self.defining_blocks[value]
        if block < 0:
            return NONE
        return self.cfg.blocks[block].first + self.blocks[block].definition(value)

    def register(self, value: int) -> int:
        """The register that holds a value; -1 for carries."""
        if self.is_initial(value):
            return value
        if self.defining_blocks[value] < 0:
            return self.phis[value].register
        number = self.definition(value)
        defs = self.by_instruction[number].defs
        return self.instructions.defs[number][defs.index(value)] if value in defs else NONE

    def is_initial(self, value: int) -> bool:
        """Whether it is the value of a register before its first write."""
        return value < self.instructions.count

    def block_of(self, value: int) -> int:
        """The block that defines a value; 0 for initial values."""
        block = self.defining_blocks[value]
        if block >= 0:
            return block
        phi = self.phis.get(value)
        return phi.block if phi is not None else 0

    @property
    def defining_blocks(self) -> list[int]:
        """The block whose instructions define each value; -1 for phis and initial values."""
        if self._defining_blocks is None:
            found = [NONE] * self.limit
            for number, block in enumerate(self.blocks):
                found[block.first : block.first + block.count] = [number] * block.count
            self._defining_blocks = found
        return self._defining_blocks


@incremental_fact
def ssa_form(function: Function, earlier: Previous[SsaForm] | None) -> SsaForm:
    """The SSA form of `function`."""
    return _Renaming(function, earlier.value if earlier else None).run()


class _Renaming:
    def __init__(self, function: Function, before: SsaForm | None) -> None:
        self.flow = instructions(function)
        self.cfg = cfg(function)
        self.summaries = block_summaries(function)
        self.identities = block_identities(function).blocks
        self.children = dominance(function).children
        self.placement = phi_placement(function)
        count = self.flow.count
        self.limit = count
        self.known_blocks: dict[BlockIdentity, BlockValues] = {}
        self.known_phis: dict[tuple[BlockIdentity, int], int] = {}
        if before is not None and before.instructions.count == count:
            self.take_over(before)
        self.current = list(range(count))
        """The value of each register at the current point of the walk."""
        self.phis: list[dict[int, int]] = []
        """For each block, the registers with a phi and the values of those phis."""
        self.inputs: dict[int, list[int]] = {}

    def take_over(self, before: SsaForm) -> None:
        """Keeps the numbers of the previous revision, unless too many are unused."""
        in_use = sum([block.count for block in before.blocks])
        if before.limit > _MOST_FREE * (self.flow.count + in_use) + _SPARE:
            return
        self.limit = before.limit
        self.known_blocks = dict(zip(before.identities, before.blocks, strict=True))
        for identity, phis in zip(before.identities, before.phis_of, strict=True):
            for phi in phis:
                self.known_phis[identity, phi.register] = phi.value

    def run(self) -> SsaForm:
        placed = self.placement.registers
        self.phis = [self.numbered(block, placed.get(block)) for block in range(len(self.cfg.blocks))]
        found = self.rename() if self.placement.is_available else {}
        blocks = [found.get(block) or self.unreachable(block) for block in range(len(self.cfg.blocks))]
        phis_of: list[tuple[Phi, ...]] = [()] * len(blocks)
        for block in placed:
            phis = self.phis[block].items()
            phis_of[block] = tuple(
                [Phi(value, register, block, tuple(self.inputs[value])) for register, value in phis]
            )
        return SsaForm(
            self.flow, self.cfg, self.identities, blocks, phis_of, self.limit, self.placement.is_available
        )

    def numbered(self, block: int, registers: list[int] | None) -> dict[int, int]:
        """The values of the phis of a block."""
        if registers is None:
            return _NO_PHIS
        found: dict[int, int] = {}
        for register in registers:
            value = self.known_phis.get((self.identities[block], register), NONE)
            if value == NONE:
                value = self.limit
                self.limit += 1
            found[register] = value
            self.inputs[value] = [register] if block == 0 else []
        return found

    def unreachable(self, block: int) -> BlockValues:
        """The values of a block that control does not reach."""
        known = self.known_blocks.get(self.identities[block])
        if known is not None and not known.is_reached:
            return known
        found = BlockValues(self.limit, (), is_reached=False)
        flow, place = self.flow, self.cfg.blocks[block]
        for number in range(place.first, place.end):
            uses, partial_defs, defs = flow.uses[number], flow.partial_defs[number], flow.defs[number]
            found.by_instruction.append(
                InstructionValues(
                    (NONE,) * len(uses), (NONE,) * len(partial_defs), (NONE,) * len(defs), NONE, NONE, NONE
                )
            )
        return found

    # -- names ----------------------------------------------------------------------------------

    def rename(self) -> dict[int, BlockValues]:
        """Walks the dominator tree. The changes of a block to registers with phis are undone when the walk
        leaves it; other registers are read only where a single block's writes dominate.
        """
        current, merged = self.current, self.placement.merged
        phis, summaries, children = self.phis, self.summaries, self.children
        successors = self.cfg.graph.successors
        found: dict[int, BlockValues] = {}
        undo: list[tuple[int, int]] = []
        path = [0]
        marks: list[int] = []
        while path:
            block = path.pop()
            if block < 0:
                mark = marks.pop()
                while len(undo) > mark:
                    register, value = undo.pop()
                    current[register] = value
                continue
            mark = len(undo)
            if phis[block]:
                for register, value in phis[block].items():
                    undo.append((register, current[register]))
                    current[register] = value
            summary = summaries[block]
            if not merged.isdisjoint(summary.defined):
                undo += [(register, current[register]) for register in summary.defined if register in merged]
            found[block] = self.block(block, summary)
            for target in successors[block]:
                if phis[target]:
                    for register, value in phis[target].items():
                        self.inputs[value].append(current[register])
            if len(undo) > mark:
                path.append(~block)
                marks.append(mark)
            path += children[block]
        return found

    def block(self, block: int, summary: BlockSummary) -> BlockValues:
        """The values of a block, after which `current` has the values at its end."""
        current = self.current
        inputs = tuple([current[register] for register in summary.entry_registers])
        known = self.known_blocks.get(self.identities[block])
        if known is not None and known.is_reached and known.inputs == inputs:
            for register, value in zip(summary.defined, known.last, strict=True):
                current[register] = value
            return known
        keeps = known is not None and known.is_reached
        found = BlockValues(known.first if known is not None and keeps else self.limit, inputs)
        flow, place = self.flow, self.cfg.blocks[block]
        found.by_instruction, end = number_values(
            flow.uses, flow.defs, flow.partial_defs, flow.guards, flow.kinds, place.first, place.end, current,
            found.first,
        )  # fmt: skip
        found.count = end - found.first
        if not keeps:
            self.limit = end
        found.last = tuple([current[register] for register in summary.defined])
        return found
