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
   than `visit_limit` visits and 4 per instruction, where each input of a phi counts as a visit.
   Compiler-generated kernels have at most 6 phis per block.

Phis are placed as in Cytron et al. (1991), pruned by liveness (`phi_placement.py`). Values are named in one
walk over the dominator tree.
"""

from __future__ import annotations

from ptx_lsp.analyses._flow import (
    BlockValues,
    InstructionValues,
    defining_instructions,
    rename_values,
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
    from typing import Final, TypeAlias

_NewPhi: TypeAlias = tuple[int, int, list[int]]
"""The register of a phi, its value, and its inputs as far as they are known."""
NONE: Final = -1
_MOST_FREE: Final = 2
_SPARE: Final = 1_000
_NO_PHIS: Final[list[_NewPhi]] = []


class Phi(NamedTuple):
    """A value that merges `inputs` where paths meet."""

    value: int
    register: int
    block: int
    inputs: tuple[int, ...]


class SsaForm:
    """The SSA values of a function, as numbers."""

    __slots__ = (
        "_by_instruction", "_definitions", "blocks", "cfg", "identities", "instructions", "is_available",
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
        self._definitions: list[int] | None = None

    @property
    def by_instruction(self) -> list[InstructionValues]:
        """The values of each instruction."""
        if self._by_instruction is None:
            found: list[InstructionValues] = []
            for block in self.blocks:
                found += block.by_instruction
            self._by_instruction = found
        return self._by_instruction

    @property
    def definitions(self) -> list[int]:
        """The instruction that defines each value; -1 for phis and initial values."""
        if self._definitions is None:
            self._definitions = defining_instructions(self.blocks, self.limit)
        return self._definitions

    def register(self, value: int) -> int:
        """The register that holds a value; -1 for carries."""
        if self.is_initial(value):
            return value
        number = self.definitions[value]
        if number < 0:
            return self.phis[value].register
        defs = self.by_instruction[number].defs
        return self.instructions.defs[number][defs.index(value)] if value in defs else NONE

    def is_initial(self, value: int) -> bool:
        """Whether it is the value of a register before its first write."""
        return value < self.instructions.count

    def block_of(self, value: int) -> int:
        """The block that defines a value; 0 for initial values."""
        number = self.definitions[value]
        if number >= 0:
            return self.cfg.block_of[number]
        phi = self.phis.get(value)
        return phi.block if phi is not None else 0


@incremental_fact
def ssa_form(function: Function, earlier: Previous[SsaForm] | None) -> SsaForm:
    """The SSA form of `function`."""
    return _Renaming(function, earlier.value if earlier else None).run()


class _Renaming:
    def __init__(self, function: Function, before: SsaForm | None) -> None:
        self.function = function
        self.flow = instructions(function)
        self.cfg = cfg(function)
        self.identities = block_identities(function).blocks
        self.placement = phi_placement(function)
        count = self.flow.count
        self.limit = count
        self.known_blocks: dict[BlockIdentity, BlockValues] = {}
        self.known_phis: dict[tuple[BlockIdentity, int], int] = {}
        if before is not None and before.instructions.count == count:
            self.take_over(before)

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
        phis = [_NO_PHIS] * len(self.cfg.blocks)
        for block in sorted(placed):
            phis[block] = self.numbered(block, placed[block])
        known = list(map(self.known_blocks.get, self.identities))
        found = self.rename(phis, known)
        blocks = [
            values or self.unreachable(block, known[block]) for block, values in enumerate(found)
        ]
        phis_of = [
            tuple([Phi(value, register, block, tuple(inputs)) for register, value, inputs in own])
            if own
            else ()
            for block, own in enumerate(phis)
        ]
        return SsaForm(
            self.flow, self.cfg, self.identities, blocks, phis_of, self.limit, self.placement.is_available
        )

    def numbered(self, block: int, registers: list[int]) -> list[_NewPhi]:
        """The phis of a block."""
        found: list[_NewPhi] = []
        for register in registers:
            value = self.known_phis.get((self.identities[block], register), NONE)
            if value == NONE:
                value = self.limit
                self.limit += 1
            found.append((register, value, [register] if block == 0 else []))
        return found

    def rename(
        self, phis: list[list[_NewPhi]], known: list[BlockValues | None]
    ) -> list[BlockValues | None]:
        """The values of the blocks that control reaches, after which the phis have all inputs. The walk over
        the dominator tree undoes the changes of a block to registers with phis when it leaves the block;
        other registers are read only where a single block's writes dominate.
        """
        if not self.placement.is_available:
            return [None] * len(phis)
        flow, blocks = self.flow, self.cfg.blocks
        found, self.limit = rename_values(
            self.cfg.graph.successors, dominance(self.function).children, block_summaries(self.function),
            phis, self.placement.merged, (flow.uses, flow.defs, flow.partial_defs, flow.guards, flow.kinds),
            [*[block.first for block in blocks], blocks[-1].end], known, list(range(flow.count)), self.limit,
        )  # fmt: skip
        return found

    def unreachable(self, block: int, known: BlockValues | None) -> BlockValues:
        """The values of a block that control does not reach."""
        if known is not None and not known.is_reached:
            return known
        flow, place = self.flow, self.cfg.blocks[block]
        found = [
            InstructionValues(
                (NONE,) * len(flow.uses[number]), (NONE,) * len(flow.partial_defs[number]),
                (NONE,) * len(flow.defs[number]), NONE, NONE, NONE,
            )
            for number in range(place.first, place.end)
        ]  # fmt: skip
        return BlockValues(self.limit, (), found, is_reached=False)
