"""Which lane of a warp holds which element of a matrix.

As the manual has it for `mma` (PTX ISA, "Matrix Fragments for ..."), one rule for all shapes; for `wmma`,
where it leaves that open, a rule of our own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]
Words = npt.NDArray[np.unsignedinteger]

_LANES: Indices = np.arange(32).reshape(-1, 1)
_GROUP = _LANES >> 2
_IN_GROUP = _LANES & 3


@dataclass(frozen=True, eq=False)
class Fragment:
    """The places of the elements of each lane (lanes by elements), the lowest of the first register first.
    `bits` is the width of an element; `shape` is how many matrices there are, their rows and columns.
    """

    shape: tuple[int, int, int]
    bits: int
    rows: Indices
    columns: Indices
    planes: Indices

    @cached_property
    def _places(self) -> Indices:
        """Where in the matrices, flat, each element of the lanes, flat, stands."""
        _, rows, columns = self.shape
        return ((self.planes * rows + self.rows) * columns + self.columns).reshape(-1)

    @cached_property
    def _sources(self) -> Indices:
        """The reverse."""
        found = np.zeros(int(np.prod(self.shape)), np.int64)
        found[self._places] = np.arange(self._places.size)
        return found

    def matrices(self, registers: list[Words]) -> Words:
        """The matrices (warps, matrices, rows, columns) from registers, arrays of warps by lanes."""
        words = np.stack(registers, axis=-1)
        if self.bits in (8, 16):
            words = words.astype(np.uint32, copy=False).view(f"u{self.bits // 8}")
        elif self.bits < 32:
            shifts = np.arange(0, 32, self.bits, dtype=np.uint32)
            words = words[..., None] >> shifts & np.uint32((1 << self.bits) - 1)
        flat = words.reshape(words.shape[0], -1)
        return flat.take(self._sources, axis=1).reshape(-1, *self.shape)

    def registers(self, matrices: Words) -> list[Words]:
        """The registers that hold matrices."""
        flat = matrices.reshape(matrices.shape[0], -1)
        elements = flat.take(self._places, axis=1).reshape(-1, *self.rows.shape)
        if self.bits < 32:
            each = 32 // self.bits
            shifts = np.arange(0, 32, self.bits, dtype=np.uint32)
            parts = elements.astype(np.uint32).reshape(*elements.shape[:2], -1, each) << shifts
            elements = np.bitwise_or.reduce(parts, axis=-1)
        return [elements[..., at] for at in range(elements.shape[2])]


def left(m: int, k: int, bits: int) -> Fragment:
    """A of an `mma`: rows of 8 lie in turn in the registers, each lane has neighbours in a row."""
    each = max(32 // bits, 1)
    count = m * k // 32
    register, element = np.divmod(np.arange(count).reshape(1, -1), each)
    below = register & 1 if m == 16 else 0
    block = register >> 1 if m == 16 else register
    rows = _GROUP + 8 * below + 0 * element
    return _fragment((1, m, k), bits, rows, (block * 4 + _IN_GROUP) * each + element)


def right(k: int, bits: int) -> Fragment:
    """B of an `mma`, which has 8 columns: each lane has neighbours in a column."""
    each = max(32 // bits, 1)
    register, element = np.divmod(np.arange(k // 4).reshape(1, -1), each)
    return _fragment(
        (1, k, 8), bits, (register * 4 + _IN_GROUP) * each + element, _GROUP + 0 * register
    )


def sums(m: int, n: int, bits: int) -> Fragment:
    """C and D of an `mma`: pairs of neighbours in a row."""
    at = np.arange(m * n // 32).reshape(1, -1)
    below = at >> 1 & 1 if m == 16 else 0 * at
    block = at >> 2 if m == 16 else at >> 1
    return _fragment((1, m, n), bits, _GROUP + 8 * below, 8 * block + 2 * _IN_GROUP + (at & 1))


def quarter_left(by_rows: bool) -> Fragment:
    """A of `mma.m8n8k4` with `.f16`: four products at once, each by 8 lanes."""
    own, other = _quarters(4)
    rows, columns = (own, other) if by_rows else (other + _upper(), _LANES % 4 + 0 * other)
    return _fragment((4, 8, 4), 16, rows, columns, _plane(4))


def quarter_right(by_rows: bool) -> Fragment:
    own, other = _quarters(4)
    rows, columns = (_LANES % 4 + 0 * other, other + _upper()) if by_rows else (other, own)
    return _fragment((4, 4, 8), 16, rows, columns, _plane(4))


def quarter_sums(bits: int) -> Fragment:
    at = np.arange(8).reshape(1, -1)
    if bits == 16:
        rows, columns = _quarters(8)
    else:
        rows = (_LANES & 1) + (at & 2) + _upper()
        columns = (at & 4) + (_LANES & 2) + (at & 1)
    return _fragment((4, 8, 8), bits, rows, columns, _plane(8))


def whole(rows: int, columns: int, bits: int, registers: int, *, by_rows: bool) -> Fragment:
    """For `wmma`: each lane has neighbours of a row, or of a column. Where the registers have room for more
    than the matrix, it stands there again.
    """
    each = max(32 // bits, 1) * registers
    at = (_LANES * each + np.arange(each)) % (rows * columns)
    first, second = np.divmod(at, columns if by_rows else rows)
    place = (first, second) if by_rows else (second, first)
    return _fragment((1, rows, columns), bits, *place)


def _quarters(count: int) -> tuple[Indices, Indices]:
    """The row (or column) that a lane of a quarter has, and the numbers of its elements."""
    other = np.arange(count).reshape(1, -1) + 0 * _LANES
    return _LANES % 4 + _upper() + 0 * other, other


def _upper() -> Indices:
    return _LANES // 16 * 4


def _plane(count: int) -> Indices:
    return _LANES % 16 // 4 + np.zeros((1, count), np.int64)


def _fragment(
    shape: tuple[int, int, int], bits: int, rows: Indices, columns: Indices,
    planes: Indices | None = None,
) -> Fragment:
    full = np.broadcast_shapes(rows.shape, columns.shape)
    rows, columns = np.broadcast_to(rows, full), np.broadcast_to(columns, full)
    return Fragment(shape, bits, rows, columns, np.zeros_like(rows) if planes is None else planes)
