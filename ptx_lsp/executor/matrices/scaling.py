"""The scales of blocks of matrices (PTX ISA, "Block Scaling for mma.sync")."""

from __future__ import annotations

import numpy as np

from ptx_lsp.executor.arithmetic.floats import Doubles
from ptx_lsp.executor.arithmetic.formats import FORMATS, Bits
from ptx_lsp.executor.matrices.fragments import Words


def factors(modifiers: frozenset[str], inputs: dict[str, list[Words]]) -> tuple[Doubles, Doubles]:
    """Of A (warps, 1, 16 rows, blocks of a row), and of B (warps, 1, blocks of a column, 8 columns).

    A pair of lanes of each group of four has those of the row of A with the number of the group and of that 8
    below; one lane has those of the column of B.
    """
    count = _count(modifiers)
    format = FORMATS[".ue4m3" if ".ue4m3" in modifiers else ".ue8m0"]
    a, b = (_bytes(inputs, side, count) for side in "ab")
    first = 2 * _selected(inputs, "lane-a")
    of_a = np.concatenate([a[:, :, first], a[:, :, first + 1]], axis=1)
    of_b = b[:, :, _selected(inputs, "lane-b")]
    return (
        format.decoded(of_a).astype(np.float64)[:, None],
        format.decoded(of_b).astype(np.float64).swapaxes(1, 2)[:, None],
    )


def _count(modifiers: frozenset[str]) -> int:
    """How many blocks there are in a row."""
    for count in (1, 2, 4):
        if f".scale_vec::{count}X" in modifiers:
            return count
    return 2 if ".kind::mxf4" in modifiers else 1


def _bytes(inputs: dict[str, list[Words]], side: str, count: int) -> Bits:
    """Those of each lane: warps, groups, lanes of a group, bytes."""
    words = inputs[f"scale-{side}"][0].astype(np.uint32)
    shifts = 8 * (_selected(inputs, f"byte-{side}") + np.arange(count, dtype=np.uint32))
    found = words[..., None] >> shifts.astype(np.uint32) & np.uint32(255)
    return found.reshape(words.shape[0], 8, 4, count)


def _selected(inputs: dict[str, list[Words]], name: str) -> int:
    return int(inputs[name][0].flat[0])
