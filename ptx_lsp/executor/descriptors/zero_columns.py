"""The 64-bit descriptors by which a `tcgen05.mma.ws` shifts B and takes zero for some of its columns (PTX
ISA, "Zero-Column Mask Descriptor").

The manual's table has the two spans the wrong way round. Its examples, where the first of four columns count
and the next three are zero with a use span of 3 and a skip span of 2, and CUTLASS agree with their names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ptx_lsp.executor.descriptors.field import Field, constant, count, flag

_PARTS = 4
_NARROW = 32


def _span(value: int) -> str:
    return f"{value + 1} columns" if value else "1 column"


FIELDS = (
    *(Field(f"start count {at}", 8 * at, 8, count("columns")) for at in range(_PARTS)),
    *(Field(f"first span {at}", 32 + at, 1, flag("of zeros", "of B")) for at in range(_PARTS)),
    Field("reserved", 36, 3, constant(0, 3)),
    Field("mask", 39, 1, flag("as below", "none")),
    Field("skip span (zeros)", 40, 8, _span),
    Field("use span (B)", 48, 8, _span),
    Field("column shift", 56, 6, count("columns")),
    Field("reserved", 62, 2, constant(0, 2)),
)


@dataclass(frozen=True)
class ZeroColumns:
    """The fields of a descriptor. Each of one, two or four parts of the columns begins `starts` columns
    after the beginning of a span, of zeros if its `zeros_first` is true.
    """

    is_masked: bool
    starts: tuple[int, ...]
    zeros_first: tuple[bool, ...]
    zeros: int
    used: int
    shift: int
    reserved: int

    @classmethod
    def of(cls, word: int) -> ZeroColumns:
        return cls(
            bool(word >> 39 & 1), tuple(word >> 8 * part & 0xFF for part in range(_PARTS)),
            tuple(bool(word >> 32 + part & 1) for part in range(_PARTS)), (word >> 40 & 0xFF) + 1,
            (word >> 48 & 0xFF) + 1, word >> 56 & 0x3F, word & (7 << 36 | 3 << 62),
        )

    def problems(self, m: int, most_shift: int) -> Iterator[str]:
        """Problems with a D of `m` rows and the maximum shift of the instruction descriptor."""
        if self.reserved:
            yield f"reserved bits of the zero-column mask descriptor must be 0, not {self.reserved:#x}"
        most = min(most_shift, 16 if m == _NARROW else 32)
        if self.shift > most:
            yield (
                f"B is shifted by {self.shift} columns, and at most by {most} with this instruction"
                " descriptor"
            )

    def text(self) -> str:
        """The fields in words."""
        shift = f"B shifted by {self.shift} columns" if self.shift else ""
        mask = f"spans of {self.used} columns of B and {self.zeros} of zeros" if self.is_masked else ""
        return ", ".join(filter(None, (mask, shift))) or "no columns zero"

    def zero(self, m: int, n: int) -> list[bool]:
        """Which of `n` columns are zero."""
        parts = 128 // m
        found: list[bool] = []
        for part in range(parts if self.is_masked else 0):
            span = [True] * self.zeros, [False] * self.used
            period = [*span[0], *span[1]] if self.zeros_first[part] else [*span[1], *span[0]]
            start = self.starts[part]
            found += [period[(start + at) % len(period)] for at in range(n // parts)]
        return found or [False] * n
