"""Dense indices of registers.

1. Registers are numbered in the order of their declarations, parameters first. Registers of a range are
   numbered by their position. Unused registers count too, so that editing code leaves the indices unchanged.
2. If far more registers are declared than there are instructions, only used registers have an index, in the
   same order (`is_dense` is false then).
"""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.model._core import register_number
from ptx_lsp.model.body import Body
from ptx_lsp.model.function import Function
from ptx_lsp.model.scope import range_count, range_index
from ptx_lsp.model.symbols import Register
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import Final

_EACH = 4
_MORE = 1_000
"""Unused registers are numbered up to this many per instruction, plus this constant."""


class RegisterIndex:
    """The indices of the registers of a function. Two indices are equal if all registers have the same
    number.
    """

    __slots__ = ("_sparse", "count", "firsts", "is_dense")

    def __init__(
        self,
        firsts: dict[nodes.Declarator, int],
        count: int,
        sparse: dict[tuple[nodes.Declarator, int], int] | None = None,
    ) -> None:
        self.firsts: Final = firsts
        """The index of the first register of each declarator; empty if not all registers have one (2)."""
        self.count: Final = count
        self.is_dense: Final = sparse is None
        self._sparse: Final = sparse or {}
        """The indices by declaration and position in the range, where not all registers have one (2)."""

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, RegisterIndex)
            and self.count == other.count
            and self.is_dense == other.is_dense
            and self.firsts == other.firsts
            and self._sparse == other._sparse
        )

    def index(self, register: Register) -> int:
        """The index of a used register."""
        found = self.find(register)
        if found is None:
            raise KeyError(register.name)
        return found

    def find(self, register: Register) -> int | None:
        """The index of any register; None if it is not of the function, or is unused (2)."""
        if not self.is_dense:
            return self._sparse.get((register.declarator, _index(register)))
        return register_number(self.firsts, register)

    def runs(self, body: Body) -> list[tuple[Register, int]]:
        """Registers in the order of their indices, each with the number of registers with its type from there
        on.
        """
        if self.is_dense:
            return [(declared, _count(declared)) for declared in _declared(body)]
        return [(register, 1) for register in self.registers(body)]

    def registers(self, body: Body) -> list[Register]:
        """The registers in the order of their indices."""
        if self.is_dense:
            return [one for declared in _declared(body) for one in _members(declared)]
        named = {self.index(one): one for one in _named(body)}
        return [named[number] for number in range(self.count)]


def register_index(function: Function) -> RegisterIndex:
    """The register index of `function`."""
    firsts: dict[nodes.Declarator, int] = {}
    count = 0
    for declared in _declared(function.body):
        firsts[declared.declarator] = count
        count += _count(declared)
    if count <= _EACH * len(function.body.instructions) + _MORE:
        return RegisterIndex(firsts, count)
    order = {declarator: place for place, declarator in enumerate(firsts)}
    found = {(one.declarator, _index(one)) for one in _named(function.body)}
    listed = sorted(found, key=lambda one: (order[one[0]], one[1]))
    return RegisterIndex({}, len(listed), {one: n for n, one in enumerate(listed)})


def _declared(body: Body) -> list[Register]:
    """The declared registers, of ranges the first."""
    parameters = [*body.returns, *body.parameters]
    return [*[one for one in parameters if type(one) is Register], *body.registers]


def _named(body: Body) -> Iterator[Register]:
    starts = {symbol.place.start for symbol in _declared(body)}
    for start, symbol in body.symbols.items():
        if type(symbol) is Register and start not in starts:
            yield symbol


def _count(declared: Register) -> int:
    return 1 if declared.declarator.range is None else range_count(declared.declarator)


def _members(declared: Register) -> Iterator[Register]:
    if declared.declarator.range is None:
        yield declared
        return
    name, type, vector, declarator, place = (
        declared.name, declared.type, declared.vector, declared.declarator, declared.place
    )
    for index in range(range_count(declarator)):
        yield Register(f"{name}{index}", type, vector, declarator, place)


def _index(register: Register) -> int:
    """The position of a register in its range; 0 if it is not part of a range."""
    declarator = register.declarator
    return 0 if declarator.range is None else range_index(register.name, declarator.name.text)
