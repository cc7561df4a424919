"""Sets of registers as the bits of an integer: the union of two large sets is one operation."""

from __future__ import annotations

from collections.abc import Iterable
from struct import unpack


class Bits:
    """Gives each of some registers a bit, in their order. Others have none, and are left out of sets."""

    def __init__(self, registers: Iterable[int]) -> None:
        self.registers = list(registers)
        self.bits = {register: 1 << index for index, register in enumerate(self.registers)}

    def of(self, registers: Iterable[int]) -> int:
        """The bits of a set."""
        found = 0
        for register in registers:
            found |= self.bits.get(register, 0)
        return found

    def registers_of(self, bits: int) -> set[int]:
        """The set of these bits."""
        found: set[int] = set()
        count = (bits.bit_length() + 63) // 64
        words: tuple[int, ...] = unpack(f"<{count}Q", bits.to_bytes(8 * count, "little"))
        for index, word in enumerate(words):
            while word:
                lowest = word & -word
                found.add(self.registers[64 * index + lowest.bit_length() - 1])
                word ^= lowest
        return found
