"""Scopes: the symbols of names in each block.

The rules are those of ptxas (docs/ptxas.md, section 2). A name is visible from its declaration to the end of
its block, and hides the same name of outer blocks. Registers, variables, parameters and labels of one block
share one namespace. Only labels may be used before their declaration.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from ptx_lsp.model import _core
from ptx_lsp.model._core import range_index as range_index
from ptx_lsp.model.symbols import Declared, Register, Variable
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.literals import integer

if TYPE_CHECKING:
    from typing import Final

_DIGITS: Final = "0123456789"


class Range:
    """`%r<8>`: the names `%r0` to `%r7`."""

    __slots__ = ("count", "declared")

    def __init__(self, declared: Register | Variable, count: int) -> None:
        self.declared = declared
        self.count = count

    def member(self, name: str) -> Register | Variable:
        """The member of the range called `name`."""
        return _core.member(self, name)


class Scope:
    """The names of one block. `number` is its index among the scopes of a function in text order, and `start`
    the start of the block.
    """

    __slots__ = ("names", "number", "numbered", "parent", "ranges", "start")

    def __init__(self, parent: Scope | None = None, number: int = 0, start: int = 0) -> None:
        self.parent = parent
        self.number = number
        self.start = start
        self.names: dict[str, Declared] = {}
        self.ranges: dict[str, Range] = {}
        self.numbered: dict[str, list[str]] | None = None
        """By their text without the digits at the end, the names apart from labels and members of ranges that
        decide whether a range may be declared (`native/declarations.h`); None if there are no such names.
        """

    def copy(self, parent: Scope | None) -> Scope:
        """A copy with the same names, inside `parent`."""
        found = Scope(parent, self.number, self.start)
        found.names = dict(self.names)
        found.ranges = self.ranges
        found.numbered = self.numbered
        return found

    def find(self, name: str) -> Declared | None:
        """The symbol of `name` in this block or an enclosing one."""
        return _core.find(self, name)

    def find_here(self, name: str) -> Declared | None:
        """The symbol of `name` in this block."""
        return _core.find_here(self, name)

    def declare(self, symbol: Declared) -> Declared | None:
        """Adds a name unless it is already declared: then its symbol. A label may have the name of a member
        of a range.
        """
        return _core.declare(self, symbol.name, symbol)

    def range_of(self, name: str) -> Range | None:
        """The range whose names resemble `name`, even if it exceeds the range."""
        base = name.rstrip(_DIGITS)
        scope: Scope | None = self if base != name else None
        while scope is not None:
            if base in scope.ranges:
                return scope.ranges[base]
            scope = scope.parent
        return None

    def all_names(self) -> Iterator[str]:
        """Every visible name, including names of ranges."""
        scope: Scope | None = self
        while scope is not None:
            yield from tuple(scope.names)  # another thread may find a member of a range
            for base, found in scope.ranges.items():
                yield from (f"{base}{index}" for index in range(min(found.count, 10_000)))
            scope = scope.parent


def range_count(declarator: nodes.Declarator) -> int:
    """The number of names that a range declares; 0 if it is not a number. ptxas uses 32 bits of it."""
    count = declarator.range
    return _count(count.text) if isinstance(count, nodes.Number) else 0


@lru_cache(maxsize=256)
def _count(text: str) -> int:
    return (integer(text) or 0) % 2**32
