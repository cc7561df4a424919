"""A straight list of NumPy operations, made once for an instruction and run on the lanes of any wave.

Every value is a two-dimensional array, blocks by threads; one that is the same in all blocks, or in all
threads of a block, has length 1 there, and NumPy's broadcasting does the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

Value = TypeVar("Value")
Array: TypeAlias = npt.NDArray[np.generic]
Bools: TypeAlias = npt.NDArray[np.bool_]
DType: TypeAlias = np.dtype[np.generic]

BOOL: DType = np.dtype(np.bool_)
UNSIGNED: dict[int, DType] = {bits: np.dtype(f"u{bits // 8}") for bits in (8, 16, 32, 64)}
SIGNED: dict[int, DType] = {bits: np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)}
FLOAT: dict[int, DType] = {bits: np.dtype(f"f{bits // 8}") for bits in (16, 32, 64)}


class Registers(Protocol):
    """The values of registers, by number."""

    def __getitem__(self, number: int, /) -> Array: ...
    def __setitem__(self, number: int, value: Array, /) -> None: ...


class Program:
    """Operations in order. Each result has a slot, a number; an operation is never repeated."""

    def __init__(self) -> None:
        self._template: list[Array | None] = []
        self._dtypes: list[DType] = []
        self._inputs: list[tuple[int, int]] = []
        self._code: list[tuple[int, Callable[..., Array], tuple[int, ...]]] = []
        self._names: list[Hashable] = []
        """Of the functions in `_code`."""
        self._known: dict[Hashable, int] = {}
        self.outputs: list[int] = []

    def run(self, registers: Registers) -> list[Array]:
        """The values of `outputs`, computed from the values of registers."""
        values = self._template.copy()
        for slot, register in self._inputs:
            values[slot] = registers[register]
        for slot, function, arguments in self._code:
            values[slot] = function(*[values[at] for at in arguments])
        return [value for at in self.outputs if (value := values[at]) is not None]

    @property
    def reads(self) -> set[int]:
        """The registers whose values it needs."""
        return {register for _, register in self._inputs}

    @property
    def known_value(self) -> int | None:
        """The integer that it computes; None if that depends on registers."""
        if self._inputs or len(self.outputs) != 1:
            return None
        (value,) = self.run([])
        return int(value.reshape(-1).view(f"u{value.dtype.itemsize}")[0])

    def interpreted(
        self, register: Callable[[int], Value], constant: Callable[[Array], Value],
        apply: Callable[[Hashable, DType, Callable[..., Array], list[Value]], Value],
    ) -> list[Value]:
        """The values of `outputs` in another domain than that of arrays: `apply` is given the name of each
        function, the type of its result, itself, and its arguments.
        """
        values: dict[int, Value] = {}
        for slot, array in enumerate(self._template):
            if array is not None:
                values[slot] = constant(array)
        for slot, number in self._inputs:
            values[slot] = register(number)
        for (slot, function, arguments), name in zip(self._code, self._names, strict=True):
            values[slot] = apply(name, self._dtypes[slot], function, [values[at] for at in arguments])
        return [values[at] for at in self.outputs]

    def dtype(self, slot: int) -> DType:
        return self._dtypes[slot]

    def register(self, number: int, dtype: DType) -> int:
        """The slot of a register's value."""
        key = ("register", number)
        if key not in self._known:
            self._known[key] = self._new(dtype)
            self._inputs.append((self._known[key], number))
        return self._known[key]

    def constant(self, value: int, dtype: DType) -> int:
        """The slot of an integer; `value` is taken modulo what `dtype` holds."""
        key = ("constant", value, dtype)
        if key not in self._known:
            bits = np.dtype(f"u{dtype.itemsize}")
            raw = np.full((1, 1), value & ((1 << 8 * dtype.itemsize) - 1), bits)
            self._known[key] = self._new(dtype, raw.astype(BOOL) if dtype == BOOL else raw.view(dtype))
        return self._known[key]

    def apply(
        self, name: Hashable, function: Callable[..., Array], dtype: DType, *arguments: int
    ) -> int:
        """The slot of a result; `name` identifies the function."""
        key = (name, dtype, arguments)
        if key not in self._known:
            self._known[key] = slot = self._new(dtype)
            self._code.append((slot, function, arguments))
            self._names.append(name)
        return self._known[key]

    def ufunc(self, function: np.ufunc, dtype: DType, *arguments: int) -> int:
        return self.apply(function.__name__, function, dtype, *arguments)

    def cast(self, slot: int, dtype: DType) -> int:
        """The value as another integer type, modulo its size; or as truth, where it is not 0."""
        before = self.dtype(slot)
        if before == dtype:
            return slot
        if before.itemsize == dtype.itemsize and BOOL not in (before, dtype):
            return self.view(slot, dtype)

        def cast(a: Array) -> Array:
            return a.astype(dtype)

        return self.apply("cast", cast, dtype, slot)

    def view(self, slot: int, dtype: DType) -> int:
        """Bits reinterpreted as another type of the same size."""
        if self.dtype(slot) == dtype:
            return slot

        def view(a: Array) -> Array:
            return a.view(dtype)

        return self.apply("view", view, dtype, slot)

    def _new(self, dtype: DType, value: Array | None = None) -> int:
        self._template.append(value)
        self._dtypes.append(dtype)
        return len(self._template) - 1
