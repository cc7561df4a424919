"""Floats of 8 bits and less, and `.s2f6`: what their bits stand for, and rounding to them.

Their values are kept as `.f32`, which holds every one of them. (PTX ISA, "Alternate Floating Point Data
Formats"; the encodings are those of the OCP specifications for 8-bit and for microscaling formats.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.exact import Mode
from ptx_lsp.executor.arithmetic.floats import Doubles

Singles = npt.NDArray[np.float32]
Bits = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Format:
    """A format of `width` bits with `mantissa` bits after the point.

    `nan` are the bits of a NaN, None where there is none; `infinite` is whether it has infinities. In a
    format without a sign the sign of a number is ignored. With `fixed` there is no exponent: the number is in
    two's complement.
    """

    width: int
    mantissa: int
    bias: int
    nan: int | None = None
    infinite: bool = False
    signed: bool = True
    fixed: bool = False

    @property
    def least(self) -> int:
        """The exponent of the smallest number above 0: all are multiples of it."""
        return 1 - self.bias - self.mantissa

    @cached_property
    def values(self) -> Singles:
        """The value of each bit pattern."""
        bits = np.arange(1 << self.width, dtype=np.int64)
        top = 1 << self.width - 1
        if self.fixed:
            return np.ldexp(((bits ^ top) - top).astype(np.float32), -self.mantissa)
        size = bits & (top - 1) if self.signed else bits
        exponent = size >> self.mantissa
        fraction = size & (1 << self.mantissa) - 1
        subnormal = (exponent == 0) & (self.mantissa > 0)
        whole = np.where(subnormal, fraction, fraction | 1 << self.mantissa).astype(np.float64)
        smallest = 1 if self.mantissa else 0
        found = np.ldexp(whole, np.maximum(exponent, smallest) - self.bias - self.mantissa)
        if self.infinite:
            full = exponent == exponent.max()
            found = np.where(full, np.where(fraction == 0, np.inf, np.nan), found)
        elif self.nan is not None:
            found = np.where(size == (self.nan & (top - 1) if self.signed else self.nan), np.nan, found)
        found = np.where((bits & top != 0) & self.signed, -found, found)
        return found.astype(np.float32)

    @cached_property
    def largest(self) -> float:
        return float(self.values[np.isfinite(self.values)].max())

    def decoded(self, bits: Bits) -> Singles:
        """The values of bits; those above the width are ignored."""
        return self.values.take(bits & np.uint32((1 << self.width) - 1))

    def encoded(self, values: Singles) -> Bits:
        """The bits of representable values; of a NaN the canonical one."""
        if self.fixed:
            raw = np.ldexp(values, self.mantissa).astype(np.int32).view(np.uint32)
            return raw & np.uint32((1 << self.width) - 1)
        size = np.abs(values)
        patterns = self.values[: 1 << self.width - self.signed]
        found = np.searchsorted(patterns[np.isfinite(patterns)], size).astype(np.uint32)
        if self.signed:
            found = found | np.signbit(values).astype(np.uint32) << np.uint32(self.width - 1)
        return found if self.nan is None else np.where(np.isnan(values), np.uint32(self.nan), found)

    def rounded(self, value: Doubles, mode: Mode, *, saturates: bool) -> Singles:
        """Values (perhaps rounded to odd) rounded to the format. With `saturates` (`.satfinite`) the largest
        finite number stands for what is larger, and where there is no NaN for NaN as well.
        """
        if not self.signed:
            value = np.abs(value)
        if self.mantissa == 0:
            return self._limited(_powers(value, mode, self.bias), value, mode, saturates)
        exponent = np.full(value.shape, -self.mantissa) if self.fixed else self._exponent(value)
        found = np.ldexp(_ROUND[mode](np.ldexp(value, -exponent)), exponent)
        return self._limited(found, value, mode, saturates)

    def stochastic(
        self, value: Doubles, random: Bits, bits: int, *, saturates: bool
    ) -> Singles:
        """Values rounded away from zero where the `bits` uppermost of the bits that are cut off, plus as many
        random ones, carry; else towards zero.
        """
        exponent = self._exponent(value)
        scaled = np.abs(np.ldexp(value, -exponent))
        whole = np.floor(scaled)
        cut = np.floor(np.ldexp(scaled - whole, bits))
        up = cut + random >= float(1 << bits)
        found = np.copysign(np.ldexp(whole + up, exponent), value)
        return self._limited(found, value, ".rn", saturates)

    def _exponent(self, value: Doubles) -> npt.NDArray[np.int64]:
        """Of the last place that is kept."""
        _, exponent = np.frexp(value)
        return np.maximum(exponent.astype(np.int64) - self.mantissa - 1, self.least)

    def _limited(self, found: Doubles, value: Doubles, mode: Mode, saturates: bool) -> Singles:
        most = self.largest
        if self.fixed:
            found = np.clip(found, float(self.values.min()), most)
        elif saturates:
            found = np.clip(found, -most, most)
        else:
            beyond = np.inf if self.infinite else np.nan
            over = np.abs(found) > most
            inward = np.isfinite(value) & (
                (mode == ".rz") | ((mode == ".rm") & (value > 0)) | ((mode == ".rp") & (value < 0))
            )
            found = np.where(over, np.copysign(np.where(inward, most, beyond), value), found)
        if self.nan is None:
            found = np.where(np.isnan(found), most, found)
        return found.astype(np.float32)


_ROUND: dict[Mode, Callable[[Doubles], Doubles]] = {
    ".rn": np.rint, ".rz": np.trunc, ".rm": np.floor, ".rp": np.ceil,
}

FORMATS: dict[str, Format] = {
    ".e4m3": Format(8, 3, 7, nan=0x7F),
    ".e5m2": Format(8, 2, 15, nan=0x7F, infinite=True),
    ".e2m3": Format(6, 3, 1),
    ".e3m2": Format(6, 2, 3),
    ".e2m1": Format(4, 1, 1),
    ".e2m1p4": Format(4, 1, 1),
    ".ue8m0": Format(8, 0, 127, nan=0xFF, signed=False),
    ".ue4m3": Format(7, 3, 7, nan=0x7F, signed=False),
    ".ue5m3": Format(8, 3, 15, nan=0xFF, signed=False),
    ".s2f6": Format(8, 6, 0, fixed=True),
}
HALVES: dict[str, Format] = {
    ".f16": Format(16, 10, 15, nan=0x7FFF, infinite=True),
    ".bf16": Format(16, 7, 127, nan=0x7FFF, infinite=True),
}


def _powers(value: Doubles, mode: Mode, bias: int) -> Doubles:
    """Powers of two; the smallest, 2**-bias, is the least that there is."""
    fraction, exponent = np.frexp(value)
    up = (mode == ".rp") & (fraction > 0.5)
    if mode == ".rn":
        up = fraction >= 0.75
    below = np.maximum(exponent.astype(np.int64) - 1 + up, -bias)
    found = np.ldexp(1.0, np.where(value == 0, -bias, below))
    return np.where(np.isfinite(value), found, value)


