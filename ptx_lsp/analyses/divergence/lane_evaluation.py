"""Evaluation of lane offsets on demand (`lane_values.py`): of a value, and of the values that it depends on.

1. A phi is first assumed to have the offsets of its inputs along forward edges. When its other inputs are
   known and one of them disagrees, the phi is unknown, and with it the values that depend on it. Nothing but
   that can change an assumed value, so the result does not depend on the order of evaluation.
2. An instruction is evaluated no further once an input makes its result unknown.
3. A value that differs in a warp because of an input, its cause, is unknown if that input is, and one that
   depends on the paths of threads is unknown. Causes are followed first: they lead to unknown values in fewer
   steps than all inputs.
4. An input that threads may read from different iterations of a loop is unknown there, even if it is known in
   the loop. `NONE` is evaluated instead.
"""

from __future__ import annotations

from functools import lru_cache

from ptx_lsp.analyses.dataflow.ssa import NONE, Phi
from ptx_lsp.analyses.divergence.divergence_sources import UniformityLevel
from ptx_lsp.analyses.divergence.lane_arithmetic import UNIFORM, LaneOffsets, constant, transfer
from ptx_lsp.analyses.divergence.lane_sources import LaneSources
from ptx_lsp.analyses.divergence.uniformity import Uniformity
from ptx_lsp.analyses.divergence.uniformity_solver import OWN
from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.model.instructions.features import GUARDED
from ptx_lsp.model.symbols import Register
from ptx_lsp.process_tables import process_table
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.literals import integer

if TYPE_CHECKING:
    from typing import Final

_WARP: Final = int(UniformityLevel.WARP)
_MISSING: Final = object()


def evaluate(
    roots: list[int], uniformity: Uniformity, sources: LaneSources, known: dict[int, LaneOffsets | None]
) -> tuple[dict[int, LaneOffsets | None], dict[int, tuple[int, ...]]]:
    """The lane offsets of the values `roots` and of the values that they depend on, unless they are `known`;
    None if unknown. Also the values that each was evaluated from.
    """
    evaluation = _Evaluation(uniformity, sources, known)
    return evaluation.run(roots), evaluation.inputs


class _Evaluation:
    def __init__(
        self, uniformity: Uniformity, sources: LaneSources, known: dict[int, LaneOffsets | None]
    ) -> None:
        self.uniformity = uniformity
        self.transfers = uniformity.transfers
        self.sources = sources
        self.known = known
        self.form = uniformity.ssa
        self.levels = uniformity.levels
        self.causes = uniformity.solution.cause_values
        self.cause_blocks = uniformity.solution.cause_blocks
        self.escaping = uniformity.solution.temporal_divergence
        self.out_of_step = uniformity.solution.out_of_step
        self.definitions = uniformity.ssa.definitions
        self.phis = uniformity.ssa.phis
        self.shapes = uniformity.transfers.shapes
        self.values = uniformity.ssa.by_instruction
        self.registers = uniformity.ssa.instructions.count
        self.block_of = uniformity.ssa.cfg.block_of
        self.instructions = sources.function.body.instructions
        self.symbols = sources.function.body.symbols
        self.found: dict[int, LaneOffsets | None] = {}
        self.inputs: dict[int, tuple[int, ...]] = {}
        """The values that each value is evaluated from; `NONE` for one that escapes from its loop (4)."""
        self.operations: dict[int, tuple[str, int]] = {}
        """Their `arithmetic`, where they have one."""
        self.followed: set[int] = set()
        """The values whose causes were followed."""
        self.assumed: list[Phi] = []
        self.roots: list[int] = []

    def run(self, roots: list[int]) -> dict[int, LaneOffsets | None]:
        self.roots.extend(roots)
        while self.roots:
            root = self.roots.pop()
            if root not in self.found:
                self.evaluate_with_inputs(root)
        for join in self.assumed:
            self.inputs[join.value] = self.as_read(join.inputs, join.block)
        rejected = [join.value for join in self.assumed if not self.is_consistent(join)]
        if rejected:
            self.reject(rejected)
        return self.found

    def evaluate_with_inputs(self, root: int) -> None:
        found, known, all_inputs, followed = self.found, self.known, self.inputs, self.followed
        path = [root]
        while path:
            value = path[-1]
            inputs = all_inputs.get(value)
            if inputs is None:
                if value in known:
                    found[path.pop()] = known[value]
                    continue
                if value not in followed and self.follow_causes(value):
                    path.pop()
                    continue
                inputs = all_inputs[value] = self.inputs_of(value)
            for one in inputs:
                other = found.get(one, _MISSING)
                if other is None:
                    found[path.pop()] = self.with_unknown_input(value)
                    break
                if other is _MISSING:
                    path.append(one)
                    break
            else:
                found[path.pop()] = self.evaluated(value)

    def follow_causes(self, value: int) -> bool:
        """Whether the causes of a value show that it is unknown (3): if the last one is, all are."""
        found, known, followed, levels = self.found, self.known, self.followed, self.levels
        chain: list[int] = []
        while value >= 0 and value not in found and value not in known:
            if value in followed or levels[value] <= _WARP:
                return False
            followed.add(value)
            chain.append(value)
            value = self.cause_of(value) if value >= self.registers else OWN
        if value == NONE or (value >= 0 and found.get(value, known.get(value)) is not None):
            return False
        for one, cause in zip(chain, (*chain[1:], value), strict=True):
            found[one] = None
            self.inputs[one] = (cause,) if cause >= 0 else ()
        return True

    def cause_of(self, value: int) -> int:
        """The input that makes a value unknown if it is unknown; `OWN` if the value is certainly unknown,
        `NONE` if neither is certain.
        """
        cause, number = self.causes[value], self.definitions[value]
        if (number < 0 or self.out_of_step) and self.uniformity.depends_on_path(value):
            return OWN
        if cause == NONE:
            return NONE
        if number >= 0 and self.arithmetic(number) is not None and cause not in self.values[number].uses:
            return NONE
        return cause if cause >= 0 and self.cause_blocks[value] < 0 else OWN

    def inputs_of(self, value: int) -> tuple[int, ...]:
        """The values that a value is evaluated from; of a phi, those that do not come along a back edge."""
        if value < self.registers:
            return ()
        is_uniform = self.levels[value] <= _WARP
        join = self.phis.get(value)
        if join is not None:
            return () if is_uniform else self.forward_inputs(join)
        number = self.definitions[value]
        arithmetic = self.arithmetic(number)
        if arithmetic is not None:
            self.operations[value] = arithmetic
            return self.as_read(self.values[number].uses, self.block_of[number])
        if is_uniform or not self.may_be_uniform(number, value):
            return ()
        return self.as_read(self.transfers.inputs(number), self.block_of[number])

    def as_read(self, inputs: tuple[int, ...], block: int) -> tuple[int, ...]:
        """Values that `block` reads, with `NONE` for those that escape from their loops (4)."""
        if not self.escaping or self.escaping.keys().isdisjoint(inputs):
            return inputs
        escapes = self.uniformity.escapes
        return tuple([NONE if escapes(one, block) else one for one in inputs])

    def forward_inputs(self, join: Phi) -> tuple[int, ...]:
        ranks = self.form.cfg.graph.ranks
        rank = ranks[join.block]
        forward = tuple([one for one in join.inputs if ranks[self.form.block_of(one)] < rank])
        return self.as_read(forward, join.block)

    # -- values ---------------------------------------------------------------------------------

    def evaluated(self, value: int) -> LaneOffsets | None:
        """The offsets of a value whose inputs are evaluated, up to the first unknown one."""
        if value < self.registers:
            return None
        join = self.phis.get(value)
        if join is not None:
            return UNIFORM if self.levels[value] <= _WARP else self.evaluated_phi(join)
        number = self.definitions[value]
        if self.values[number].carry_out == value:
            return None
        arithmetic = self.operations.get(value)
        if arithmetic is not None:
            result = self.transferred(number, value, arithmetic)
            if result is not None:
                return result
        if self.levels[value] <= _WARP:
            return UNIFORM
        return UNIFORM if self.may_be_uniform(number, value) and self.has_uniform_inputs(value) else None

    def with_unknown_input(self, value: int) -> LaneOffsets | None:
        """The offsets of a value with an input that is unknown."""
        if self.levels[value] > _WARP or self.values[self.definitions[value]].carry_out == value:
            return None
        return UNIFORM

    def evaluated_phi(self, join: Phi) -> LaneOffsets | None:
        inputs = self.inputs[join.value]
        first = self.found.get(inputs[0]) if inputs else None
        if first is None:
            return None
        for one in inputs:
            other = self.found.get(one)
            if other is None or other.spread != first.spread:
                return None
        if len(inputs) < len(join.inputs):
            self.assumed.append(join)
            self.roots.extend(self.as_read(join.inputs, join.block))
        return LaneOffsets(0, first.spread, 1)

    def may_be_uniform(self, number: int, value: int) -> bool:
        """Whether the result of an instruction is uniform if all of its inputs are."""
        level = self.transfers.plain_level(number)
        if level >= 0:
            return level <= _WARP
        function = self.transfers.of(number)
        return function.base_level <= _WARP and value != function.second_result

    def has_uniform_inputs(self, value: int) -> bool:
        for one in self.inputs[value]:
            found = self.found.get(one)
            if found is None or not found.is_uniform:
                return False
        return True

    def arithmetic(self, number: int) -> tuple[str, int] | None:
        """The opcode and the number of inputs of an instruction that this domain has a transfer function
        for.
        """
        shape = self.shapes[number]
        found = _OF_SHAPES.get(shape, _NOT_FOUND)
        if found is _NOT_FOUND:
            if len(_OF_SHAPES) >= _MOST_SHAPES:
                _OF_SHAPES.clear()
            found = _OF_SHAPES[shape] = _arithmetic_of(shape)
        return found if found is not None and len(self.values[number].defs) == 1 else None

    def transferred(self, number: int, value: int, arithmetic: tuple[str, int]) -> LaneOffsets | None:
        opcode, count = arithmetic
        operands, uses = self.instructions[number].operands, self.inputs[value]
        inputs: list[LaneOffsets] = []
        index = 0
        for place in range(1, 1 + count):
            operand = operands[place]
            if type(operand) is nodes.Name and type(self.symbols.get(operand.start)) is Register:
                found = self.found.get(uses[index])
                index += 1
            elif type(operand) is nodes.Number:
                found = _number(operand.kind, operand.text)
            else:
                found = self.sources.operand(operand)
            if found is None:
                return None
            inputs.append(_signed(found) if opcode == "and" else found)
        return transfer(opcode, inputs)

    # -- phis -----------------------------------------------------------------------------------

    def is_consistent(self, join: Phi) -> bool:
        """Whether all inputs of a phi differ between lanes as the phi does."""
        mine = self.found[join.value]
        if mine is None:
            return True
        for one in self.inputs[join.value]:
            found = self.found[one]
            if found is None or found.spread != mine.spread:
                return False
        return True

    def reject(self, phis: list[int]) -> None:
        """Makes phis unknown, and evaluates the values that depend on them again."""
        users: dict[int, list[int]] = {}
        for value, inputs in self.inputs.items():
            for one in inputs:
                users.setdefault(one, []).append(value)
        for value in phis:
            self.found[value] = None
        worklist = phis
        while worklist:
            for user in users.get(worklist.pop(), ()):
                if self.found.get(user) is None:
                    continue
                result = None if user in self.form.phis else self.evaluated(user)
                if result != self.found[user]:
                    self.found[user] = result
                    worklist.append(user)


@lru_cache(maxsize=4096)
def _number(kind: str, text: str) -> LaneOffsets | None:
    value = integer(text) if kind == "integer" else None
    return None if value is None else constant(value)


_NOT_FOUND: Final = ("", 0)
_MOST_SHAPES: Final = 1 << 15
_OF_SHAPES: Final[dict[Shape, tuple[str, int] | None]] = process_table({})


def _arithmetic_of(shape: Shape) -> tuple[str, int] | None:
    found = _arithmetic(shape.spelling)
    if found is None or shape.features & GUARDED or len(shape.arguments) <= found[1]:
        return None
    return found


def _arithmetic(spelling: str) -> tuple[str, int] | None:
    """The opcode and the number of inputs, if this domain has a transfer function for them."""
    opcode, *modifiers = spelling.split(".")
    count = _INPUTS.get(opcode)
    if count is None or not _NO_FORM.isdisjoint(modifiers):
        return None
    if modifiers and modifiers[-1] in _NO_INTEGERS:
        return None
    if opcode == "cvt" and len(modifiers) == 2 and modifiers[0] in _NO_INTEGERS:
        return None
    return opcode, count


def _signed(a: LaneOffsets) -> LaneOffsets:
    """A mask such as `0xfffffff0` as its signed 32-bit value: -16."""
    mask = a.constant
    is_negative = mask is not None and 1 << 31 <= mask < 1 << 32
    return constant(mask - (1 << 32)) if mask is not None and is_negative else a


_INPUTS: Final = {
    "mov": 1, "cvt": 1, "cvta": 1, "add": 2, "sub": 2, "mul": 2, "mad": 3, "shl": 2, "shr": 2, "and": 2,
    "or": 2, "xor": 2, "bfe": 3,
}  # fmt: skip
_NO_INTEGERS: Final = frozenset({"f16", "f32", "f64", "f16x2", "bf16", "bf16x2", "pred", "f32x2"})
_NO_FORM: Final = frozenset({"hi", "sat", "cc"})
