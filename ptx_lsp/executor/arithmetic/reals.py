"""Real numbers over lanes: what the meanings of floating-point instructions compute with.

A `Reals` is the value of an operand, exactly, or a sum, product, quotient or root of such values that has
not been rounded yet; `Rounding.round` makes a value of it. Infinities and NaN go along as IEEE 754 has it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic import approximate, floats, formats
from ptx_lsp.executor.arithmetic.emitter import Emitter
from ptx_lsp.executor.arithmetic.exact import Mode
from ptx_lsp.executor.arithmetic.floats import Floats
from ptx_lsp.executor.arithmetic.integers import Integers
from ptx_lsp.executor.arithmetic.program import BOOL, FLOAT, UNSIGNED, Array, DType, Program

Kind = Literal["value", "+", "-", "*", "/", "root", "integers"]


@dataclass(frozen=True, eq=False, slots=True)
class Reals:
    """A value (`slot` of the program) in a format such as ".f32", or what is to be rounded.

    `.bf16`, `.tf32` and the formats of `formats` are kept as `.f32`.
    """

    program: Program
    kind: Kind
    slot: int = -1
    format: str = ""
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
        return Reals(self.program, "/", parts=(Reals(self.program, "value", slot, self.format), self))

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
        return FLOAT[_KEPT[self.format]]

    def made(self, name: str, function: Callable[..., Array], *others: Reals) -> Reals:
        """Another value of the same type, computed by a NumPy function."""
        slots = (self.slot, *(other.slot for other in others))
        slot = self.program.apply(name, function, self.dtype, *slots)
        return Reals(self.program, "value", slot, self.format)

    def holds(self, function: np.ufunc, other: Reals) -> Integers:
        """1 where a comparison holds, else 0."""
        slot = self.program.ufunc(function, BOOL, self.slot, other.slot)
        return Integers("float", 0, 1, number=slot)


_KEPT = {
    ".f16": 16, ".f32": 32, ".f64": 64, ".bf16": 32, ".tf32": 32, **dict.fromkeys(formats.FORMATS, 32),
}
FORMATS = frozenset(_KEPT)


class Rounding:
    """How the current instruction rounds: the float half of `ptx_lsp.isa.schema.meaning.Operation`."""

    def __init__(self, emitter: Emitter, modifiers: frozenset[str], format: str) -> None:
        """`format` is that of the result; any other type where it is no float."""
        self._emitter = emitter
        self._program = emitter.program
        self._modifiers = modifiers
        self._format = format if format in FORMATS else ".f32"

    def value(self, bits: Integers, format: str) -> Reals:
        """The float that a register holds; `.ftz` takes subnormal inputs as zeros."""
        program, kept = self._program, _KEPT[format]
        slot = self._emitter.modular(bits, 64 if kept == 64 else 32)
        if format in formats.FORMATS:
            slot = program.apply(("from", format), formats.FORMATS[format].decoded, FLOAT[32], slot)
            return Reals(program, "value", slot, format)
        if format == ".bf16":
            slot = program.apply("from .bf16", _from_brain, UNSIGNED[32], slot)
        slot = program.view(program.cast(slot, UNSIGNED[kept]), FLOAT[kept])
        return self._flushed(Reals(program, "value", slot, format))

    def float(self, bits: Integers) -> Reals:
        return self.value(bits, self._format)

    def bits(self, value: Reals) -> Integers:
        """The bits of a value; a NaN is the canonical one."""
        program, kept = self._program, _KEPT[value.format]
        small = formats.FORMATS.get(value.format)
        if small is not None:
            slot = program.apply(("to", value.format), small.encoded, UNSIGNED[32], value.slot)
            return Integers("float", 0, (1 << small.width) - 1, number=slot)
        if kept < 64:
            value = value.made("canonical", floats.canonical)
        slot = program.view(value.slot, UNSIGNED[kept])
        if value.format == ".bf16":
            slot = program.apply("to .bf16", _to_brain, UNSIGNED[32], slot)
        width = 16 if value.format == ".bf16" else kept
        return Integers("float", 0, (1 << width) - 1, number=slot)

    def round(self, exact: Reals) -> Reals:
        """The value in the instruction's type, rounded once, then flushed and saturated as it says."""
        return self._limited(self._flushed(self._rounded(exact)))

    def stochastic(self, exact: Reals, random: Integers, bits: int) -> Reals:
        """The value rounded with the given random bits (.rs)."""
        slots, name = self._terms(exact)
        format = (formats.HALVES | formats.FORMATS)[self._format]
        saturates = ".satfinite" in self._modifiers

        def compute(random: formats.Bits, *operands: Floats) -> Array:
            found = format.stochastic(_ODD[name](*operands), random, bits, saturates=saturates)
            return found.astype(FLOAT[kept])

        kept = _KEPT[self._format]
        slots.insert(0, self._emitter.modular(random, 32))
        slot = self._program.apply((".rs", name, bits), compute, FLOAT[kept], *slots)
        return self._limited(Reals(self._program, "value", slot, self._format))

    def scale(self, bits: Integers) -> Reals:
        """The power of two that a `.ue8m0` stands for."""
        return self.value(bits, ".ue8m0")

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
        wide = value.format == ".f64" or high.bit_length() > 32
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

    def approximation(self, name: str, value: Reals, *others: Reals) -> Reals:
        """`name` (a function of `approximate`) of the values: near, not exact."""
        found = value.made(f"approximate {name}", approximate.FUNCTIONS[name], *others)
        if found.format in _DROPPED:  # kept as `.f32`, and not rounded yet
            found = Reals(self._program, "value", found.slot, ".f32")
        return self.round(found)

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

    def _limited(self, result: Reals) -> Reals:
        for modifier, function in _LIMITS.items():
            if modifier in self._modifiers:
                result = result.made(modifier, function)
        if ".satfinite" in self._modifiers and result.format not in formats.FORMATS:
            result = result.made(f".satfinite {result.format}", _finite(result.format))
        return result

    def _flushed(self, value: Reals) -> Reals:
        flushed = (".f32",) if self._converts or self._format == ".f64" else (".f32", self._format)
        if ".ftz" in self._modifiers and value.format in flushed:
            return value.made("flushed", floats.flushed)
        if ".scaled::n1::ue8m0" in self._modifiers and value.format in (".f32", ".f16", ".bf16"):
            return value.made("flushed", floats.flushed)
        return value

    _converts = False

    def _rounded(self, exact: Reals) -> Reals:
        if exact.kind == "value" and exact.format == self._format:
            return exact
        program, mode = self._program, self._mode()
        slots, name = self._terms(exact)
        if self._format in formats.FORMATS:
            saturates = ".satfinite" in self._modifiers
            function = _to_small(_ODD[name], formats.FORMATS[self._format], mode, saturates=saturates)
            key = (name, self._format, mode)
        elif self._format in _DROPPED:
            nearest_away = ".rna" in self._modifiers
            function = _chopping(_ODD[name], _DROPPED[self._format], ".rna" if nearest_away else mode)
            key = (name, self._format, mode, nearest_away)
        else:
            function, key = _rounding(name, FLOAT[_KEPT[self._format]], mode), (name, mode)
        slot = program.apply(key, function, FLOAT[_KEPT[self._format]], *slots)
        return Reals(program, "value", slot, self._format)

    def _terms(self, exact: Reals) -> tuple[list[int], str]:
        """The slots that are computed with, and the name of what is computed."""
        match exact.kind:
            case "value" | "integers" as kind:
                return [exact.slot], kind
            case "+" | "-" as sign:
                a, b = exact.parts
                b = -b if sign == "-" else b
                if a.kind == "*":
                    return [*(part.slot for part in a.parts), b.slot], "fused"
                return [a.slot, b.slot], "+"
            case kind:
                return [part.slot for part in exact.parts], kind


_MODES: tuple[Mode, ...] = (".rz", ".rm", ".rp", ".rn")


_DROPPED = {".bf16": 16, ".tf32": 13}
_ODD: dict[str, Callable[..., floats.Doubles]] = {
    "value": floats.doubled, "integers": floats.odd_integers, "+": floats.odd_sum,
    "*": floats.odd_product, "fused": floats.odd_fused, "/": floats.odd_quotient,
}
_NATIVE: dict[str, Callable[..., Floats]] = {
    "+": floats.add, "*": floats.multiply, "fused": floats.fused, "/": floats.divide,
    "root": floats.root,
}


def _rounding(name: str, dtype: DType, mode: Mode) -> Callable[..., Array]:
    """An operation whose operands become, and whose result is, of a type of NumPy's."""
    floating = np.dtype(f"f{dtype.itemsize}")

    def convert(a: Floats) -> Array:
        return floats.narrowed(floats.doubled(a), floating, mode)

    def convert_integers(a: floats.Whole) -> Array:
        return floats.of_integers(a, floating, mode)

    def compute(*operands: Floats) -> Array:
        same = [one.astype(floating, copy=False) for one in operands]
        result = _NATIVE[name](*same, mode)
        return floats.propagated(result, *same) if floating == np.float64 else result

    return {"value": convert, "integers": convert_integers}.get(name, compute)


def _chopping(
    odd: Callable[..., floats.Doubles], dropped: int, mode: Mode | Literal[".rna"]
) -> Callable[..., Array]:
    def compute(*operands: Floats) -> Array:
        return floats.chopped(odd(*operands), dropped, mode)

    return compute


def _to_small(
    odd: Callable[..., floats.Doubles], format: formats.Format, mode: Mode, *, saturates: bool
) -> Callable[..., Array]:
    def compute(*operands: Floats) -> Array:
        return format.rounded(odd(*operands), mode, saturates=saturates)

    return compute


def _positive(a: Floats) -> Array:
    """.relu: negative numbers become 0, a NaN stays."""
    return np.where((a > 0) | np.isnan(a), a, a.dtype.type(0))


def _without_negative_zero(a: Floats) -> Array:
    return np.where(a == 0, a.dtype.type(0), a)


_LIMITS: dict[str, Callable[..., Array]] = {
    ".sat": floats.saturated, ".relu": _positive, ".pzo": _without_negative_zero,
}
_LARGEST = {".f16": 65504.0, ".bf16": 255 * 2.0**120, ".tf32": 2047 * 2.0**117}


def _finite(format: str) -> Callable[..., Array]:
    def limit(a: Floats) -> Array:
        most = a.dtype.type(_LARGEST.get(format, np.finfo(a.dtype).max))
        return np.clip(a, -most, most)

    return limit


def _from_brain(bits: npt.NDArray[np.uint32]) -> Array:
    return np.left_shift(bits, np.uint32(16))


def _to_brain(bits: npt.NDArray[np.uint32]) -> Array:
    return np.right_shift(bits, np.uint32(16))


def _signed_like(value: Floats, a: Floats, b: Floats) -> Array:
    return np.where(np.signbit(a) ^ np.signbit(b), -value, value)


def _unordered(a: Floats, b: Floats) -> Array:
    return np.isnan(a) | np.isnan(b)


def _with_nan(result: Floats, a: Floats, b: Floats) -> Array:
    return np.where(np.isnan(a) | np.isnan(b), result.dtype.type(np.nan), result)
