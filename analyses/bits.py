"""Sets of numbers, of registers or words, as the bits of an integer: a union of large sets is quick."""

from __future__ import annotations

from collections.abc import Iterable
from struct import unpack
from typing import Final

NOTHING: Final = frozenset[int]()
"""Python makes a new object of 216 bytes for each empty set, and most sets of small blocks are empty."""


class Bits:
    """Gives each of some numbers a bit, in their order. Others have none, and are left out of sets."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self.numbers = list(numbers)
        self.bits = {number: 1 << index for index, number in enumerate(self.numbers)}

    def of(self, numbers: Iterable[int]) -> int:
        """The bits of a set."""
        found = 0
        for number in numbers:
            found |= self.bits.get(number, 0)
        return found

    def numbers_of(self, bits: int) -> set[int]:
        """The set of these bits."""
        found: set[int] = set()
        count = (bits.bit_length() + 63) // 64
        words: tuple[int, ...] = unpack(f"<{count}Q", bits.to_bytes(8 * count, "little"))
        for index, word in enumerate(words):
            while word:
                lowest = word & -word
                found.add(self.numbers[64 * index + lowest.bit_length() - 1])
                word ^= lowest
        return found
