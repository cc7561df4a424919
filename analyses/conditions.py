"""What the threads of a warp find when they test a predicate.

1. A predicate made by an integer `setp` of values whose lanes are known (`lanes.py`) *splits* a warp where,
   for some value of the uniform parts, it holds for some lanes and not for others. Otherwise it is the
   same for all lanes, as `tid.x / 32 == 3` is, though it differs between warps.
2. In the first warp of a block the thread numbers are the lanes themselves. Where nothing else is in a
   comparison, it is known for each lane (`first`).
3. `and`, `or`, `xor`, `not` and `mov` of predicates combine what is known of their operands.
4. Of all other predicates: what is the same for all lanes of a warp (`lanes.py`, 5) does not split, of the
   rest nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from analyses.lane_arithmetic import Lanes, add
from analyses.lanes import LanesOfValues, first_warp, lanes
from analyses.steps import Step
from analyses.uniformity import Uniformity
from analyses.values import NONE
from ptx_lsp.facts import fact
from ptx_lsp.isa.types import TYPES
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Register
from ptx_lsp.syntax import nodes

_DEEPEST = 40
"""Predicates made of predicates that are followed."""


class Condition(NamedTuple):
    """`splits` is None where it is not known whether threads of one warp find different things; `first`
    tells it of each lane of the first warp, or is None.
    """

    splits: bool | None
    first: tuple[bool, ...] | None = None
    is_single: bool = False
    """Whether it compares for equality, so that it may hold for one lane alone (or for all but one)."""

    @property
    def surely_splits(self) -> bool:
        """Whether the first warp of a block is split."""
        return self.first is not None and len(set(self.first)) == 2

    @property
    def negated(self) -> Condition:
        first = self.first and tuple([not one for one in self.first])
        return Condition(self.splits, first, self.is_single)


NOTHING = Condition(None)


@dataclass(frozen=True)
class Conditions:
    """Answers for the values of predicates."""

    function: Function
    lanes: LanesOfValues
    _known: dict[int, Condition] = field(default_factory=dict[int, Condition])

    @property
    def uniformity(self) -> Uniformity:
        return self.lanes.uniformity

    def of_guard(self, step: Step) -> Condition:
        """Whether the guard lets a thread do the step."""
        value = self.uniformity.values.of[step.number].guard
        if value == NONE or step.node.guard is None:
            return NOTHING
        if self.uniformity.guard(step.number).is_uniform:
            return Condition(splits=False)
        found = self.of(value)
        return found.negated if step.node.guard.negated else found

    def of(self, value: int, depth: int = 0) -> Condition:
        """What is known of a value of a predicate."""
        found = self._known.get(value)
        if found is None:
            found = self._computed(value, depth) if depth < _DEEPEST else NOTHING
            known = self.lanes.of(value)
            if found.splits is None and known is not None and known.is_uniform:
                found = found._replace(splits=False)
            self._known[value] = found
        return found

    def _computed(self, value: int, depth: int) -> Condition:
        values = self.uniformity.values
        number = values.origin(value)
        if number == NONE:
            return NOTHING
        step = values.steps.steps[number]
        opcode, *modifiers = step.spelling.split(".")
        operands = step.node.operands
        if step.is_guarded or len(values.of[number].writes) != 1 or len(operands) < 2:
            return NOTHING
        if opcode == "setp":
            return self._compared(step, modifiers, depth)
        if modifiers != ["pred"]:
            return NOTHING
        first = self._operand(step, operands[1], depth)
        match opcode:
            case "mov":
                return first
            case "not":
                return first.negated
            case "and" | "or" | "xor":
                return _combined(opcode, first, self._operand(step, operands[2], depth))
            case _:
                return NOTHING

    def _compared(self, step: Step, modifiers: list[str], depth: int) -> Condition:
        comparison, type_name = _COMPARISONS.get(modifiers[0]), modifiers[-1]
        type = TYPES.get(f".{type_name}")
        operands = step.node.operands
        if comparison is None or type is None or type_name[0] not in "sub" or len(operands) < 3:
            return NOTHING
        splits: bool | None = None
        a, b = (self.lanes.operand(step, one) for one in operands[1:3])
        if a is not None and b is not None:
            splits = _may_split(modifiers[0], add(a, _negative(b)))
            if type_name[0] == "u" and modifiers[0] not in ("eq", "ne"):
                splits = splits or _passes_zero(a) or _passes_zero(b)
            known = first_warp(self.function)  # where less is known than in any warp, nothing is exact
            a, b = (known.operand(step, one) for one in operands[1:3])
        exact: tuple[bool, ...] | None = None
        if a is not None and b is not None and a.alignment == b.alignment == 0:
            bits, is_signed = 8 * type.bytes, type_name[0] == "s"
            pairs = zip(a.offsets, b.offsets, strict=True)
            exact = tuple(
                [comparison(_wrapped(x, bits, is_signed), _wrapped(y, bits, is_signed)) for x, y in pairs]
            )
        found = Condition(splits, exact, modifiers[0] in ("eq", "ne"))
        if modifiers[1] in _OPERATIONS and len(operands) == 4:
            return _combined(modifiers[1], found, self._operand(step, operands[3], depth))
        return found

    def _operand(self, step: Step, operand: nodes.Operand, depth: int) -> Condition:
        is_negated = isinstance(operand, nodes.Unary) and operand.operator == "!"
        name = operand.value if isinstance(operand, nodes.Unary) else operand
        symbol = self.function.resolve(name) if isinstance(name, nodes.Name) else None
        values = self.uniformity.values
        index = values.steps.number(symbol) if isinstance(symbol, Register) else None
        if index not in step.reads:
            return NOTHING
        value = values.of[step.number].reads[step.reads.index(index)]
        if value == NONE:
            return NOTHING
        block = values.cfg.block_of[step.number]
        if self.uniformity.at(value, block) != self.uniformity.levels[value]:  # it escapes from a loop
            return NOTHING
        found = self.of(value, depth + 1)
        return found.negated if is_negated else found


@fact
def conditions(function: Function) -> Conditions:
    """What is known of the predicates of `function`."""
    return Conditions(function, lanes(function))


def _combined(operation: str, a: Condition, b: Condition) -> Condition:
    splits = None if a.splits is None or b.splits is None else a.splits or b.splits
    is_single = a.is_single or b.is_single
    if a.first is None or b.first is None:
        return Condition(splits, None, is_single)
    combine = _OPERATIONS[operation]
    return Condition(splits, tuple(map(combine, a.first, b.first)), is_single)


def _may_split(comparison: str, difference: Lanes) -> bool:
    """Whether lanes compare differently for some multiple of the alignment."""
    unit = difference.alignment
    if unit == 0 or difference.is_uniform:
        return not difference.is_uniform
    if comparison in ("eq", "ne"):
        return any(offset % unit == 0 for offset in difference.offsets)
    above = 1 if comparison in ("le", "ls", "gt", "hi") else 0
    return len({(offset - above) // unit for offset in difference.offsets}) > 1


def _passes_zero(a: Lanes) -> bool:
    """Whether some lanes may be below 0 and others not: as unsigned numbers those are the largest."""
    unit = a.alignment & -a.alignment
    offsets = a.offsets
    if unit == 0:
        return min(offsets) < 0 <= max(offsets)
    return min(offsets) < 0 and len({offset // unit for offset in offsets}) > 1


def _negative(a: Lanes) -> Lanes:
    return Lanes.of([-one for one in a.offsets], a.alignment)


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
