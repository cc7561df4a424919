"""The 64-bit descriptors of matrices in shared memory: of `tcgen05` (PTX ISA, "Shared memory descriptor") and
of `wgmma` (PTX ISA, "Matrix Descriptor Format").
"""

from __future__ import annotations

from dataclasses import dataclass

from ptx_lsp.executor.descriptors.field import Field, address, choice, constant, count, flag

CHUNK = 16
"""Bytes that lie together in all layouts."""


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

    def remark(self) -> str:
        """A place that is valid, but so unusual that it is likely a mistake; "" for any other."""
        swizzle = SWIZZLES[self.code]
        rows = (1 << swizzle.bits) - 1
        begins = self.start >> 7 & rows
        if swizzle.bits and begins != self.base_offset & rows:
            boundary = 128 << swizzle.bits
            return (
                f"the matrix begins in row {begins} of a pattern of {swizzle.text}: its address"
                f" {self.start:#x} is not aligned to {boundary} bytes, and the base offset is"
                f" {self.base_offset}"
            )
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


_STRIDES = (
    Field("start address", 0, 14, address(16)),
    Field("leading dimension", 16, 14, count("bytes", 16)),
    Field("stride dimension offset", 32, 14, count("bytes", 16)),
)
FIELDS = (
    *_STRIDES,
    Field("constant", 46, 3, constant(1, 3)),
    Field("base offset", 49, 3),
    Field("leading dimension is", 52, 1, flag("an absolute address", "an offset")),
    Field("constant", 53, 8, constant(0, 8)),
    Field("swizzling", 61, 3, choice({code: one.text for code, one in SWIZZLES.items()})),
)
"""The fields for `tcgen05`."""
_WARPGROUP_SWIZZLES = {0: SWIZZLES[0], 1: SWIZZLES[2], 2: SWIZZLES[4], 3: SWIZZLES[6]}
WARPGROUP_FIELDS = (
    *_STRIDES,
    Field("base offset", 49, 3),
    Field("swizzling", 62, 2, choice({code: one.text for code, one in _WARPGROUP_SWIZZLES.items()})),
)
"""The fields for `wgmma`."""


def warpgroup_text(word: int) -> str:
    """The fields of a descriptor of `wgmma` in words."""
    start, leading, stride = ((word >> shift & 0x3FFF) << 4 for shift in (0, 16, 32))
    base = word >> 49 & 7
    return (
        f"start {start:#x}, leading dimension offset {leading}, stride dimension offset {stride} bytes"
        f"{f', base offset {base}' if base else ''}, {_WARPGROUP_SWIZZLES[word >> 62 & 3].text}"
    )
