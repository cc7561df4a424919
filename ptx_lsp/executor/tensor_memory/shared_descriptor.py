"""The 64-bit descriptors of matrices in shared memory (PTX ISA, "Shared memory descriptor"), and where the
elements of such a matrix are.

1. Everything counts chunks of 16 bytes. A row of K elements (or a column, if the matrix is transposed) begins
   with the chunk at the start address.
2. Without swizzling, eight chunks that follow each other across the rows lie together.
3. With swizzling by W bytes, a pattern has rows of W bytes, and bits of the row number are added, without a
   carry, to those that number a chunk of 16 (or 32) bytes in the row. The pattern begins where the address
   has zeros there, moved by the base offset.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]

CHUNK = 16
_REACH = 1 << 18
"""Addresses of descriptors have so many bytes."""


@dataclass(frozen=True)
class Swizzle:
    """Rows of `width` bytes; `bits` of their number change the address from bit `low` on."""

    text: str
    width: int
    bits: int
    low: int


SWIZZLES = {
    0: Swizzle("no swizzling", CHUNK, 0, 4),
    1: Swizzle("128-byte swizzling with atoms of 32 bytes", 128, 2, 5),
    2: Swizzle("128-byte swizzling", 128, 3, 4),
    4: Swizzle("64-byte swizzling", 64, 2, 4),
    6: Swizzle("32-byte swizzling", 32, 1, 4),
}
"""By the code in bits 61 to 63."""


@dataclass(frozen=True)
class SharedDescriptor:
    """The fields of a descriptor, in bytes."""

    start: int
    leading: int
    stride: int
    base_offset: int
    is_absolute: bool
    """Whether `leading` is the address of the part of a row after a boundary of 128 bytes."""
    code: int
    constant: int
    """Bits 46 to 48, which must be 1, and bits 53 to 60, which must be 0."""

    @classmethod
    def of(cls, word: int) -> SharedDescriptor:
        start, leading, stride = ((word >> shift & 0x3FFF) << 4 for shift in (0, 16, 32))
        constant = word >> 46 & 7 | (word >> 53 & 0xFF) << 3
        return cls(start, leading, stride, word >> 49 & 7, bool(word >> 52 & 1), word >> 61, constant)

    def problem(self) -> str:
        """Why it is invalid; "" if it is valid."""
        if self.code not in SWIZZLES:
            return f"the swizzling mode (bits 61 to 63) is {self.code}, which is not valid"
        if self.constant != 1:
            if self.constant & 7 != 1:
                bits = f"{self.constant & 7:#05b}"
                return f"bits 46 to 48 of the shared memory descriptor must be 0b001, not {bits}"
            return "bits 53 to 60 of the shared memory descriptor must be 0"
        if self.is_absolute and (self.code != 2 or self.base_offset):
            return "an absolute leading dimension requires 128-byte swizzling and a base offset of 0"
        return ""

    def text(self) -> str:
        """The fields in words."""
        if self.code not in SWIZZLES:
            return self.problem()
        leading = "leading dimension at" if self.is_absolute else "leading dimension offset"
        base = f", base offset {self.base_offset}" if self.base_offset else ""
        return (
            f"start {self.start:#x}, {leading} {self.leading}, stride dimension offset {self.stride} bytes"
            f"{base}, {SWIZZLES[self.code].text}"
        )

    def addresses(self, length: int, depth: int, chunk: int, *, k_major: bool) -> Numbers:
        """The address of each chunk, of `chunk` elements: for `length` rows (of A, or columns of B) those
        along k, or, if it is not `k_major`, for each k those along the rows.
        """
        across = -(-(depth if k_major else length) // chunk)
        along, inner = np.meshgrid(
            np.arange(length if k_major else depth), np.arange(across), indexing="ij"
        )
        swizzle = SWIZZLES[self.code]
        start = self.start
        if swizzle.bits == 0:
            steps = (self.stride, self.leading) if k_major else (self.leading, self.stride)
            address = start + along % 8 * CHUNK + along // 8 * steps[0] + inner * steps[1]
        elif k_major:
            address = start + along % 8 * swizzle.width + along // 8 * self.stride + inner * CHUNK
            if self.is_absolute:
                left = 128 - start % 128
                behind = self.leading + address - start - left
                address = np.where(inner * CHUNK >= left, behind, address)
        else:
            rows = 4 if swizzle.low == 5 else 8
            each = swizzle.width // CHUNK
            address = (
                start + inner % each * CHUNK + inner // each * self.leading
                + along % rows * swizzle.width + along // rows * self.stride
            )
        turn = (address >> 7) - self.base_offset & (1 << swizzle.bits) - 1
        return np.asarray((address ^ turn << swizzle.low) % _REACH, np.int64)
