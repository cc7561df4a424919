"""The register file of a kernel: numbers for declared registers, special registers, and the condition
code.
"""

from __future__ import annotations

from collections.abc import Collection

from ptx_lsp.executor.arithmetic.program import BOOL, UNSIGNED, DType
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.isa.types import TYPES, Kind
from ptx_lsp.model.symbols import Register
from ptx_lsp.syntax import nodes

_MODULE = -2
"""The instance of registers that are declared outside all functions."""


class RegisterLayout:
    """Numbers for everything that an instruction may read or write; `dtypes` has the array type of each."""

    def __init__(self) -> None:
        self.dtypes: dict[int, DType] = {}
        self.specials: dict[str, int] = {}
        """Special registers by name, with the component: `%tid.x`."""
        self._numbers: dict[tuple[int, int | str, int], int] = {}
        self._kept: list[Register] = []
        self._carry = -1

    def __len__(self) -> int:
        return len(self.dtypes)

    def register(self, symbol: Register, component: int = 0, instance: int = 0) -> int:
        """The number of a register, or of one component of a vector; a `.b128` has two, its halves, the lower
        first. Each call of a function is an instance with registers of its own, besides those of the module.
        """
        key: tuple[int, int | str, int] = (instance, id(symbol), component)
        if isinstance(symbol.place.owner, nodes.Declaration):
            key = (_MODULE, symbol.name, component)
        if key not in self._numbers:
            self._kept.append(symbol)
            self._numbers[key] = self._add(array_type(symbol.type))
        return self._numbers[key]

    def declared(self, instance: int) -> list[tuple[Register, list[int]]]:
        """The registers of an instance that instructions name, each with the numbers of its components."""
        symbols = {id(symbol): symbol for symbol in self._kept}
        found: dict[int, list[int]] = {}
        for (place, key, _), number in self._numbers.items():
            if place == instance and isinstance(key, int):
                found.setdefault(key, []).append(number)
        return [(symbols[key], numbers) for key, numbers in found.items()]

    def hidden(self, name: str, dtype: DType, instance: int = -1) -> int:
        """The number of a register that no program names: of an instance, or common to all (-1)."""
        key = (instance, name, 0)
        if key not in self._numbers:
            self._numbers[key] = self._add(dtype)
        return self._numbers[key]

    def of_instances(self, instances: Collection[int]) -> list[int]:
        """The registers of these instances."""
        return [number for (instance, _, _), number in self._numbers.items() if instance in instances]

    def width(self, number: int) -> int:
        """How many bits a register has; 1 for a predicate."""
        dtype = self.dtypes[number]
        return 1 if dtype == BOOL else 8 * dtype.itemsize

    def special(self, name: str, type: str) -> int:
        if name not in self.specials:
            self.specials[name] = self._add(array_type(type))
        return self.specials[name]

    def carry(self) -> int:
        """The number of the condition code register."""
        if self._carry < 0:
            self._carry = self._add(BOOL)
        return self._carry

    def _add(self, dtype: DType) -> int:
        self.dtypes[len(self.dtypes)] = dtype
        return len(self.dtypes) - 1


def array_type(name: str) -> DType:
    """How a register of a type is kept: its bits (half of them for `.b128`), or for a predicate its truth."""
    type = TYPES.get(".b64" if name == ".b128" else name)
    if type is not None and type.kind is Kind.PREDICATE:
        return BOOL
    if type is None or type.width not in UNSIGNED:
        raise ExecutionError(f"registers of type `{name}` are not supported yet", "unsupported")
    return UNSIGNED[type.width]
