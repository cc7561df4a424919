"""Bit sets: sets of numbers (registers or virtual registers) as the bits of an integer, for fast unions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property

from ptx_lsp.analyses._flow import bit_members, bit_sets
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

EMPTY: Final = frozenset[int]()
"""Python allocates 216 bytes for each empty set, and most sets of small blocks are empty."""


class BitIndex:
    """Assigns a bit to each of the given numbers, in order. Other numbers have no bit and are left out of
    sets.
    """

    def __init__(self, numbers: Iterable[int]) -> None:
        self.numbers: Final = list(numbers)
        self.places: Final = {number: place for place, number in enumerate(self.numbers)}

    @cached_property
    def bits(self) -> dict[int, int]:
        """The number with only this bit, for each."""
        return {number: 1 << place for number, place in self.places.items()}

    def mask(self, numbers: Collection[int]) -> int:
        """The bit set of some numbers."""
        return bit_sets([numbers], self.places)[0]

    def masks(self, sets: Sequence[Collection[int]]) -> list[int]:
        """The bit set of each of some sets of numbers."""
        return bit_sets(list(sets), self.places)

    def members(self, bits: int) -> frozenset[int]:
        """The numbers in a bit set."""
        return bit_members(bits.to_bytes((bits.bit_length() + 7) // 8, "little"), self.numbers)
