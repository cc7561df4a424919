"""Exact integers over lanes: what the meanings of instructions compute with.

A meaning runs once for an instruction, on `Integers` that stand for its operands. What it builds knows
between which bounds each value lies, so `Emitter` can compute every part of it in the narrowest NumPy
type that is right: modulo 2**32 where only the low 32 bits are asked for, in 64 bits where the exact
value is compared or shifted right, in two 64-bit limbs (`wide`) where nothing else holds it. What does
not depend on the lanes is computed here and now.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "register", "constant", "+", "-", "*", "&", "|", "^", "<<", ">>", "<", "<=", "select", "wrap",
    "divide", "remainder", "ones", "highest", "float",
]


@dataclass(frozen=True, eq=False, slots=True)
class Integers:
    """Exact integers between `low` and `high`, one for each lane.

    `number` is that of a register, the width of a "wrap", or the program slot of a "float".
    """

    kind: Kind
    low: int
    high: int
    parts: tuple[Integers, ...] = ()
    number: int = 0
    signed: bool = False

    @property
    def value(self) -> int | None:
        """The value if it does not depend on the lanes."""
        return self.low if self.low == self.high else None

    @property
    def is_truth(self) -> bool:
        return self.low >= 0 and self.high <= 1

    def __add__(self, other: Integers | int) -> Integers:
        b = integers(other)
        if b.value == 0:
            return self
        return Integers("+", self.low + b.low, self.high + b.high, (self, b))

    def __radd__(self, other: int) -> Integers:
        return self + other

    def __sub__(self, other: Integers | int) -> Integers:
        b = integers(other)
        if b.value == 0:
            return self
        return Integers("-", self.low - b.high, self.high - b.low, (self, b))

    def __rsub__(self, other: int) -> Integers:
        return integers(other) - self

    def __neg__(self) -> Integers:
        return 0 - self

    def __invert__(self) -> Integers:
        return -1 - self

    def __mul__(self, other: Integers | int) -> Integers:
        b = integers(other)
        corners = [x * y for x in (self.low, self.high) for y in (b.low, b.high)]
        return Integers("*", min(corners), max(corners), (self, b))

    def __and__(self, other: Integers | int) -> Integers:
        b = integers(other)
        if self.value is not None and b.value is not None:
            return constant(self.value & b.value)
        if 0 in (self.value, b.value):
            return constant(0)
        if self.value == -1:
            return b
        if b.value == -1:
            return self
        tops = [one.high for one in (self, b) if one.low >= 0]
        low, high = _span(self, b)
        return Integers("&", 0 if tops else low, min(tops, default=high), (self, b))

    def __or__(self, other: Integers | int) -> Integers:
        b = integers(other)
        if self.value is not None and b.value is not None:
            return constant(self.value | b.value)
        if self.value == 0:
            return b
        if b.value == 0:
            return self
        return Integers("|", *_span(self, b), (self, b))

    def __xor__(self, other: Integers | int) -> Integers:
        b = integers(other)
        if self.value is not None and b.value is not None:
            return constant(self.value ^ b.value)
        if self.value == 0:
            return b
        if b.value == 0:
            return self
        return Integers("^", *_span(self, b), (self, b))

    def __lshift__(self, other: Integers | int) -> Integers:
        b = integers(other)
        if b.value == 0:
            return self
        least, most = max(b.low, 0), min(b.high, 128)
        corners = [x << y for x in (self.low, self.high) for y in (least, most)]
        return Integers("<<", min(corners), max(corners), (self, b))

    def __rlshift__(self, other: int) -> Integers:
        return integers(other) << self

    def __rshift__(self, other: Integers | int) -> Integers:
        b = integers(other)
        if b.value == 0:
            return self
        least, most = max(b.low, 0), min(b.high, 128)
        corners = [x >> y for x in (self.low, self.high) for y in (least, most)]
        return Integers(">>", min(corners), max(corners), (self, b))

    def __abs__(self) -> Integers:
        return select(self < 0, -self, self)

    def __lt__(self, other: Integers | int) -> Integers:
        b = integers(other)
        if self.high < b.low:
            return constant(1)
        return Integers("<", 0, 0 if self.low >= b.high else 1, (self, b))

    def __le__(self, other: Integers | int) -> Integers:
        b = integers(other)
        if self.high <= b.low:
            return constant(1)
        return Integers("<=", 0, 0 if self.low > b.high else 1, (self, b))


def integers(value: Integers | int) -> Integers:
    return constant(value) if isinstance(value, int) else value


def constant(value: int) -> Integers:
    return Integers("constant", value, value)


def register(number: int, width: int, signed: bool) -> Integers:
    """The value of a register that is `width` bits wide."""
    low, high = limits(width, signed)
    return Integers("register", low, high, (), number, signed)


def select(condition: Integers, yes: Integers | int, no: Integers | int) -> Integers:
    """Per lane: `yes` where the condition is not 0, else `no`."""
    a, b = integers(yes), integers(no)
    if condition.low > 0 or condition.high < 0:
        return a
    if condition.value == 0:
        return b
    low, high = min(a.low, b.low), max(a.high, b.high)
    if condition.kind in ("<", "<=") and condition.parts[0] is b:  # b < limit: at most that
        high = max(a.high, b.high)
    if condition.kind == "<" and condition.parts[0] is a and condition.parts[1].value is not None:
        high = max(min(a.high, condition.parts[1].value - 1), b.high)
    return Integers("select", low, high, (condition, a, b))


def wrap(value: Integers, width: int, signed: bool) -> Integers:
    """The value modulo 2**width, read as an integer with or without a sign."""
    low, high = limits(width, signed)
    if low <= value.low and value.high <= high:
        return value
    if value.value is not None:
        return constant((value.value - low) % (1 << width) + low)
    return Integers("wrap", low, high, (value,), width, signed)


def clamp(value: Integers, width: int, signed: bool) -> Integers:
    """The value limited to what `width` bits hold."""
    low, high = limits(width, signed)
    if value.high > high:
        inner = Integers("select", min(value.low, high), high, (value < high, value, constant(high)))
    else:
        inner = value
    if inner.low >= low:
        return inner
    return Integers("select", low, inner.high, (inner < low, constant(low), inner))


def divide(a: Integers, b: Integers, width: int, signed: bool) -> Integers:
    """a / b, rounded towards zero, as `width` bits hold it; all ones where b is 0."""
    return Integers("divide", *limits(width, signed), (a, b))


def remainder(a: Integers, b: Integers) -> Integers:
    """The remainder of `divide`, with the sign of a; a itself if b is 0."""
    return Integers("remainder", min(a.low, 0), max(a.high, 0), (a, b))


def ones(a: Integers) -> Integers:
    """How many bits are one, of a number that is not negative."""
    return Integers("ones", 0, a.high.bit_length(), (a,))


def highest(a: Integers) -> Integers:
    """The position of the highest bit that is one, of a number that is not negative; -1 for 0."""
    return Integers("highest", -1, a.high.bit_length() - 1, (a,))


def limits(width: int, signed: bool) -> tuple[int, int]:
    """The least and the greatest integer of `width` bits."""
    return (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)


def _span(a: Integers, b: Integers) -> tuple[int, int]:
    """Bounds of whatever bitwise operation on a and b."""
    bits = max((~x if x < 0 else x).bit_length() for x in (a.low, a.high, b.low, b.high))
    negative = a.low < 0 or b.low < 0
    return (-(1 << bits) if negative else 0), (1 << bits) - 1
