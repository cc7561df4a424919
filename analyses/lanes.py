"""How a value differs from lane to lane of a warp: an offset for each lane, beside a part that is the same
for all of them.

1. A value is `uniform part + offset of the lane`. The uniform part is a multiple of `alignment`; where that
   is 0 there is none, and the offsets are the values themselves.
2. Lanes are numbered along x, then y, then z. The shape of the block is that of `.reqntid`, else that of
   `.maxntid`; where neither is given, rows are taken to be whole warps: `%tid.x` is a multiple of 32 and
   the lane, `%tid.y` and `%tid.z` are uniform.
3. Additions, multiplications by constants, shifts, masks and bitwise operations on bits below the
   alignment keep that form, conversions between integers too. Nothing is taken to wrap around.
4. A join has the offsets of its inputs where all agree up to something uniform, and where it does not depend
   on the way that a thread took.
5. A value that is uniform in each warp (`uniformity`) has equal offsets; so has what depends on nothing but
   values with equal offsets, as what is loaded from `[tid.x / 32]`. Of other values the offsets are not
   known. They are `data` if a value that was loaded, and that is not uniform, is part of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from analyses.constants import literal
from analyses.lane_arithmetic import ANY, WARP, Lanes, compute, constant
from analyses.plans import block_plans, block_size, uses_of_y_and_z
from analyses.sources import Level, Size, special
from analyses.steps import Step
from analyses.uniformity import Cause, Uniformity, uniformity
from analyses.values import BlockValues, Join
from ptx_lsp.facts import Earlier, Memory, lasting_fact
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Predefined, Register, Variable
from ptx_lsp.syntax import nodes

_ROUNDS = 4
"""How often joins are tried again before those in doubt are given up."""


@dataclass(frozen=True)
class LanesOfValues:
    """The lanes of the values of a function that integer arithmetic makes."""

    function: Function
    uniformity: Uniformity
    shape: Size
    is_first: bool
    """Whether of the first warp of a block alone."""
    known: dict[int, Lanes]
    data: set[int]
    blocks: dict[int, BlockData]
    """Of each reached block what is known of its values."""
    memory: LanesMemory

    @cached_property
    def is_shape_known(self) -> bool:
        """Whether the lanes of a warp are numbered as taken for granted (2): the shape of the block is
        given, or thread numbers along y and z are not used, so that the block will be a row.
        """
        return is_shape_known(self.function, self.shape)

    @property
    def has_whole_warps(self) -> bool:
        """Whether the shape is known, and a block may fill a warp."""
        x, y, z = self.shape
        return self.is_shape_known and (x == 0 or x * max(y, 1) * max(z, 1) >= WARP)

    def of(self, value: int) -> Lanes | None:
        """None where the offsets are not known."""
        return self.known.get(value)

    def operand(self, step: Step, operand: nodes.Operand) -> Lanes | None:
        """What a step reads; None where the offsets are not known."""
        number = literal(operand)
        if number is not None:
            return constant(number)
        component = ""
        if isinstance(operand, nodes.Member) and operand.components:
            component = operand.components[0].text
            operand = operand.object
        if not isinstance(operand, nodes.Name):
            return None
        values = self.uniformity.values
        match self.function.resolve(operand):
            case Register() as symbol if not component:
                index = values.steps.number(symbol)
                reads = values.of[step.number].reads
                value = reads[step.reads.index(index)] if index in step.reads else -1
                return self.known.get(value)
            case Predefined(name=name):
                return self._special(name, component)
            case Variable(space=".shared" | ".global" | ".const") as symbol:
                return ANY._replace(alignment=alignment_of(symbol))
            case _:
                return None

    def _special(self, name: str, component: str) -> Lanes | None:
        numbers = range(WARP)
        match name, component:
            case "WARP_SZ", _:
                return constant(WARP)
            case "%laneid", _:
                return Lanes.of(numbers, 0)
            case "%tid", ".x" | ".y" | ".z":
                if self.is_first and not self.is_shape_known:
                    return None
                found = _thread_index(component, self.shape)
                return found._replace(alignment=0) if found and self.is_first else found
            case _ if special(name, component, self.shape).is_uniform:
                return ANY
            case _:
                return None


class BlockLanes:
    """The lanes of the values that one block makes, as far as they are known: the same object for as long as
    the block, its values, their `levels` and the lanes that it enters with are the same.
    """

    __slots__ = ("entered", "known", "levels")

    def __init__(
        self, levels: bytes, entered: tuple[Lanes | None, ...], known: dict[int, Lanes]
    ) -> None:
        self.levels = levels
        self.entered = entered
        self.known = known


class BlockData:
    """Which of the values that one block makes are data: the same object for as long as that and its
    `BlockLanes` are the same, and the values that it enters with are data or not as before.
    """

    __slots__ = ("data",)

    def __init__(self, data: frozenset[int]) -> None:
        self.data = data


class LanesMemory:
    """What is known of blocks. `of_whole` is what it depends on besides them."""

    def __init__(self, of_whole: object, before: LanesMemory | None) -> None:
        self.of_whole = of_whole
        is_same = before is not None and before.of_whole == of_whole
        known = before if is_same else None
        self.lanes: Memory[tuple[int, BlockValues], BlockLanes] = Memory(known.lanes if known else None)
        self.data: Memory[_DataKey, BlockData] = Memory(known.data if known else None)


_DataKey: TypeAlias = tuple[BlockLanes, tuple[bool, ...]]


@lasting_fact
def lanes(function: Function, earlier: Earlier[LanesOfValues] | None) -> LanesOfValues:
    """How the values of `function` differ from lane to lane."""
    return _Evaluation(function, earlier, is_first=False).run()


@lasting_fact
def first_warp(function: Function, earlier: Earlier[LanesOfValues] | None) -> LanesOfValues:
    """The same in the first warp of each block: there `%tid.x` is the lane itself."""
    return _Evaluation(function, earlier, is_first=True).run()


class _Evaluation:
    def __init__(
        self, function: Function, earlier: Earlier[LanesOfValues] | None, *, is_first: bool
    ) -> None:
        self.uniformity = uniformity(function)
        self.values = self.uniformity.values
        self.known: dict[int, Lanes] = {}
        self.data: set[int] = set()
        self.blocks: dict[int, BlockLanes] = {}
        shape = _shape(function)
        is_known = is_first and is_shape_known(function, shape)
        of_whole = block_plans(function).of_whole, shape, is_known
        self.memory = LanesMemory(of_whole, earlier.value.memory if earlier else None)
        self.found = LanesOfValues(
            function, self.uniformity, shape, is_first, self.known, self.data, {}, self.memory
        )
        self.refused: set[int] = set()
        """Joins whose inputs do not agree, or that depend on the way."""

    def run(self) -> LanesOfValues:
        cfg = self.values.cfg
        for block in cfg.order:
            for join in self.values.joins_of[block]:
                self.join(join)
            self.blocks[block] = self.block(block, 0)
        for turn in range(1, _ROUNDS + 1):
            doubtful = {join for join in self.values.joins if not self.holds(join)} - self.refused
            if not doubtful:
                break
            self.refused |= doubtful if turn < _ROUNDS else self.values.joins.keys()
            self.again(turn)
        self.spread_data()
        return self.found

    def again(self, turn: int) -> None:
        """Evaluates what depends on joins that are refused now."""
        changed: set[int] = set()
        for block in self.values.cfg.order:
            for join in self.values.joins_of[block]:
                before = self.known.get(join.value)
                is_refused = before is not None and join.value in self.refused
                if is_refused or not changed.isdisjoint(join.inputs):
                    self.known.pop(join.value, None)
                    self.join(join)
                    if self.known.get(join.value) != before:
                        changed.add(join.value)
            if not changed.isdisjoint(self.values.blocks[block].entered):
                past = self.blocks[block].known
                for value in past:
                    del self.known[value]
                found = self.blocks[block] = self.block(block, turn)
                for value in past.keys() | found.known.keys():
                    if past.get(value) != found.known.get(value):
                        changed.add(value)

    def block(self, number: int, turn: int) -> BlockLanes:
        values = self.values.blocks[number]
        entered = tuple(map(self.known.get, values.entered))
        made = range(values.first, values.first + values.made)
        levels = self.uniformity.numbers[made.start : made.stop]
        found = self.memory.lanes.get((turn, values))
        if found is None or found.levels != levels or found.entered != entered:
            steps = self.values.cfg.blocks[number].steps
            for step, of in zip(self.values.steps.steps[steps.start : steps.stop], values.of, strict=True):
                if of.writes:
                    self.step(step, of.writes)
            known = {value: self.known[value] for value in made if value in self.known}
            return self.memory.lanes.put((turn, values), BlockLanes(levels, entered, known))
        self.known.update(found.known)
        return found

    def join(self, join: Join) -> None:
        value = join.value
        if self.uniformity.levels[value].is_uniform:
            self.known[value] = ANY
        elif value not in self.refused and self.uniformity.causes.get(value, Cause()).block < 0:
            first = next((self.known[one] for one in self.from_before(join) if one in self.known), None)
            if first is not None:
                self.known[value] = Lanes(0, first.spread, 1)

    def from_before(self, join: Join) -> Iterator[int]:
        """The inputs of a join that do not come round a loop."""
        rank = self.values.cfg.graph.ranks
        return (one for one in join.inputs if rank[self.values.block_of(one)] < rank[join.block])

    def holds(self, value: int) -> bool:
        """Whether all inputs of a join differ from lane to lane as the join does."""
        mine = self.known.get(value)
        if mine is None or self.uniformity.levels[value].is_uniform:
            return True
        for one in self.values.joins[value].inputs:
            found = self.known.get(one)
            if found is None:
                return False
            if found.spread != mine.spread:
                return False
        return True

    def step(self, step: Step, made: tuple[int, ...]) -> None:
        found: Lanes | None = None
        if not step.is_guarded and len(made) == 1:
            found = self.result(step)
        for value in made:
            if found is not None:
                self.known[value] = found
            elif self.uniformity.levels[value].is_uniform or self.is_made_alike(step, value):
                self.known[value] = ANY

    def is_made_alike(self, step: Step, value: int) -> bool:
        """Whether a step gives all lanes the same because all that it depends on is the same for them."""
        plan = self.uniformity.plans[step.number]
        if plan.floor > Level.WARP or value == plan.second:
            return False
        known = self.known
        return all(one in known and known[one].is_uniform for one in plan.inputs)

    def result(self, step: Step) -> Lanes | None:
        """What a step makes; None where it is no arithmetic that is followed."""
        opcode, *modifiers = step.spelling.split(".")
        sources = step.node.operands[1:]
        if opcode not in _ARITHMETIC or len(sources) < _ARITHMETIC[opcode]:
            return None
        if not _NO_FORM.isdisjoint(modifiers) or (modifiers and modifiers[-1] in _NO_INTEGERS):
            return None
        if opcode == "cvt" and len(modifiers) == 2 and modifiers[0] in _NO_INTEGERS:
            return None
        inputs = [self.found.operand(step, one) for one in sources[: _ARITHMETIC[opcode]]]
        known = [_signed(one) if opcode == "and" else one for one in inputs if one is not None]
        return compute(opcode, known) if len(known) == len(inputs) else None

    def spread_data(self) -> None:
        """Which values depend on what was loaded, by the chains of what they read."""
        for block in self.values.cfg.order:
            for join in self.values.joins_of[block]:
                if join.value not in self.known and any(one in self.data for one in join.inputs):
                    self.data.add(join.value)
            entered = tuple(map(self.data.__contains__, self.values.blocks[block].entered))
            key = self.blocks[block], entered
            found = self.memory.data.get(key)
            if found is None:
                found = self.memory.data.put(key, BlockData(frozenset(self.data_of(block))))
            self.data |= found.data
            self.found.blocks[block] = found

    def data_of(self, block: int) -> Iterator[int]:
        """The values of one block that are data, in order: they are added to all as they come."""
        for number in self.values.cfg.blocks[block].steps:
            found = self.values.of[number]
            opcode = self.values.steps.steps[number].opcode
            is_data = opcode in _LOADING or any(one in self.data for one in found.reads)
            for value in found.writes if is_data else ():
                if self.uniformity.levels[value] >= Level.UNKNOWN and value not in self.known:
                    self.data.add(value)
                    yield value


def is_shape_known(function: Function, shape: Size) -> bool:
    """See `LanesOfValues.is_shape_known`."""
    if block_size(function).x or shape.y * shape.z > 1:
        return True
    return not uses_of_y_and_z(function)


def _shape(function: Function) -> Size:
    size = block_size(function)
    if size.x:
        return size
    for directive in reversed(function.node.directives):  # of several, ptxas takes the last
        if directive.name.text == ".maxntid":
            sizes = [literal(one) or 0 for one in directive.arguments]
            return Size(*(*sizes, 1, 1, 1)[:3])
    return size


def _thread_index(component: str, shape: Size) -> Lanes | None:
    rows = shape.x or WARP
    if component == ".x":
        if rows % WARP == 0:
            return Lanes.of(range(WARP), WARP if shape.x != WARP else 0)
        return Lanes.of([lane % rows for lane in range(WARP)], 0) if WARP % rows == 0 else None
    above = rows if component == ".y" else rows * shape.y
    if above and above % WARP == 0:
        return ANY
    limit = shape.y if component == ".y" else shape.z
    if not above or WARP % above:
        return None
    found = [lane // above for lane in range(WARP)]
    if limit and component == ".y" and found[-1] >= limit:
        return Lanes.of([one % limit for one in found], 0) if len(found) % limit == 0 else None
    return Lanes.of(found, found[-1] + 1)


def alignment_of(variable: Variable) -> int:
    """In bytes, as declared; 1 where that is not plain."""
    stated = variable.declaration.alignment
    return (literal(stated) if isinstance(stated, nodes.Number) else None) or 1


def _signed(a: Lanes) -> Lanes:
    """A mask such as `0xfffffff0` as what it is in 32 bits: -16."""
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
