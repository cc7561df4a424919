"""Integer arithmetic on the values of the 32 lanes of a warp (`lane_values.py`, 1 and 3)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import gcd

from ptx_lsp.named_tuple import NamedTuple

WARP = 32


_EQUAL = (0,) * WARP
_MOST = 1 << 10
"""The results that are kept of each operation on all lanes: kernels repeat the same ones."""


class LaneOffsets(NamedTuple):
    """One value: the `offsets` of the 32 lanes, and the `alignment` of the uniform base (0: no base).

    The offsets are stored as that of the `first` lane and the `spread`, the difference of each lane from it:
    adding a uniform value keeps the very same spread.
    """

    first: int
    spread: tuple[int, ...]
    alignment: int

    @classmethod
    def of(cls, offsets: Iterable[int], alignment: int) -> LaneOffsets:
        first, *rest = offsets
        spread = (0, *[one - first for one in rest])
        return cls(first, spread if any(spread) else _EQUAL, alignment)

    @property
    def offsets(self) -> tuple[int, ...]:
        first = self.first
        return tuple([first + one for one in self.spread])

    @property
    def is_uniform(self) -> bool:
        return self.spread is _EQUAL or not any(self.spread)

    @property
    def constant(self) -> int | None:
        """The value, if it is the same known value for all lanes."""
        return self.first if self.alignment == 0 and self.is_uniform else None

    @property
    def stride(self) -> int | None:
        """The *a* of `a * lane + b`; None if the value is not affine in the lane."""
        step = self.spread[1]
        return step if all(one == step * i for i, one in enumerate(self.spread)) else None

    @property
    def multiple(self) -> int:
        """The greatest common divisor of the values of all lanes (0: all are 0)."""
        return gcd(self.alignment, self.first, *self.spread)


UNIFORM = LaneOffsets(0, _EQUAL, 1)
"""A uniform value that is otherwise unknown."""


def constant(value: int) -> LaneOffsets:
    return LaneOffsets(value, _EQUAL, 0)


def transfer(opcode: str, inputs: list[LaneOffsets]) -> LaneOffsets | None:
    """The result of `opcode` in this domain; None if the domain does not support it."""
    a = inputs[0]
    if len(inputs) == 1:
        return a if opcode in _COPIES else None
    b = inputs[1]
    if len(inputs) == 3:
        return _ternary(opcode, a, b, inputs[2])
    if opcode == "add":
        return add(a, b)
    if opcode == "shl":
        count = b.constant
        return _times(a, 1 << count) if count is not None and 0 <= count < 64 else None
    if opcode == "mul":
        return _multiply(a, b)
    if opcode == "and":
        return _masked(b, a.constant) if b.constant is None else _masked(a, b.constant)
    if opcode == "shr":
        return _shifted(a, b)
    if opcode == "sub":
        return add(a, _times(b, -1))
    return _bitwise(opcode, a, b) if opcode in ("or", "xor") else None


_COPIES = frozenset({"mov", "cvt", "cvta"})


def _ternary(opcode: str, a: LaneOffsets, b: LaneOffsets, c: LaneOffsets) -> LaneOffsets | None:
    if opcode == "mad":
        product = _multiply(a, b)
        return add(product, c) if product else None
    if opcode == "bfe":
        field = _shifted(a, b)
        length = c.constant
        return _masked(field, (1 << length % 256) - 1) if field and length is not None else None
    return None


def add(a: LaneOffsets, b: LaneOffsets) -> LaneOffsets:
    """The sum, lane by lane."""
    if b.is_uniform:
        spread = a.spread
    elif a.is_uniform:
        spread = b.spread
    else:
        spread = tuple([one + other for one, other in zip(a.spread, b.spread, strict=True)])
    return LaneOffsets(a.first + b.first, spread, gcd(a.alignment, b.alignment))


def shifted(a: LaneOffsets, distance: int) -> LaneOffsets:
    """The sum with the same number for all lanes."""
    return LaneOffsets(a.first + distance, a.spread, a.alignment) if distance else a


@lru_cache(maxsize=_MOST)
def _times(a: LaneOffsets, factor: int) -> LaneOffsets:
    spread = _EQUAL if a.is_uniform else tuple([one * factor for one in a.spread])
    return LaneOffsets(a.first * factor, spread, a.alignment * abs(factor))


def _multiply(a: LaneOffsets, b: LaneOffsets) -> LaneOffsets | None:
    for one, other in ((a, b), (b, a)):
        factor = other.constant
        if factor is not None:
            return _times(one, factor)
    if a.is_uniform and b.is_uniform:
        return LaneOffsets(0, _EQUAL, a.multiple * b.multiple)
    return None


@lru_cache(maxsize=_MOST)
def _shifted(a: LaneOffsets, b: LaneOffsets) -> LaneOffsets | None:
    count = b.constant
    if count is None or not 0 <= count < 64:
        return None
    if a.alignment % (1 << count) or min(a.offsets) < 0:
        return None
    return LaneOffsets.of([one >> count for one in a.offsets], a.alignment >> count)


@lru_cache(maxsize=_MOST)
def _masked(a: LaneOffsets, mask: int | None) -> LaneOffsets | None:
    if mask is None:
        return None
    power = a.alignment & -a.alignment
    kept = [one & mask for one in a.offsets]
    if mask >= 0 and a.alignment % (1 << mask.bit_length()) == 0:
        return LaneOffsets.of(kept, 0)
    if min(a.offsets) >= 0 and max(a.offsets) < power:
        return LaneOffsets.of(kept, power)
    cleared = -mask if mask < 0 else 0
    if cleared and cleared & (cleared - 1) == 0 and a.alignment % cleared == 0:
        return LaneOffsets.of(kept, a.alignment)
    return None


@lru_cache(maxsize=_MOST)
def _bitwise(opcode: str, a: LaneOffsets, b: LaneOffsets) -> LaneOffsets | None:
    """`or` and `xor`, where the offsets do not overlap the uniform bases."""
    alignment = gcd(a.alignment, b.alignment)
    power = alignment & -alignment
    both = (*a.offsets, *b.offsets)
    if min(both) < 0 or (power and max(both) >= power):
        return None
    pairs = zip(a.offsets, b.offsets, strict=True)
    return LaneOffsets.of([x | y if opcode == "or" else x ^ y for x, y in pairs], power)
