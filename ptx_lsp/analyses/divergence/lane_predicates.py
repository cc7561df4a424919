"""The lanes of a warp for which a predicate is true.

1. A predicate made by an integer `setp` of values with known lane offsets (`lane_values.py`) is *divergent*
   if, for some value of the uniform parts, it is true for some lanes only. Otherwise it is the same for all
   lanes. `tid.x / 32 == 3` is an example, although it differs between warps.
2. In the first warp of a block, the thread indices are the lane numbers. If a comparison depends on nothing
   else, its result is known for each lane (`first_warp_lanes`).
3. `and`, `or`, `xor`, `not` and `mov` of predicates combine the known lanes of their operands.
4. Any other predicate that is the same for all lanes of a warp (`lane_values.py`, 5) is not divergent. All
   remaining predicates are unknown.
"""

from __future__ import annotations

from collections.abc import Callable

from ptx_lsp.analyses.dataflow.ssa import NONE
from ptx_lsp.analyses.divergence.lane_arithmetic import LaneOffsets, add
from ptx_lsp.analyses.divergence.lane_values import LaneValues, first_warp_values, lane_values
from ptx_lsp.analyses.divergence.uniformity import Uniformity
from ptx_lsp.analyses.instructions.uses_and_defs import InstructionInfo
from ptx_lsp.facts import fact
from ptx_lsp.isa.types import TYPES
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Register
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import Final

_DEEPEST = 40
"""The maximum depth of predicates computed from predicates."""


class LanePredicate(NamedTuple):
    """`is_divergent` is None if it is unknown whether the threads of one warp differ. `first_warp_lanes` is
    the result for each lane of the first warp, or None.
    """

    is_divergent: bool | None
    first_warp_lanes: tuple[bool, ...] | None = None
    is_equality: bool = False
    """Whether the predicate compares for equality, so that it may be true for a single lane (or for all but
    one).
    """

    @property
    def splits_first_warp(self) -> bool:
        """Whether the predicate differs between lanes of the first warp."""
        return self.first_warp_lanes is not None and len(set(self.first_warp_lanes)) == 2

    @property
    def negated(self) -> LanePredicate:
        first = self.first_warp_lanes and tuple([not one for one in self.first_warp_lanes])
        return LanePredicate(self.is_divergent, first, self.is_equality)


UNKNOWN = LanePredicate(None)


class LanePredicates:
    """The predicates of a function, evaluated on demand."""

    __slots__ = ("_cache", "function", "lanes")

    def __init__(self, function: Function, lanes: LaneValues) -> None:
        self.function: Final = function
        self.lanes: Final = lanes
        self._cache: Final[dict[int, LanePredicate]] = {}

    @property
    def uniformity(self) -> Uniformity:
        return self.lanes.uniformity

    def guard(self, step: InstructionInfo) -> LanePredicate:
        """The lanes for which the guard of an instruction is true."""
        value = self.uniformity.ssa.by_instruction[step.number].guard
        if value == NONE or step.node.guard is None:
            return UNKNOWN
        if self.uniformity.escapes(value, self.uniformity.ssa.cfg.block_of[step.number]):
            return UNKNOWN
        if self.uniformity.guard_level(step.number).is_uniform:
            return LanePredicate(is_divergent=False)
        found = self.value(value)
        return found.negated if step.node.guard.negated else found

    def value(self, value: int, depth: int = 0) -> LanePredicate:
        """The lanes for which a predicate value is true."""
        found = self._cache.get(value)
        if found is None:
            found = self._computed(value, depth) if depth < _DEEPEST else UNKNOWN
            known = self.lanes.value(value)
            if found.is_divergent is None and known is not None and known.is_uniform:
                found = found._replace(is_divergent=False)
            self._cache[value] = found
        return found

    def _computed(self, value: int, depth: int) -> LanePredicate:
        values = self.uniformity.ssa
        number = values.definitions[value]
        if number == NONE:
            return UNKNOWN
        step = values.instructions.info(number)
        opcode, *modifiers = step.spelling.split(".")
        operands = step.node.operands
        if step.is_guarded or len(values.by_instruction[number].defs) != 1 or len(operands) < 2:
            return UNKNOWN
        if opcode == "setp":
            return self._compared(step, modifiers, depth)
        if modifiers != ["pred"]:
            return UNKNOWN
        first = self._operand(step, operands[1], depth)
        match opcode:
            case "mov":
                return first
            case "not":
                return first.negated
            case "and" | "or" | "xor":
                return _combined(opcode, first, self._operand(step, operands[2], depth))
            case _:
                return UNKNOWN

    def _compared(self, step: InstructionInfo, modifiers: list[str], depth: int) -> LanePredicate:
        comparison, type_name = _COMPARISONS.get(modifiers[0]), modifiers[-1]
        type = TYPES.get(f".{type_name}")
        operands = step.node.operands
        if comparison is None or type is None or type_name[0] not in "sub" or len(operands) < 3:
            return UNKNOWN
        splits: bool | None = None
        a, b = (self.lanes.operand(step, one) for one in operands[1:3])
        if a is not None and b is not None:
            splits = _may_diverge(modifiers[0], add(a, _negative(b)))
            if type_name[0] == "u" and modifiers[0] not in ("eq", "ne"):
                splits = splits or _passes_zero(a) or _passes_zero(b)
            known = first_warp_values(self.function)  # where less is known than in any warp, nothing is exact
            a, b = (known.operand(step, one) for one in operands[1:3])
        exact: tuple[bool, ...] | None = None
        if a is not None and b is not None and a.alignment == b.alignment == 0:
            bits, is_signed = 8 * type.bytes, type_name[0] == "s"
            pairs = zip(a.offsets, b.offsets, strict=True)
            exact = tuple(
                [comparison(_wrapped(x, bits, is_signed), _wrapped(y, bits, is_signed)) for x, y in pairs]
            )
        found = LanePredicate(splits, exact, modifiers[0] in ("eq", "ne"))
        if modifiers[1] in _OPERATIONS and len(operands) == 4:
            return _combined(modifiers[1], found, self._operand(step, operands[3], depth))
        return found

    def _operand(self, step: InstructionInfo, operand: nodes.Operand, depth: int) -> LanePredicate:
        is_negated = isinstance(operand, nodes.Unary) and operand.operator == "!"
        name = operand.value if isinstance(operand, nodes.Unary) else operand
        symbol = self.function.resolve(name) if isinstance(name, nodes.Name) else None
        values = self.uniformity.ssa
        index = values.instructions.index_of(symbol) if isinstance(symbol, Register) else None
        if index not in step.uses:
            return UNKNOWN
        value = values.by_instruction[step.number].uses[step.uses.index(index)]
        if value == NONE or self.uniformity.escapes(value, values.cfg.block_of[step.number]):
            return UNKNOWN
        found = self.value(value, depth + 1)
        return found.negated if is_negated else found


@fact
def lane_predicates(function: Function) -> LanePredicates:
    """The lane predicates of `function`."""
    return LanePredicates(function, lane_values(function))


def _combined(operation: str, a: LanePredicate, b: LanePredicate) -> LanePredicate:
    splits = None if a.is_divergent is None or b.is_divergent is None else a.is_divergent or b.is_divergent
    is_single = a.is_equality or b.is_equality
    if a.first_warp_lanes is None or b.first_warp_lanes is None:
        return LanePredicate(splits, None, is_single)
    combine = _OPERATIONS[operation]
    return LanePredicate(splits, tuple(map(combine, a.first_warp_lanes, b.first_warp_lanes)), is_single)


def _may_diverge(comparison: str, difference: LaneOffsets) -> bool:
    """Whether the comparison differs between lanes for some multiple of the alignment."""
    unit = difference.alignment
    if unit == 0 or difference.is_uniform:
        return not difference.is_uniform
    if comparison in ("eq", "ne"):
        return any(offset % unit == 0 for offset in difference.offsets)
    above = 1 if comparison in ("le", "ls", "gt", "hi") else 0
    return len({(offset - above) // unit for offset in difference.offsets}) > 1


def _passes_zero(a: LaneOffsets) -> bool:
    """Whether some lanes may be negative and others not: as unsigned numbers, negative ones are the largest.
    """
    unit = a.alignment & -a.alignment
    offsets = a.offsets
    if unit == 0:
        return min(offsets) < 0 <= max(offsets)
    return min(offsets) < 0 and len({offset // unit for offset in offsets}) > 1


def _negative(a: LaneOffsets) -> LaneOffsets:
    return LaneOffsets.of([-one for one in a.offsets], a.alignment)


def _wrapped(value: int, bits: int, is_signed: bool) -> int:
    value %= 1 << bits
    return value - (1 << bits) if is_signed and value >> (bits - 1) else value


_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda x, y: x == y, "ne": lambda x, y: x != y,
    "lt": lambda x, y: x < y, "lo": lambda x, y: x < y,
    "le": lambda x, y: x <= y, "ls": lambda x, y: x <= y,
    "gt": lambda x, y: x > y, "hi": lambda x, y: x > y,
    "ge": lambda x, y: x >= y, "hs": lambda x, y: x >= y,
}
_OPERATIONS: dict[str, Callable[[bool, bool], bool]] = {
    "and": lambda x, y: x and y, "or": lambda x, y: x or y, "xor": lambda x, y: x != y,
}
