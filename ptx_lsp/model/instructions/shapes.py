"""The shape of each instruction of a function.

Shapes are interned per process, in tables that are replaced when they become large. Two different objects may
therefore be equal shapes, but one object is always one shape.
"""

from __future__ import annotations

from ptx_lsp.facts import Previous, incremental_fact
from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.isa.schema.operand import Argument
from ptx_lsp.model import _core
from ptx_lsp.model.body_diff import InstructionRangeEdit
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.arguments import argument, group
from ptx_lsp.model.instructions.features import (
    ADDRESS,
    NUMBER,
    OFFSET,
    VECTOR,
    features_of,
)
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import Final

_MOST: Final = 1 << 15
"""The number of shapes, and of different operands, after which the tables are replaced."""

_FEW: Final = 16
"""So many exchanged instructions are cheaper than a new index."""


class _Operand:
    """An operand as part of a shape. Interned like shapes."""

    __slots__ = ("argument", "features")

    def __init__(self, argument: Argument, features: int) -> None:
        self.argument = argument
        self.features = features


class _Tables:
    """The interned shapes and operands. The specific tables make the frequent operands cheap."""

    def __init__(self) -> None:
        self.shapes: dict[tuple[object, ...], Shape] = {}
        self.operands: dict[tuple[Argument, int], _Operand] = {}
        self.registers: dict[str, _Operand] = {}
        """Scalar registers by type."""
        self.integers: dict[str, _Operand] = {}
        self.variables: dict[tuple[str, str, int], _Operand] = {}
        """Variables by type, state space and features."""
        self.addresses: dict[_Operand, _Operand] = {}
        """Addresses such as `[x]` by the register or variable."""
        self.sums: dict[_Operand, _Operand] = {}
        """Addresses such as `[x+4]` by the register or variable."""
        self.vectors: dict[tuple[_Operand, ...], _Operand] = {}
        """Vectors of registers."""

    def operand(self, argument: Argument, features: int) -> _Operand:
        key = (argument, features)
        found = self.operands.get(key)
        if found is None:
            found = self.operands.setdefault(key, _Operand(argument, features))
        return found

    def register(self, type: str) -> _Operand:
        found = self.registers.get(type)
        if found is None:
            found = self.registers[type] = self.operand(Argument("register", type), 0)
        return found



_tables = _Tables()


@incremental_fact
def _shapes(function: Function, earlier: Previous[tuple[Shape, ...]] | None) -> tuple[Shape, ...]:
    if earlier is None:
        return tuple(_between(function, 0, len(function.body.instructions)))
    value, (first, old_end, end) = earlier
    return (*value[:first], *_between(function, first, end), *value[old_end:])


def shapes(function: Function) -> tuple[Shape, ...]:
    """The shape of each instruction of a function, in order."""
    return _shapes(function) if function.body.instructions else ()


@incremental_fact
def shape_counts(function: Function, earlier: Previous[_Counts] | None) -> _Counts:
    """The distinct shapes of a function, each with the number of its instructions."""
    of_all = shapes(function)
    if earlier is None:
        return _Counts(of_all, {shape: len(numbers) for shape, numbers in shape_index(function).items()})
    before, (first, old_end, end) = earlier
    counts = dict(before.counts)
    for shape in of_all[first:end]:
        counts[shape] = counts.get(shape, 0) + 1
    for shape in before.shapes[first:old_end]:
        counts[shape] -= 1
        if not counts[shape]:
            del counts[shape]
    return _Counts(of_all, counts)


class _Counts:
    """The shapes that were counted, and how often each occurs."""

    __slots__ = ("counts", "shapes")

    def __init__(self, shapes: tuple[Shape, ...], counts: dict[Shape, int]) -> None:
        self.shapes = shapes
        self.counts = counts


class _Index:
    """The indices of the instructions of each shape, in order. `shapes` are those of all instructions."""

    __slots__ = ("numbers", "shapes")

    def __init__(self, shapes: tuple[Shape, ...], numbers: dict[Shape, list[int]]) -> None:
        self.shapes: Final = shapes
        self.numbers: Final = numbers


@incremental_fact
def _index(function: Function, earlier: Previous[_Index] | None) -> _Index:
    of_all = shapes(function)
    if earlier is not None:
        first, old_end, end = earlier.change
        if end == old_end and end - first <= _FEW:
            return _exchanged(earlier.value, of_all, earlier.change)
    return _Index(of_all, _core.places(of_all))


def _exchanged(before: _Index, of_all: tuple[Shape, ...], change: InstructionRangeEdit) -> _Index:
    """The index after some instructions were exchanged for as many others. The lists of `before` are not
    changed.
    """
    found = before.numbers.copy()
    for number in range(change.first, change.end):
        old, new = before.shapes[number], of_all[number]
        if old is not new:
            left = [one for one in found[old] if one != number]
            if left:
                found[old] = left
            else:
                del found[old]
            found[new] = sorted([*found.get(new, ()), number])
    return _Index(of_all, found)


def shape_index(function: Function) -> dict[Shape, list[int]]:
    """The indices of the instructions of each shape, in order."""
    return _index(function).numbers if function.body.instructions else {}


def forget_shapes() -> None:
    """Replaces the tables: no shape is kept that no function has."""
    global _tables
    _tables = _Tables()


def _between(function: Function, first: int, end: int) -> list[Shape]:
    tables = _current_tables()
    some = function.body.instructions[first:end]
    reader, body = _Reader(function, tables), function.body
    return _core.shapes(
        some, tables, reader, function.symbols, function.linked, body.parameters, body.returns
    )


def _current_tables() -> _Tables:
    global _tables
    found = _tables
    if max(len(found.shapes), len(found.operands), len(found.integers)) > _MOST:
        found = _tables = _Tables()
    return found


class _Reader:
    """Makes what the tables do not have, for the instructions of one function."""

    __slots__ = ("function", "tables")

    def __init__(self, function: Function, tables: _Tables) -> None:
        self.function = function
        self.tables = tables

    def new(self, key: tuple[str, int, *tuple[_Operand, ...]]) -> Shape:
        """The shape with an opcode, the features of opcode and guard, and operands."""
        spelling, own, *operands = key
        for operand in operands:
            own |= operand.features
        shape = Shape(spelling, tuple([operand.argument for operand in operands]), own)
        return self.tables.shapes.setdefault(key, shape)

    def register(self, type: str) -> _Operand:
        """A scalar register."""
        return self.tables.register(type)

    def variable(self, key: tuple[str, str, int]) -> _Operand:
        """A variable with a type, a state space and features."""
        type, space, features = key
        found = self.tables.operand(Argument("variable", type, space), features)
        return self.tables.variables.setdefault(key, found)

    def address(self, base: _Operand) -> _Operand:
        """`[x]`, where `x` is a scalar register or a variable."""
        found = self.tables.operand(Argument("address", parts=(base.argument,)), ADDRESS | base.features)
        return self.tables.addresses.setdefault(base, found)

    def sum(self, base: _Operand) -> _Operand:
        """`[x+4]`, where `x` is a scalar register or a variable."""
        features = ADDRESS | OFFSET | NUMBER | base.features
        found = self.tables.operand(Argument("address", parts=(base.argument,)), features)
        return self.tables.sums.setdefault(base, found)

    def vector(self, parts: tuple[_Operand, ...]) -> _Operand:
        """`{a, b}`, where `a` and `b` are scalar registers."""
        whole = Argument("vector", parts=tuple([part.argument for part in parts]))
        return self.tables.vectors.setdefault(parts, self.tables.operand(whole, VECTOR))

    def operand(self, value: nodes.Operand, spelling: str) -> _Operand:
        """Any other operand."""
        tables, function = self.tables, self.function
        if isinstance(value, nodes.Group) and spelling.startswith("call"):
            return tables.operand(group(function, value), features_of(function, value))
        found = tables.operand(argument(function, value), features_of(function, value))
        if isinstance(value, nodes.Number) and value.kind == "integer":
            tables.integers[value.text] = found
        return found
