"""Floats of every format as fractions, and their correct rounding: an oracle that shares nothing with the
executor. `python -m tests.oracle.exact.lines` makes lines of tests/conformance with it.

The encodings are those of IEEE 754 and of the OCP specifications for 8-bit and microscaling formats; NaN
results, `.ftz`, `.sat`, `.relu`, `.satfinite` and `.pzo` are as the PTX ISA manual has them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Literal, NamedTuple

Specials = Literal["ieee", "nan", "none"]


class Format(NamedTuple):
    """A format: its `specials` are infinities and NaNs, one NaN (all ones), or none. `nan` is what a result
    that is not a number has as its bits; `padding` zero bits stand behind the mantissa.
    """

    width: int
    mantissa: int
    bias: int
    nan: int
    specials: Specials = "ieee"
    signed: bool = True
    padding: int = 0

    @property
    def largest(self) -> int:
        """The bits of the largest finite number."""
        top = (1 << self.width - self.signed) - 1
        if self.specials == "ieee":
            return (top >> self.mantissa << self.mantissa) - 1
        return top - (self.specials == "nan")


FORMATS = {
    "f16": Format(16, 10, 15, 0x7FFF), "bf16": Format(16, 7, 127, 0x7FFF),
    "tf32": Format(19, 10, 127, 0x3FFFF, padding=13),
    "f32": Format(32, 23, 127, 0x7FFFFFFF), "f64": Format(64, 52, 1023, -1 << 51 & (1 << 64) - 1),
    "e4m3": Format(8, 3, 7, 0x7F, "nan"), "e5m2": Format(8, 2, 15, 0x7F),
    "e2m3": Format(6, 3, 1, 0x1F, "none"), "e3m2": Format(6, 2, 3, 0x1F, "none"),
    "e2m1": Format(4, 1, 1, 0x7, "none"), "ue8m0": Format(8, 0, 127, 0xFF, "nan", signed=False),
    "ue5m3": Format(8, 3, 15, 0xFF, "nan", signed=False),
}


@dataclass(frozen=True)
class Number:
    """A number with a sign, zero too; a `size` of None is infinity. A NaN is no Number: it is None."""

    negative: bool
    size: Fraction | None

    @property
    def value(self) -> Fraction:
        """The number where it is finite."""
        assert self.size is not None
        return -self.size if self.negative else self.size

    def flipped(self) -> Number:
        return Number(not self.negative, self.size)


NaN = None
ZERO = Number(False, Fraction(0))


def decode(bits: int, name: str) -> Number | None:
    """What bits stand for."""
    form = FORMATS[name]
    bits >>= form.padding
    negative = form.signed and bool(bits >> form.width - 1)
    size = bits & (1 << form.width - form.signed) - 1
    exponent, fraction = size >> form.mantissa, size & (1 << form.mantissa) - 1
    if size > form.largest:
        return Number(negative, None) if form.specials == "ieee" and not fraction else NaN
    subnormal = exponent == 0 and form.mantissa > 0
    whole = fraction if subnormal else fraction | 1 << form.mantissa
    return Number(negative, whole * power((1 if subnormal else exponent) - form.bias - form.mantissa))


def power(exponent: int) -> Fraction:
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def encode(value: Number | None, name: str, mode: str = "rn", modifiers: frozenset[str] = frozenset()) -> int:
    """The bits of a number, rounded once: `rn`, `rz`, `rm`, `rp`, or `rna` (ties away from zero)."""
    form = FORMATS[name]
    value = _clamped(value, modifiers)
    if value is None:
        return form.nan << form.padding | ((1 << form.padding) - 1 if name == "tf32" else 0)
    sign = int(value.negative) << form.width - 1 if form.signed else 0
    if not form.signed and value.negative:  # it has no sign
        value = ZERO
    bits = _rounded(value, form, mode, "satfinite" in modifiers)
    if "ftz" in modifiers and bits < 1 << form.mantissa:
        bits = 0
    if bits == 0 and "pzo" in modifiers:
        sign = 0
    return (sign | bits) << form.padding


def _clamped(value: Number | None, modifiers: frozenset[str]) -> Number | None:
    if "sat" in modifiers:
        if value is None or value.negative:
            return ZERO
        return value if value.size is not None and value.size <= 1 else Number(False, Fraction(1))
    if "relu" in modifiers and value is not None and value.negative:
        return ZERO
    return value


def _rounded(value: Number, form: Format, mode: str, finite: bool) -> int:
    """The bits without the sign."""
    if value.size is not None:
        least = 1 - form.bias if form.mantissa else -form.bias
        quantum = power(max(_exponent(value.size), least) - form.mantissa)
        whole, rest = divmod(value.size, quantum)
        if _up(rest / quantum, int(whole) % 2 == 1, mode, value.negative):
            whole += 1
        bits = _bits_of(whole * quantum, form, least)
        if bits <= form.largest:
            return bits
        towards_zero = {"rz": True, "rm": not value.negative, "rp": value.negative}.get(mode, False)
        if towards_zero:
            return form.largest
    if finite or form.specials == "none":
        return form.largest
    return form.largest + 1


def _exponent(size: Fraction) -> int:
    """The exponent of the leading bit; that of 0 is below all."""
    if not size:
        return -1 << 20
    found = size.numerator.bit_length() - size.denominator.bit_length()
    return found if power(found) <= size else found - 1


def _up(rest: Fraction, odd: bool, mode: str, negative: bool) -> bool:
    match mode:
        case "rn":
            return rest > Fraction(1, 2) or (rest == Fraction(1, 2) and odd)
        case "rna":
            return rest >= Fraction(1, 2)
        case "rm":
            return rest > 0 and negative
        case "rp":
            return rest > 0 and not negative
        case _:
            return False


def _bits_of(size: Fraction, form: Format, least: int) -> int:
    """The bits of a size that has no more than the bits of the mantissa, perhaps beyond the largest."""
    exponent = max(_exponent(size), least)
    whole = int(size / power(exponent - form.mantissa))
    if form.mantissa == 0:
        return max(exponent + form.bias, 0)
    return whole + (exponent + form.bias - 1 << form.mantissa)


def flushed(value: Number | None, name: str) -> Number | None:
    """0 with the sign of a subnormal number, for `.ftz`."""
    if value is None or value.size is None or value.size >= power(1 - FORMATS[name].bias):
        return value
    return Number(value.negative, Fraction(0))


def add(a: Number | None, b: Number | None, mode: str = "rn") -> Number | None:
    if a is None or b is None:
        return NaN
    if a.size is None or b.size is None:
        if a.size is None and b.size is None and a.negative != b.negative:
            return NaN
        return a if a.size is None else b
    total = a.value + b.value
    if total:
        return Number(total < 0, abs(total))
    same = a.negative if a.negative == b.negative and not a.size else mode == "rm"
    return Number(same, total)


def multiply(a: Number | None, b: Number | None) -> Number | None:
    if a is None or b is None:
        return NaN
    negative = a.negative != b.negative
    if a.size is None or b.size is None:
        return NaN if a.size == 0 or b.size == 0 else Number(negative, None)
    return Number(negative, a.size * b.size)


def divide(a: Number | None, b: Number | None) -> Number | None:
    if a is None or b is None:
        return NaN
    negative = a.negative != b.negative
    if a.size is None:
        return NaN if b.size is None else Number(negative, None)
    if b.size is None:
        return Number(negative, Fraction(0))
    if not b.size:
        return Number(negative, None) if a.size else NaN
    return Number(negative, a.size / b.size)


def root(a: Number | None) -> Number | None:
    """The square root; one that is irrational as a fraction next to it, which rounds like it."""
    if a is None or a.size == 0:
        return a
    if a.negative:
        return NaN
    if a.size is None:
        return a
    shift = 2 * max(0, 160 - _exponent(a.size))
    scaled = a.size * power(shift)
    whole = isqrt(int(scaled))
    exact = whole * whole == scaled
    return Number(False, (whole + (Fraction(0) if exact else Fraction(1, 4))) / power(shift // 2))
