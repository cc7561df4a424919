"""The placement of functions' local variables in the local memory of a thread."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ptx_lsp.isa.types import TYPES, Kind
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.layout import alignment_bytes, element_bytes, size_bytes
from ptx_lsp.model.scope import range_count
from ptx_lsp.model.symbols import Variable

HANDLE_BYTES = 8
"""The memory of a texture, sampler or surface: its handle, or a place that is its handle."""


class Relative(NamedTuple):
    """An address in local memory: an offset from the value of a register."""

    register: int
    offset: int


class Placed(NamedTuple):
    """A variable in memory, starting at address `start` of its state space. Sizes are in bytes."""

    space: str
    name: str
    start: int
    size: int


class Locals:
    """Where local variables lie: from address 0 on, or from the address that a register holds."""

    def __init__(self, start: int | None = None) -> None:
        self.size = 0
        self._start = start
        self.placed: list[Placed] = []
        """The variables at fixed addresses."""

    def place(self, function: Function) -> dict[int, int | Relative]:
        """New memory for the variables of a function, once for each call: their addresses."""
        launched = {id(one) for one in function.launched}
        return self.place_all(one for one in function.body.variables if id(one) not in launched)

    def place_all(self, variables: Iterable[Variable]) -> dict[int, int | Relative]:
        """New memory for those of some variables that are local: their addresses."""
        found: dict[int, int | Relative] = {}
        for variable in variables:
            size, alignment = occupied(variable), alignment_bytes(variable) or 1
            if variable.space in (".local", ".param") and size is not None:
                size *= range_count(variable.declarator) if variable.declarator.range else 1
                at = found[id(variable.declarator)] = self.slot(size, alignment)
                if isinstance(at, int):
                    self.placed.append(Placed(".local", variable.name, at, size))
        return found

    def slot(self, size: int, alignment: int) -> int | Relative:
        """New memory of `size` bytes."""
        at = aligned(self.size, alignment)
        self.size = at + size
        return at if self._start is None else Relative(self._start, at)


def occupied(variable: Variable) -> int | None:
    """The bytes of a variable, None if unknown; 0 for a variable of another file (`.extern`)."""
    if variable.type in TYPES and TYPES[variable.type].kind is Kind.HANDLE:
        return HANDLE_BYTES
    size = size_bytes(variable)
    unsized = variable.is_unsized and element_bytes(variable.declaration) is not None
    return 0 if size is None and unsized else size


def aligned(offset: int, alignment: int) -> int:
    """The next multiple of an alignment."""
    return -(-offset // alignment) * alignment
