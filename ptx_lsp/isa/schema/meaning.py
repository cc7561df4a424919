"""The types in which the meaning of an instruction is written.

The function of a row takes an `Operation` and one argument for each source operand, by its name where that is
the name of a parameter (one that is left out is None), else in order; it returns the result (or several, in
the order of the destinations). An argument that the function declares as `Lanes` has the bits of all lanes as
exact integers, never wrapped on the way; the executor wraps the result to the width of the destination, so `a
+ b` is all of `add`. One declared as `Real` has their values, integers too, as numbers that are exact and not
rounded before `op.round`, so `op.round(a * b + c)` is all of `fma`.

A meaning is run once for an instruction, before any lane is known: it may ask for modifiers, but what depends
on lanes it says with `op.select`. The executor provides all three.
"""

from __future__ import annotations

from ptx_lsp.static_typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from typing import Self


class Lanes(Protocol):
    """A vector of exact integers, one for each lane; comparisons give vectors of 0 and 1."""

    def __add__(self, other: Self | int, /) -> Self: ...
    def __radd__(self, other: int, /) -> Self: ...
    def __sub__(self, other: Self | int, /) -> Self: ...
    def __rsub__(self, other: int, /) -> Self: ...
    def __mul__(self, other: Self | int, /) -> Self: ...
    def __and__(self, other: Self | int, /) -> Self: ...
    def __or__(self, other: Self | int, /) -> Self: ...
    def __xor__(self, other: Self | int, /) -> Self: ...
    def __lshift__(self, other: Self | int, /) -> Self: ...
    def __rshift__(self, other: Self | int, /) -> Self: ...
    def __rlshift__(self, other: int, /) -> Self: ...
    def __neg__(self) -> Self: ...
    def __invert__(self) -> Self: ...
    def __abs__(self) -> Self: ...
    def __lt__(self, other: Self | int, /) -> Self: ...
    def __le__(self, other: Self | int, /) -> Self: ...


class Real(Protocol):
    """A vector of real numbers (infinities and NaN go along as IEEE 754 has it)."""

    def __add__(self, other: Self, /) -> Self: ...
    def __sub__(self, other: Self, /) -> Self: ...
    def __mul__(self, other: Self, /) -> Self: ...
    def __truediv__(self, other: Self, /) -> Self: ...
    def __rtruediv__(self, other: int, /) -> Self: ...
    def __neg__(self) -> Self: ...
    def __abs__(self) -> Self: ...
    def __lt__(self, other: Self, /) -> Lanes: ...
    def __le__(self, other: Self, /) -> Lanes: ...


class Operation(Protocol):
    """One instruction during execution: its modifiers and the meaning of its type."""

    @property
    def width(self) -> int:
        """The width of the instruction's type, in bits."""
        ...

    @property
    def signed(self) -> bool:
        """Whether the instruction's type is a signed integer."""
        ...

    def has(self, modifier: str) -> bool:
        """Whether a modifier, such as ".sat", is there."""
        ...

    def slot(self, name: str) -> str:
        """The modifier in a slot: op.slot("mode") -> ".lo"; "" if it is left out."""
        ...

    def selector(self, name: str) -> str:
        """The suffix of an operand: ".b0" for `%r1.b0`; "" for none."""
        ...

    def negated(self, name: str) -> bool:
        """Whether a minus stands before an operand; its value is negated already."""
        ...

    def wrap(self, value: Lanes) -> Lanes:
        """The value modulo 2**width, read as the instruction's type."""
        ...

    def clamp(self, value: Lanes) -> Lanes:
        """The value limited to what the instruction's type can hold."""
        ...

    def select(self, condition: Lanes, yes: Lanes | int, no: Lanes | int) -> Lanes:
        """Per lane: `yes` where the condition is not 0, else `no`."""
        ...

    def carry(self) -> Lanes:
        """The condition code register: 0 or 1."""
        ...

    def set_carry(self, value: Lanes) -> None:
        """Writes the condition code register when `.cc` is there."""
        ...

    # -- more of integers -------------------------------------------------------------------------

    def divide(self, a: Lanes, b: Lanes) -> Lanes:
        """a / b, rounded towards zero; all ones where b is 0."""
        ...

    def remainder(self, a: Lanes, b: Lanes) -> Lanes:
        """The remainder of `divide`, with the sign of a; a itself if b is 0."""
        ...

    def ones(self, a: Lanes) -> Lanes:
        """How many bits are one, of a value that is not negative."""
        ...

    def highest(self, a: Lanes) -> Lanes:
        """The position of the highest bit that is one, of a value that is not negative; -1 for 0."""
        ...

    def window(self, space: str) -> int:
        """Where a state space begins among the generic addresses, in bytes."""
        ...

    def special(self, name: str) -> Lanes:
        """The value of a special register."""
        ...

    # -- floats -----------------------------------------------------------------------------------

    def round(self, exact: Real) -> Real:
        """Rounds once, to the instruction's type; .ftz and .sat then do what they say."""
        ...

    def stochastic(self, exact: Real, random: Lanes, bits: int) -> Real:
        """The value rounded by random bits (.rs), as many as `bits`."""
        ...

    def scale(self, bits: Lanes) -> Real:
        """The power of two that a .ue8m0 stands for."""
        ...

    def real(self, value: Lanes) -> Real:
        """Integers as numbers that can be rounded."""
        ...

    def float(self, bits: Lanes) -> Real:
        """The number that bits stand for in the instruction's type."""
        ...

    def bits(self, value: Real) -> Lanes:
        """The bits of a rounded value; a NaN is the canonical one."""
        ...

    def whole(self, value: Real) -> Real:
        """Rounds to an integer (.rni, .rzi, .rmi, .rpi) that stays a float of the type."""
        ...

    def integer(self, value: Real) -> Lanes:
        """Rounds to an integer and limits it to what the instruction's type can hold."""
        ...

    def root(self, value: Real) -> Real:
        """The square root, not rounded yet."""
        ...

    def least(self, a: Real, b: Real) -> Real:
        """The smaller; -0 is smaller than 0. A NaN loses, or with .NaN wins."""
        ...

    def greatest(self, a: Real, b: Real) -> Real:
        """The larger, in the same way."""
        ...

    def signed_like(self, value: Real, a: Real, b: Real) -> Real:
        """The value, which is not negative, with the sign that a * b has."""
        ...

    def equal(self, a: Real, b: Real) -> Lanes:
        """1 where they are equal, else (with a NaN too) 0."""
        ...

    def unordered(self, a: Real, b: Real) -> Lanes:
        """1 where one of them is a NaN, else 0."""
        ...

    def approximation(self, name: str, value: Real, *others: Real) -> Real:
        """A function of that name ("sin", "div", ...) within the manual's bound."""
        ...
