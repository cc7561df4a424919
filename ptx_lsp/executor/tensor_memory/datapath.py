"""Where the elements of matrices are in Tensor Memory (PTX ISA, "Data Path Layout Organization").

The manual shows the layouts in figures. A block has `rows` rows of D (all, or with `.cta_group::2` half of
them). Columns of D stand side by side, in `parts` parts one below the other:

    A, D  128 rows in lanes 0 to 127
    F, C  64 rows, 16 in the first (or second) half of each quarter of the lanes
    B, E  64 rows in lanes 0 to 63, for the right half of the columns in lanes 64 to 127
    G     32 rows in lanes 0 to 31, and so on for each quarter of the columns

A and metadata in Tensor Memory have the lanes of D: each part of the lanes has a copy for its columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.descriptors.instruction import InstructionDescriptor

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Datapath:
    """`rows` and `parts` as above; with `halves` only 16 lanes of each 32 are used."""

    rows: int
    parts: int = 1
    halves: bool = False

    @classmethod
    def of(cls, found: InstructionDescriptor) -> Datapath:
        form, rows = found.form, found.m // found.form.group
        if rows == 128:
            return cls(128)
        if rows == 32:
            return cls(32, 4)
        if form.stationary or (form.group == 2 and not form.sparse):
            return cls(64, 2)
        return cls(64, halves=True)

    def groups(self, first: int) -> int:
        """The groups of 16 lanes that D uses from a lane on, as bits."""
        return 0b01010101 << first // 16 & 0xFF if self.halves else 0xFF

    def lanes(self) -> Numbers:
        """The lane of each row, for each part (parts by rows)."""
        row = np.arange(self.rows)
        first = row // 16 * 32 + row % 16 if self.halves else row
        return np.asarray(first + self.rows * np.arange(self.parts)[:, None], np.int64)

    def columns(self, n: int) -> int:
        """How many columns D takes."""
        return n // self.parts
