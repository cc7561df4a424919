"""An abstract domain for values that are affine in the lane: a uniform base plus a constant offset per lane.

1. A value is `uniform base + offset of the lane`. The base is a multiple of `alignment`. If `alignment` is 0,
   there is no base and the offsets are the values themselves.
2. Lanes are numbered along x, then y, then z. The block size is that of `.reqntid`, else that of `.maxntid`.
   If neither is given, rows are assumed to be whole warps: `%tid.x` is a multiple of 32 and the lane,
   `%tid.y` and `%tid.z` are uniform.
3. Additions, multiplications by constants, shifts, masks and bitwise operations on bits below the alignment
   preserve that form, and so do conversions between integers. Arithmetic is assumed not to wrap around.
4. A phi has the offsets of its inputs if all agree up to a uniform difference and it does not depend on the
   path that a thread took.
5. A value that is uniform in each warp (`uniformity.py`) has equal offsets; so has one that depends only on
   values with equal offsets, such as a load from `[tid.x / 32]`. The offsets of other values are unknown.
   They are `data` if they depend on a loaded value that is not uniform.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Final, TypeAlias

from analyses.dataflow.ssa import BlockValues, Phi
from analyses.divergence.divergence_sources import (
    BlockSize,
    UniformityLevel,
    special_register_uniformity,
)
from analyses.divergence.lane_arithmetic import UNIFORM, WARP, LaneOffsets, constant, transfer
from analyses.divergence.uniformity import Cause, Uniformity, uniformity
from analyses.divergence.uniformity_transfer import block_size, block_transfers, tid_yz_uses
from analyses.instructions.constants import literal
from analyses.instructions.uses_and_defs import InstructionInfo
from ptx_lsp.facts import GenerationalCache, Previous, incremental_fact
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Predefined, Register, Variable
from ptx_lsp.syntax import nodes

_ROUNDS = 4
"""How often phis are evaluated again before the undecided ones become unknown."""


class LaneValues:
    """The lane offsets of the values of a function."""

    def __init__(
        self,
        function: Function,
        uniformity: Uniformity,
        block_size: BlockSize,
        is_first_warp: bool,
        offsets: dict[int, LaneOffsets],
        data: set[int],
        blocks: dict[int, BlockData],
        cache: LaneValuesCache,
    ) -> None:
        self.function: Final = function
        self.uniformity: Final = uniformity
        self.block_size: Final = block_size
        self.is_first_warp: Final = is_first_warp
        """Whether only the first warp of a block is considered."""
        self.offsets: Final = offsets
        self.data: Final = data
        self.blocks: Final = blocks
        """The data values of each reached block."""
        self.cache: Final = cache

    @cached_property
    def has_known_lane_order(self) -> bool:
        """Whether lanes are numbered as assumed (2): the block size is given, or thread indices along y and z
        are unused, so that the block is probably one row.
        """
        return has_known_lane_order(self.function, self.block_size)

    @property
    def has_full_warps(self) -> bool:
        """Whether the lane order is known and a block may fill a warp."""
        x, y, z = self.block_size
        return self.has_known_lane_order and (x == 0 or x * max(y, 1) * max(z, 1) >= WARP)

    def value(self, value: int) -> LaneOffsets | None:
        """The lane offsets of a value; None if unknown."""
        return self.offsets.get(value)

    def operand(self, step: InstructionInfo, operand: nodes.Operand) -> LaneOffsets | None:
        """The lane offsets of an operand; None if unknown."""
        number = literal(operand)
        if number is not None:
            return constant(number)
        component = ""
        if isinstance(operand, nodes.Member) and operand.components:
            component = operand.components[0].text
            operand = operand.object
        if not isinstance(operand, nodes.Name):
            return None
        values = self.uniformity.ssa
        match self.function.resolve(operand):
            case Register() as symbol if not component:
                index = values.instructions.index_of(symbol)
                reads = values.by_instruction[step.number].uses
                value = reads[step.uses.index(index)] if index in step.uses else -1
                return self.offsets.get(value)
            case Predefined(name=name):
                return self._special(name, component)
            case Variable(space=".shared" | ".global" | ".const") as symbol:
                return UNIFORM._replace(alignment=alignment_of(symbol))
            case _:
                return None

    def _special(self, name: str, component: str) -> LaneOffsets | None:
        numbers = range(WARP)
        match name, component:
            case "WARP_SZ", _:
                return constant(WARP)
            case "%laneid", _:
                return LaneOffsets.of(numbers, 0)
            case "%tid", ".x" | ".y" | ".z":
                if self.is_first_warp and not self.has_known_lane_order:
                    return None
                found = _thread_index(component, self.block_size)
                return found._replace(alignment=0) if found and self.is_first_warp else found
            case _ if special_register_uniformity(name, component, self.block_size).is_uniform:
                return UNIFORM
            case _:
                return None


class BlockLanes:
    """The known lane offsets of the values that one block defines. It is the same object as long as the
    block, its values, their `levels` and the offsets at its entry are unchanged.
    """

    __slots__ = ("entered", "levels", "offsets")

    def __init__(
        self, levels: bytes, entered: tuple[LaneOffsets | None, ...], known: dict[int, LaneOffsets]
    ) -> None:
        self.levels = levels
        self.entered = entered
        self.offsets = known


class BlockData:
    """The values that one block defines and that are data. It is the same object as long as the block's
    `BlockLanes` and the data values at its entry are unchanged.
    """

    __slots__ = ("data",)

    def __init__(self, data: frozenset[int]) -> None:
        self.data = data


class LaneValuesCache:
    """Results per block. `context` is everything else that they depend on."""

    def __init__(self, context: object, before: LaneValuesCache | None) -> None:
        self.context = context
        is_same = before is not None and before.context == context
        known = before if is_same else None
        self.lanes: GenerationalCache[tuple[int, BlockValues], BlockLanes] = GenerationalCache(
            known.lanes if known else None
        )
        self.data: GenerationalCache[_DataKey, BlockData] = GenerationalCache(known.data if known else None)


_DataKey: TypeAlias = tuple[BlockLanes, tuple[bool, ...]]


@incremental_fact
def lane_values(function: Function, earlier: Previous[LaneValues] | None) -> LaneValues:
    """The lane offsets of the values of `function`."""
    return _Evaluation(function, earlier, is_first=False).run()


@incremental_fact
def first_warp_values(function: Function, earlier: Previous[LaneValues] | None) -> LaneValues:
    """The lane offsets in the first warp of each block, where `%tid.x` is the lane itself."""
    return _Evaluation(function, earlier, is_first=True).run()


class _Evaluation:
    def __init__(
        self, function: Function, earlier: Previous[LaneValues] | None, *, is_first: bool
    ) -> None:
        self.uniformity = uniformity(function)
        self.values = self.uniformity.ssa
        self.offsets: dict[int, LaneOffsets] = {}
        self.data: set[int] = set()
        self.blocks: dict[int, BlockLanes] = {}
        size = _block_size(function)
        is_known = is_first and has_known_lane_order(function, size)
        context = block_transfers(function).context, size, is_known
        self.cache = LaneValuesCache(context, earlier.value.cache if earlier else None)
        self.result = LaneValues(
            function, self.uniformity, size, is_first, self.offsets, self.data, {}, self.cache
        )
        self.rejected: set[int] = set()
        """Phis whose inputs do not agree, or that depend on the path."""

    def run(self) -> LaneValues:
        cfg = self.values.cfg
        for block in cfg.reverse_postorder:
            for join in self.values.phis_of[block]:
                self.evaluate_phi(join)
            self.blocks[block] = self.evaluate_block(block, 0)
        for turn in range(1, _ROUNDS + 1):
            doubtful = {join for join in self.values.phis if not self.is_consistent(join)} - self.rejected
            if not doubtful:
                break
            self.rejected |= doubtful if turn < _ROUNDS else self.values.phis.keys()
            self.reevaluate(turn)
        self.propagate_data()
        return self.result

    def reevaluate(self, turn: int) -> None:
        """Evaluates again everything that depends on newly rejected phis."""
        changed: set[int] = set()
        for block in self.values.cfg.reverse_postorder:
            for join in self.values.phis_of[block]:
                before = self.offsets.get(join.value)
                is_refused = before is not None and join.value in self.rejected
                if is_refused or not changed.isdisjoint(join.inputs):
                    self.offsets.pop(join.value, None)
                    self.evaluate_phi(join)
                    if self.offsets.get(join.value) != before:
                        changed.add(join.value)
            if not changed.isdisjoint(self.values.blocks[block].inputs):
                past = self.blocks[block].offsets
                for value in past:
                    del self.offsets[value]
                found = self.blocks[block] = self.evaluate_block(block, turn)
                for value in past.keys() | found.offsets.keys():
                    if past.get(value) != found.offsets.get(value):
                        changed.add(value)

    def evaluate_block(self, number: int, turn: int) -> BlockLanes:
        values = self.values.blocks[number]
        entered = tuple(map(self.offsets.get, values.inputs))
        made = range(values.first, values.first + values.count)
        levels = self.uniformity.raw_levels[made.start : made.stop]
        found = self.cache.lanes.get((turn, values))
        if found is None or found.levels != levels or found.entered != entered:
            steps = self.values.cfg.blocks[number].instructions
            for step, of in zip(
                self.values.instructions.instructions[steps.start : steps.stop],
                values.by_instruction,
                strict=True,
            ):
                if of.defs:
                    self.evaluate(step, of.defs)
            known = {value: self.offsets[value] for value in made if value in self.offsets}
            return self.cache.lanes.put((turn, values), BlockLanes(levels, entered, known))
        self.offsets.update(found.offsets)
        return found

    def evaluate_phi(self, join: Phi) -> None:
        value = join.value
        if self.uniformity.levels[value].is_uniform:
            self.offsets[value] = UNIFORM
        elif value not in self.rejected and self.uniformity.causes.get(value, Cause()).block < 0:
            first = next(
                (self.offsets[one] for one in self.forward_inputs(join) if one in self.offsets),
                None,
            )
            if first is not None:
                self.offsets[value] = LaneOffsets(0, first.spread, 1)

    def forward_inputs(self, join: Phi) -> Iterator[int]:
        """The inputs of a phi that do not come along a back edge."""
        rank = self.values.cfg.graph.ranks
        return (one for one in join.inputs if rank[self.values.block_of(one)] < rank[join.block])

    def is_consistent(self, value: int) -> bool:
        """Whether all inputs of a phi differ between lanes as the phi does."""
        mine = self.offsets.get(value)
        if mine is None or self.uniformity.levels[value].is_uniform:
            return True
        for one in self.values.phis[value].inputs:
            found = self.offsets.get(one)
            if found is None:
                return False
            if found.spread != mine.spread:
                return False
        return True

    def evaluate(self, step: InstructionInfo, made: tuple[int, ...]) -> None:
        found: LaneOffsets | None = None
        if not step.is_guarded and len(made) == 1:
            found = self.transfer(step)
        for value in made:
            if found is not None:
                self.offsets[value] = found
            elif self.uniformity.levels[value].is_uniform or self.is_uniform_result(step, value):
                self.offsets[value] = UNIFORM

    def is_uniform_result(self, step: InstructionInfo, value: int) -> bool:
        """Whether a result is uniform because all of its inputs are."""
        plan = self.uniformity.transfer_functions[step.number]
        if plan.base_level > UniformityLevel.WARP or value == plan.second_result:
            return False
        known = self.offsets
        return all(one in known and known[one].is_uniform for one in plan.inputs)

    def transfer(self, step: InstructionInfo) -> LaneOffsets | None:
        """The result of an instruction; None unless this domain has its arithmetic."""
        opcode, *modifiers = step.spelling.split(".")
        sources = step.node.operands[1:]
        if opcode not in _ARITHMETIC or len(sources) < _ARITHMETIC[opcode]:
            return None
        if not _NO_FORM.isdisjoint(modifiers) or (modifiers and modifiers[-1] in _NO_INTEGERS):
            return None
        if opcode == "cvt" and len(modifiers) == 2 and modifiers[0] in _NO_INTEGERS:
            return None
        inputs = [self.result.operand(step, one) for one in sources[: _ARITHMETIC[opcode]]]
        known = [_signed(one) if opcode == "and" else one for one in inputs if one is not None]
        return transfer(opcode, known) if len(known) == len(inputs) else None

    def propagate_data(self) -> None:
        """Marks the values that depend on a loaded value, along their use-def chains."""
        for block in self.values.cfg.reverse_postorder:
            for join in self.values.phis_of[block]:
                if join.value not in self.offsets and any(one in self.data for one in join.inputs):
                    self.data.add(join.value)
            entered = tuple(map(self.data.__contains__, self.values.blocks[block].inputs))
            key = self.blocks[block], entered
            found = self.cache.data.get(key)
            if found is None:
                found = self.cache.data.put(key, BlockData(frozenset(self.data_of(block))))
            self.data |= found.data
            self.result.blocks[block] = found

    def data_of(self, block: int) -> Iterator[int]:
        """The data values of one block, in order. They are marked as they are found."""
        for number in self.values.cfg.blocks[block].instructions:
            found = self.values.by_instruction[number]
            opcode = self.values.instructions.instructions[number].opcode
            is_data = opcode in _LOADING or any(one in self.data for one in found.uses)
            for value in found.defs if is_data else ():
                if self.uniformity.levels[value] >= UniformityLevel.UNKNOWN and value not in self.offsets:
                    self.data.add(value)
                    yield value


def has_known_lane_order(function: Function, size: BlockSize) -> bool:
    """See `LaneValues.has_known_lane_order`."""
    if block_size(function).x or size.y * size.z > 1:
        return True
    return not tid_yz_uses(function)


def _block_size(function: Function) -> BlockSize:
    size = block_size(function)
    if size.x:
        return size
    for directive in reversed(function.node.directives):  # of several, ptxas takes the last
        if directive.name.text == ".maxntid":
            sizes = [literal(one) or 0 for one in directive.arguments]
            return BlockSize(*(*sizes, 1, 1, 1)[:3])
    return size


def _thread_index(component: str, size: BlockSize) -> LaneOffsets | None:
    rows = size.x or WARP
    if component == ".x":
        if rows % WARP == 0:
            return LaneOffsets.of(range(WARP), WARP if size.x != WARP else 0)
        return LaneOffsets.of([lane % rows for lane in range(WARP)], 0) if WARP % rows == 0 else None
    above = rows if component == ".y" else rows * size.y
    if above and above % WARP == 0:
        return UNIFORM
    limit = size.y if component == ".y" else size.z
    if not above or WARP % above:
        return None
    found = [lane // above for lane in range(WARP)]
    if limit and component == ".y" and found[-1] >= limit:
        return LaneOffsets.of([one % limit for one in found], 0) if len(found) % limit == 0 else None
    return LaneOffsets.of(found, found[-1] + 1)


def alignment_of(variable: Variable) -> int:
    """The declared alignment in bytes; 1 if it is not a literal."""
    stated = variable.declaration.alignment
    return (literal(stated) if isinstance(stated, nodes.Number) else None) or 1


def _signed(a: LaneOffsets) -> LaneOffsets:
    """A mask such as `0xfffffff0` as its signed 32-bit value: -16."""
    mask = a.constant
    is_negative = mask is not None and 1 << 31 <= mask < 1 << 32
    return constant(mask - (1 << 32)) if mask is not None and is_negative else a


_ARITHMETIC = {
    "mov": 1, "cvt": 1, "cvta": 1, "add": 2, "sub": 2, "mul": 2, "mad": 3, "shl": 2, "shr": 2, "and": 2,
    "or": 2, "xor": 2, "bfe": 3,
}
_NO_INTEGERS = frozenset({"f16", "f32", "f64", "f16x2", "bf16", "bf16x2", "pred", "f32x2"})
_LOADING = frozenset({"ld", "ldu", "atom", "tex", "tld4", "suld", "shfl"})
_NO_FORM = frozenset({"hi", "sat", "cc"})
