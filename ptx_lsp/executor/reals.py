"""Real numbers over lanes: what the meanings of floating-point instructions compute with.

A `Reals` is the value of an operand, exactly, or a sum, product, quotient or root of such values that has
not been rounded yet; `Rounding.round` makes a value of it. Infinities and NaN go along as IEEE 754 has it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ptx_lsp.executor import approximate, floats
from ptx_lsp.executor.emitter import Emitter
from ptx_lsp.executor.exact import Mode
from ptx_lsp.executor.floats import Floats
from ptx_lsp.executor.lanes import Integers
from ptx_lsp.executor.program import BOOL, FLOAT, UNSIGNED, Array, DType, Program

Kind = Literal["value", "+", "-", "*", "/", "root", "integers"]


@dataclass(frozen=True, eq=False, slots=True)
class Reals:
    """A value (`slot` of the program) of `width` bits, or what is to be rounded."""

    program: Program
    kind: Kind
    slot: int = -1
    width: int = 0
    parts: tuple[Reals, ...] = ()

    def __add__(self, other: Reals) -> Reals:
        return Reals(self.program, "+", parts=(self, other))

    def __sub__(self, other: Reals) -> Reals:
        return Reals(self.program, "-", parts=(self, other))

    def __mul__(self, other: Reals) -> Reals:
        return Reals(self.program, "*", parts=(self, other))

    def __truediv__(self, other: Reals) -> Reals:
        return Reals(self.program, "/", parts=(self, other))

    def __rtruediv__(self, other: int) -> Reals:
        def constant(a: Array) -> Array:
            return np.full_like(a, other)

        slot = self.program.apply(("constant", other), constant, self.dtype, self.slot)
        return Reals(self.program, "/", parts=(Reals(self.program, "value", slot, self.width), self))

    def __neg__(self) -> Reals:
        return self.made("negative", np.negative)

    def __abs__(self) -> Reals:
        return self.made("absolute", np.absolute)

    def __lt__(self, other: Reals) -> Integers:
        return self.holds(np.less, other)

    def __le__(self, other: Reals) -> Integers:
        return self.holds(np.less_equal, other)

    @property
    def dtype(self) -> DType:
        return FLOAT[self.width]

    def made(self, name: str, function: Callable[..., Array], *others: Reals) -> Reals:
        """Another value of the same type, computed by a NumPy function."""
        slots = (self.slot, *(other.slot for other in others))
        slot = self.program.apply(name, function, self.dtype, *slots)
        return Reals(self.program, "value", slot, self.width)

    def holds(self, function: np.ufunc, other: Reals) -> Integers:
        """1 where a comparison holds, else 0."""
        slot = self.program.ufunc(function, BOOL, self.slot, other.slot)
        return Integers("float", 0, 1, number=slot)


class Rounding:
    """How the instruction at hand rounds: the float half of `ptx_lsp.isa.meaning.Operation`."""

    def __init__(
        self, emitter: Emitter, modifiers: frozenset[str], width: int, is_float: bool
    ) -> None:
        """`width` is that of the instruction's type; `is_float` whether that is a float at all."""
        self._emitter = emitter
        self._program = emitter.program
        self._modifiers = modifiers
        self._width = width
        self._is_float = is_float

    def value(self, bits: Integers, width: int) -> Reals:
        """The float that a register holds; `.ftz` takes subnormal `.f32` inputs as zeros."""
        program = self._program
        slot = self._emitter.modular(bits, 64 if width == 64 else 32)
        slot = program.view(program.cast(slot, UNSIGNED[width]), FLOAT[width])
        found = Reals(program, "value", slot, width)
        return self._flushed(found)

    def bits(self, value: Reals) -> Integers:
        """The bits of a value; a NaN is the canonical one."""
        program = self._program
        if value.width < 64:
            value = value.made("canonical", _canonical)
        slot = program.view(value.slot, UNSIGNED[value.width])
        return Integers("float", 0, (1 << value.width) - 1, number=slot)

    def round(self, exact: Reals) -> Reals:
        """The value in the instruction's type, rounded once, then flushed and saturated as it says."""
        result = self._flushed(self._rounded(exact))
        return result.made("saturated", floats.saturated) if ".sat" in self._modifiers else result

    def real(self, value: Integers) -> Reals:
        """Integers as numbers to be rounded."""
        return Reals(self._program, "integers", self._emitter.exact(value))

    def whole(self, value: Reals) -> Reals:
        """The value rounded to an integer (.rni, .rzi, .rmi, .rpi), still a float."""
        mode = self._mode("i")

        def whole(a: Floats) -> Array:
            return floats.whole(a, mode)

        return self.round(value.made(f"whole{mode}", whole))

    def limited(self, value: Reals, low: int, high: int) -> Integers:
        """The value rounded to an integer and limited to `low` to `high`.

        A NaN becomes 0, or with 64 bits on either side the integer whose top bit alone is one.
        """
        mode = self._mode("i")
        wide = value.width == 64 or high.bit_length() > 32
        of_nan = (low or (high + 1) >> 1) if wide else 0
        dtype = UNSIGNED[64] if high >> 63 else np.dtype(np.int64)

        def convert(a: Floats) -> Array:
            return floats.to_integers(a, mode, low, high, of_nan)

        name = ("to integers", mode, low, high, of_nan)
        return Integers("float", low, high, number=self._program.apply(name, convert, dtype, value.slot))

    def root(self, value: Reals) -> Reals:
        return Reals(self._program, "root", parts=(value,))

    def least(self, a: Reals, b: Reals) -> Reals:
        return self._extreme(a, b, "least", floats.least)

    def greatest(self, a: Reals, b: Reals) -> Reals:
        return self._extreme(a, b, "greatest", floats.greatest)

    def signed_like(self, value: Reals, a: Reals, b: Reals) -> Reals:
        return value.made("signed like", _signed_like, a, b)

    def equal(self, a: Reals, b: Reals) -> Integers:
        return a.holds(np.equal, b)

    def unordered(self, a: Reals, b: Reals) -> Integers:
        """Whether one of them is a NaN."""
        slot = self._program.apply("unordered", _unordered, BOOL, a.slot, b.slot)
        return Integers("float", 0, 1, number=slot)

    def approximation(self, name: str, value: Reals) -> Reals:
        """`name` (a function of `approximate`) of the value: near, not exact."""
        return self.round(value.made(f"approximate {name}", approximate.FUNCTIONS[name]))

    def _extreme(self, a: Reals, b: Reals, name: str, function: Callable[..., Array]) -> Reals:
        result = a.made(name, function, b)
        if ".NaN" in self._modifiers:
            result = result.made("with NaN", _with_nan, a, b)
        return result

    def _mode(self, suffix: str = "") -> Mode:
        for mode in _MODES:
            if mode + suffix in self._modifiers:
                return mode
        return ".rn"

    def _flushed(self, value: Reals) -> Reals:
        if ".ftz" in self._modifiers and value.width == 32:
            return value.made("flushed", floats.flushed)
        return value

    def _rounded(self, exact: Reals) -> Reals:
        program, mode = self._program, self._mode()
        width = self._width if self._is_float else 32
        dtype = FLOAT[width]
        match exact.kind:
            case "value":
                if exact.width == width:
                    return exact
                slots, function = [exact.slot], _conversion(dtype, mode)
            case "integers":
                slots, function = [exact.slot], _of_integers(dtype, mode)
            case "+" | "-" as sign:
                a, b = exact.parts
                b = -b if sign == "-" else b
                if a.kind == "*":
                    slots = [*(part.slot for part in a.parts), b.slot]
                    function = _with_mode(floats.fused, mode)
                else:
                    slots, function = [a.slot, b.slot], _with_mode(floats.add, mode)
            case "*":
                slots = [part.slot for part in exact.parts]
                function = _with_mode(floats.multiply, mode)
            case "/":
                slots = [part.slot for part in exact.parts]
                function = _with_mode(floats.divide, mode)
            case "root":
                slots, function = [exact.parts[0].slot], _with_mode(floats.root, mode)
        slot = program.apply((exact.kind, mode, len(slots)), function, dtype, *slots)
        return Reals(program, "value", slot, width)


_MODES: tuple[Mode, ...] = (".rz", ".rm", ".rp", ".rn")


def _with_mode(function: Callable[..., Floats], mode: Mode) -> Callable[..., Array]:
    def rounded(*operands: Floats) -> Array:
        return function(*operands, mode)

    return rounded


def _conversion(dtype: DType, mode: Mode) -> Callable[..., Array]:
    floating = np.dtype(f"f{dtype.itemsize}")

    def convert(a: Floats) -> Array:
        return floats.narrowed(a.astype(np.float64, copy=False), floating, mode)

    return convert


def _of_integers(dtype: DType, mode: Mode) -> Callable[..., Array]:
    floating = np.dtype(f"f{dtype.itemsize}")

    def convert(a: floats.Whole) -> Array:
        return floats.of_integers(a, floating, mode)

    return convert


def _canonical(a: Floats) -> Array:
    nan = np.isnan(a)
    if not nan.any():
        return a
    width = 8 * a.dtype.itemsize
    unsigned = UNSIGNED[width]
    bits = np.where(nan, np.array((1 << width - 1) - 1, unsigned), a.view(unsigned))
    return bits.view(a.dtype)


def _signed_like(value: Floats, a: Floats, b: Floats) -> Array:
    return np.where(np.signbit(a) ^ np.signbit(b), -value, value)


def _unordered(a: Floats, b: Floats) -> Array:
    return np.isnan(a) | np.isnan(b)


def _with_nan(result: Floats, a: Floats, b: Floats) -> Array:
    return np.where(np.isnan(a) | np.isnan(b), result.dtype.type(np.nan), result)
