"""Bit sets: sets of numbers (registers or virtual registers) as the bits of an integer, for fast unions."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable
from typing import Final

EMPTY: Final = frozenset[int]()
"""Python allocates 216 bytes for each empty set, and most sets of small blocks are empty."""


class BitIndex:
    """Assigns a bit to each of the given numbers, in order. Other numbers have no bit and are left out of
    sets.
    """

    def __init__(self, numbers: Iterable[int]) -> None:
        self.numbers = list(numbers)
        self.bits = {number: 1 << index for index, number in enumerate(self.numbers)}

    def mask(self, numbers: Iterable[int]) -> int:
        """The bit set of some numbers."""
        found = 0
        for number in numbers:
            found |= self.bits.get(number, 0)
        return found

    def members(self, bits: int) -> set[int]:
        """The numbers in a bit set."""
        found: set[int] = set()
        count = (bits.bit_length() + 63) // 64
        words = array("Q", bits.to_bytes(8 * count, "little"))
        if sys.byteorder == "big":
            words.byteswap()
        for index, word in enumerate(words):
            while word:
                lowest = word & -word
                found.add(self.numbers[64 * index + lowest.bit_length() - 1])
                word ^= lowest
        return found
