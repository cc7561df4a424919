"""The inner loops of the analyses over control flow, data flow and registers (`native/flow.c`). The modules
that call them define what they compute.
"""

from collections.abc import Collection, Sequence

from ptx_lsp.analyses.instructions.instruction_kind import InstructionKind
from ptx_lsp.analyses.registers.shared_registers import Group
from ptx_lsp.isa.matching.shape import Shape

class BlockSummary:
    """The registers that a block reads and writes. Instructions are counted from the first of the block."""

    @property
    def exposed(self) -> tuple[int, ...]:
        """The registers that it reads before it has completely written them (upward-exposed uses)."""

    @property
    def entry_registers(self) -> tuple[int, ...]:
        """The registers whose value at the entry is read or partly kept."""

    @property
    def defined(self) -> tuple[int, ...]:
        """The registers that it writes, in the order of the first writes."""

    @property
    def killed(self) -> frozenset[int]:
        """The registers that it completely writes."""

    @property
    def partially_defined(self) -> frozenset[int]:
        """The registers that some instruction writes partially."""

    @property
    def dead(self) -> tuple[int, ...]:
        """The instructions without side effects whose results are overwritten before they are read."""

    @property
    def undecided(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Others that are dead if none of these registers is live at the end of the block."""

class InstructionValues:
    """The values of one instruction, parallel to the registers in `InstructionInfo`; `carry_in` and
    `carry_out` are the carry that it reads and defines.
    """

    def __new__(
        cls,
        uses: tuple[int, ...],
        partial_defs: tuple[int, ...],
        defs: tuple[int, ...],
        guard: int,
        carry_in: int,
        carry_out: int,
    ) -> InstructionValues: ...
    @property
    def uses(self) -> tuple[int, ...]: ...
    @property
    def partial_defs(self) -> tuple[int, ...]: ...
    @property
    def defs(self) -> tuple[int, ...]: ...
    @property
    def guard(self) -> int: ...
    @property
    def carry_in(self) -> int: ...
    @property
    def carry_out(self) -> int: ...

class BlockValues:
    """The values of the instructions of one block; the same object as long as the block and its values are
    unchanged.
    """

    def __new__(
        cls,
        first: int,
        inputs: tuple[int, ...],
        by_instruction: list[InstructionValues],
        is_reached: bool,
    ) -> BlockValues:
        """The values of a block that defines none."""

    @property
    def first(self) -> int:
        """The first of the values that it defines."""

    @property
    def count(self) -> int:
        """The number of values that it defines."""

    @property
    def inputs(self) -> tuple[int, ...]:
        """The values that it reads from outside."""

    @property
    def last(self) -> tuple[int, ...]:
        """The last value of each register that it writes (`BlockSummary.defined`)."""

    @property
    def by_instruction(self) -> list[InstructionValues]: ...
    @property
    def is_reached(self) -> bool:
        """Whether control reaches the block."""

class ValueReaders:
    """Where the values of an SSA form are read outside the block that defines them, or by phis."""

    def __new__(
        cls,
        reverse_postorder: tuple[int, ...],
        blocks: list[BlockValues],
        phis_of: Sequence[Sequence[tuple[int, int, int, tuple[int, ...]]]],
        limit: int,
    ) -> ValueReaders:
        """Of the values below `limit`, in blocks and in their phis (value, register, block and inputs)."""

    def entered(self, value: int, /) -> list[int]:
        """The blocks whose instructions read a value from outside."""

    def phis(self, value: int, /) -> list[int]:
        """The values of the phis that read a value, with one entry per occurrence."""

    def escaping(self, blocks: Collection[int], /) -> list[int]:
        """The values that some blocks define and others read: of each block those of its phis first."""

class BlockGraph:
    """The edges between blocks, for walks over them. The last block is the exit."""

    def __new__(
        cls, successors: tuple[tuple[int, ...], ...], reverse_postorder: tuple[int, ...]
    ) -> BlockGraph: ...
    def divergent_region(
        self, block: int, reconvergence: int, is_reducible: bool, /
    ) -> tuple[frozenset[int], frozenset[int], int]:
        """The joins of a divergent branch, the blocks between it and its reconvergence point, and that point.

        A path is labelled by the block after the last one that it shared with another. Paths are followed in
        reverse postorder; paths along a back edge come last.
        """

    def joins(self, block: int, reconvergence: int, /) -> frozenset[int]:
        """The joins alone, in a reducible graph."""

    def reachable(self, blocks: tuple[int, ...], end: int, /) -> frozenset[int]:
        """Some blocks and those reachable from them, without `end` and what is reachable through it alone."""

class MachineBlock:
    """The virtual registers of one block. It is the same object as long as the machine instructions are
    unchanged.
    """

    @property
    def upward_exposed(self) -> tuple[int, ...]:
        """Those that it reads before it has completely written them."""

    @property
    def defined(self) -> tuple[int, ...]:
        """Those that it completely writes."""

    @property
    def pressure(self) -> int:
        """A bound for the registers that it needs in text order, without those that are live after it."""

    @property
    def results(self) -> int:
        """How many registers its definitions need."""

    @property
    def parameters(self) -> tuple[int, ...]:
        """The virtual registers of parameters that it reads."""

    @property
    def has_pair(self) -> bool:
        """Whether an instruction defines several registers."""

class Operands:
    """The virtual registers and flags that the machine instructions of a straight-line region read and write,
    and those that are live after it. A flag is a register without virtual registers, or a guard.

    `uses` to `guards` are as in `FunctionInstructions`; `of_registers`, `allocated` and `is_eliminated` as in
    `MachineCode`. Eliminated instructions are left out. A region loads a parameter where it first reads it,
    unless it is live after the region.
    """

    def __new__(
        cls,
        uses: list[tuple[int, ...]],
        defs: list[tuple[int, ...]],
        partial_defs: list[tuple[int, ...]],
        guards: list[int],
        of_registers: list[tuple[int, ...]],
        allocated: list[tuple[int, ...]],
        is_eliminated: bytearray,
        loads: dict[int, int],
        first: int,
        end: int,
        live_out: list[int],
        /,
    ) -> Operands: ...
    @property
    def numbers(self) -> tuple[int, ...]:
        """The instructions."""

    @property
    def used(self) -> int:
        """The number of virtual registers that the instructions read, counted for each."""

    @property
    def defined(self) -> int:
        """The number of virtual registers that the instructions write, counted for each."""

    def unrolled(self, factor: int, turns: bytes, /) -> Operands:
        """The region so many times. Each turn has its own virtual registers for what it defines; the last one
        has those of the text. `turns` is 1 for instructions of the last turn alone, 2 for those of the first.
        """

    def counted(self, elsewhere: bytes, /) -> bytes:
        """For each virtual register that is named here, whether it counts: its byte of `elsewhere` is 0 or
        missing.
        """

    def profile(
        self, order: list[int], additional: list[int], is_counted: bytes, /
    ) -> tuple[list[int], list[int]]:
        """By turn in an order: the virtual registers live before the instruction or after it, and the
        additional ones. And by how many more are live after it than before it. Only those count that have a
        flag (`counted`).
        """

    def min_pressure_order(self, graph: DependenceGraph, is_counted: bytes, /) -> list[int]:
        """The order of minimal pressure (`list_scheduling`, 2)."""

    def hoisted(
        self,
        graph: DependenceGraph,
        additional: list[int],
        is_counted: bytes,
        limit: int,
        tries: int,
        /,
    ) -> list[int]:
        """The order in which latencies are hidden while at most `limit` registers are live
        (`list_scheduling`, 3). Of the instructions that need not wait, the first `tries` are tried.
        """

    def reordered(
        self, graph: DependenceGraph, additional: list[int], is_counted: bytes, order: list[int], /
    ) -> int:
        """The most registers that are live after they are allocated in an order, and the instructions are
        scheduled again (`list_scheduling`, 4).
        """

class DependenceGraph:
    """The dependence graph of a straight-line region, by position.

    `accesses` are None, or how an instruction accesses memory (`MemoryEffect`), and numbers for the state
    space, the base (0 if it is unknown) and the place. `is_ended`: whether the last instruction ends the
    block.
    """

    def __new__(
        cls,
        operands: Operands,
        cycles: list[int],
        flag_cycles: int,
        accesses: list[tuple[int, int, int, int] | None],
        is_ended: bool,
        /,
    ) -> DependenceGraph: ...
    @property
    def edges(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """The instructions that must wait for each, with the minimum number of cycles."""

    @property
    def critical_path(self) -> tuple[int, ...]:
        """The cycles from the start of each instruction to the end of the longest dependent chain."""

def machine_blocks(
    uses: list[tuple[int, ...]],
    defs: list[tuple[int, ...]],
    partial_defs: list[tuple[int, ...]],
    guards: list[int],
    kinds: list[InstructionKind],
    of_registers: list[tuple[int, ...]],
    allocated: list[tuple[int, ...]],
    is_eliminated: bytearray,
    loads: dict[int, int],
    additional: dict[InstructionKind, int],
    bounds: list[tuple[int, int]],
    /,
) -> list[MachineBlock]:
    """The blocks of the instructions from one number up to another (exclusive)."""

def block_registers(
    uses: list[tuple[int, ...]],
    defs: list[tuple[int, ...]],
    partial_defs: list[tuple[int, ...]],
    guards: list[int],
    kinds: list[InstructionKind],
    of_registers: list[tuple[int, ...]],
    allocated: list[tuple[int, ...]],
    is_eliminated: bytearray,
    loads: dict[int, int],
    additional: dict[InstructionKind, int],
    bounds: list[tuple[int, int, bytes]],
    numbers: list[int],
    elsewhere: bytes,
    /,
) -> list[tuple[int, int, int]]:
    """The pressure of each block of the instructions from one number up to another (exclusive), and the
    bounds for its registers in text order and in any order (`machine_blocks.py`, 2 and 3). After it, those
    virtual registers of `numbers` are live whose bits are set, the lowest bit for the first number. Those
    with a flag in `elsewhere` do not count.
    """

def bit_sets(sets: list[Collection[int]], places: dict[int, int], /) -> list[int]:
    """Each of some sets of numbers as a bit set. `places` has the bits, from 0; there are no others."""

def bit_members(bits: bytes, numbers: list[int], /) -> frozenset[int]:
    """The numbers whose bits are set, of which the first is the lowest."""

def definitions(
    defs: list[tuple[int, ...]], partial_defs: list[tuple[int, ...]], count: int, /
) -> tuple[list[int], dict[int, list[int]]]:
    """The only definition of each of `count` registers, `NEVER` or `SEVERAL`; and those of the latter."""

class Readers:
    """The instructions that read each of `count` registers."""

    def __new__(cls, uses: list[tuple[int, ...]], count: int, /) -> Readers: ...
    def of(self, register: int, /) -> list[int]:
        """The instructions that read a register in order, one entry per occurrence."""

def registers_holding(of_registers: list[tuple[int, ...]], flags: bytes, /) -> list[int]:
    """The registers that hold at least one of the virtual registers that have a flag."""

def live_at_starts(
    predecessors: tuple[tuple[int, ...], ...], ranks: tuple[int, ...], gen: list[int], kept: list[int], /
) -> list[int]:
    """The bits that are live at the start of each block: those that it generates, and those that are live at
    the start of a successor and that it keeps.
    """

def block_summary(
    uses: list[tuple[int, ...]],
    defs: list[tuple[int, ...]],
    partial_defs: list[tuple[int, ...]],
    guards: list[int],
    kinds: list[InstructionKind],
    first: int,
    end: int,
    /,
) -> BlockSummary:
    """The summary of the block of the instructions from `first` up to `end` (exclusive)."""

def crossing_registers(
    reverse_postorder: tuple[int, ...],
    summaries: list[BlockSummary],
    returned: Collection[int],
    subtrees: tuple[list[int], list[int]],
    among: Collection[int] | None,
    count: int,
    /,
) -> tuple[frozenset[int], list[int]]:
    """The registers that some block reads before it has completely written them, and the ambiguous ones of
    them in order (`ambiguous_registers.py`), among some of the `count` registers or among all. The last block
    reads `returned`. `subtrees` has the first and the last place of the subtree of each block in the
    dominator tree.
    """

def placed_phis(
    reverse_postorder: tuple[int, ...],
    summaries: list[BlockSummary],
    merged: Collection[int],
    kept: Collection[int],
    frontiers: tuple[Collection[int], ...],
    predecessors: tuple[tuple[int, ...], ...],
    places: dict[int, int],
    live_in: list[int],
    count: int,
    most: int,
    /,
) -> tuple[dict[int, list[int]], int] | None:
    """The registers with a phi in each block that has some (`phi_placement.py`), and how many of the `most`
    visits are left; None if there are too few. Of the `count` registers, the `merged` ones may have phis:
    those that are `kept`, and those that are live, by their places in the bit sets `live_in`. Each input of a
    phi, one per predecessor, counts as a visit.
    """

def rename_values(
    successors: tuple[tuple[int, ...], ...],
    children: tuple[tuple[int, ...], ...],
    summaries: list[BlockSummary],
    phis: list[list[tuple[int, int, list[int]]]],
    merged: frozenset[int],
    flow: tuple[
        list[tuple[int, ...]],
        list[tuple[int, ...]],
        list[tuple[int, ...]],
        list[int],
        list[InstructionKind],
    ],
    bounds: list[int],
    known: list[BlockValues | None],
    current: list[int],
    limit: int,
    /,
) -> tuple[list[BlockValues | None], int]:
    """The values of each block that the walk over the dominator tree, given by the `children` of blocks,
    reaches; and the next value. New ones count from `limit`.

    `phis` has the register, value and inputs of the phis of each block; the inputs are added. Registers that
    are not `merged` have none. `flow` has the uses, definitions, partial definitions, guards and kinds of the
    instructions, `bounds` the first instruction of each block and the end of the last one. `known` are the
    values of the previous revision: of a block that is not edited. `current` has the initial values.
    """

def defining_instructions(blocks: list[BlockValues], limit: int, /) -> list[int]:
    """The instruction that defines each of the values below `limit`; -1 if none of the blocks, which have all
    instructions in order, defines it.
    """

def evaluate_levels(
    values: list[InstructionValues],
    shapes: Sequence[Shape],
    plain_levels: dict[Shape, int],
    escaped: set[int],
    levels: bytearray,
    causes: list[int],
    first: int,
    end: int,
    /,
) -> int:
    """Evaluates the plain instructions from `first` on, and returns the first other one, at most `end`: one
    whose shape has no level in `plain_levels`, or a negative one, or that reads a value in `escaped`. What
    their results depend on most goes into `levels` and `causes`.
    """

def reverse_postorder(edges: tuple[tuple[int, ...], ...], root: int, /) -> tuple[int, ...]:
    """The blocks reachable from `root`, in reverse postorder."""

def immediate_dominators(
    successors: tuple[tuple[int, ...], ...], predecessors: tuple[tuple[int, ...], ...], /
) -> tuple[int, ...]:
    """The immediate dominator of each block of a graph that is entered at block 0; -1 for that block and for
    unreachable ones.
    """

def immediate_postdominators(
    successors: tuple[tuple[int, ...], ...],
    predecessors: tuple[tuple[int, ...], ...],
    reverse_postorder: tuple[int, ...],
    /,
) -> tuple[int, ...]:
    """The immediate post-dominator of each block of a graph that is left at its last block; -1 for that block
    and for those that do not reach it. Endless loops are joined to it.
    """

def subtrees(parents: tuple[int, ...], /) -> tuple[list[int], list[int], list[int]]:
    """The depth of each block in a tree, its place in preorder, and the last place among its descendants.
    `parents` has the parent of each block; -1 for roots.
    """

def dominance_frontiers(
    predecessors: tuple[tuple[int, ...], ...],
    reverse_postorder: tuple[int, ...],
    immediate_dominators: tuple[int, ...],
    most: int,
    /,
) -> tuple[tuple[frozenset[int], ...], int] | None:
    """The dominance frontier of each block, and the visits that this took; None if more than `most`."""

def control_dependences(
    successors: tuple[tuple[int, ...], ...],
    reverse_postorder: tuple[int, ...],
    immediate_postdominators: tuple[int, ...],
    most: int,
    /,
) -> tuple[tuple[tuple[int, ...], ...], int] | None:
    """The blocks that each block is control-dependent on, and the visits that this took; None if more than
    `most`.
    """

def natural_loops(
    successors: tuple[tuple[int, ...], ...],
    predecessors: tuple[tuple[int, ...], ...],
    reverse_postorder: tuple[int, ...],
    first: list[int],
    last: list[int],
    most: int,
    /,
) -> tuple[list[tuple[int, frozenset[int], tuple[int, ...]]], int] | None:
    """The header, the blocks and the latches of each natural loop, in the order of the headers, and the
    visits that this took; None if more than `most`. `first` and `last` are the `subtrees` of the dominators.
    """

def region_edges(
    successors: tuple[tuple[int, ...], ...], branches: list[int], reconvergence: list[int], most: int, /
) -> int:
    """The number of edges between each of some branches and its reconvergence point, together; some number
    above `most` if there are more.
    """

def share_registers(
    uses: list[tuple[int, ...]],
    defs: list[tuple[int, ...]],
    kinds: list[InstructionKind],
    only: list[int],
    allocated: list[tuple[int, ...]],
    of_registers: list[tuple[int, ...]],
    is_eliminated: bytearray,
    readers: Readers,
    groups: list[Group],
    wanted: set[int] | None,
    /,
) -> None:
    """Sets the virtual registers that registers share (`shared_registers.py`) in `of_registers`, and which
    instructions they make superfluous in `is_eliminated`. Each group has a number of `Sharing`, instructions,
    the kinds of those that may read their results, with their places among the uses, and what is packed. Of
    their results, the `wanted` ones share, or all.
    """

def sum_of_leaves(model: bytes, features: tuple[int, ...], /) -> int:
    """The sum of the leaves that the trees of a model (`packed` in `boosted_trees.py`) lead to. Raises
    ValueError if the model is damaged, and IndexError if it has more features.
    """

def uniform_values(
    uses: list[tuple[int, ...]],
    defs: list[tuple[int, ...]],
    partial_defs: list[tuple[int, ...]],
    guards: list[int],
    kinds: list[InstructionKind],
    of_registers: list[tuple[int, ...]],
    allocated: list[tuple[int, ...]],
    is_eliminated: bytearray,
    loads: dict[int, int],
    only: list[int],
    several: dict[int, list[int]],
    readers: Readers,
    operations: set[InstructionKind],
    varying: set[int],
    loading: list[int],
    sources: list[int],
    /,
) -> tuple[set[int], set[int]]:
    """The virtual registers that uniform registers could hold, and the instructions that define them, if all
    threads of a warp branch alike (`uniform_values.py`, 1 and 3).

    `operations` are the kinds of instructions that the uniform datapath has, `varying` those of them that
    have no register as an operand, and whose result varies. `loading` and `sources` load parameters and other
    uniform values.
    """
