"""The order in which copies of columns (`.im2col` and its relatives) visit the pixels of a bounding box.

A copy starts at a pixel, and goes on to the right by the step of the width. After the end of the bounding
box it goes on at its beginning, one step further in the next dimension, and at last in the next image.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ptx_lsp.executor.instructions.threads import Indices

_PIXELS = 128
_GROUPS = 4
"""Of `.im2col::w::128`: its pixels, and how many groups of them have a halo of their own."""


class Axis(NamedTuple):
    """One dimension of a bounding box: where the copy starts, where it goes on, the end, and the step."""

    start: int
    first: int
    end: int
    step: int


def walked(turns: Indices, axes: Sequence[Axis]) -> tuple[list[Indices], Indices]:
    """For the pixels with these numbers, counted from the first one: the coordinates in each dimension, and
    how many images further they are. Axes are W, H, D, and the start is before the end.
    """
    found: list[Indices] = []
    for axis in axes:
        begun = -(-(axis.end - axis.start) // axis.step)
        whole = max(1, -(-(axis.end - axis.first) // axis.step))
        later = turns - begun
        found.append(np.where(
            later < 0, axis.start + turns * axis.step, axis.first + later % whole * axis.step
        ))
        turns = np.where(later < 0, 0, later // whole + 1)
    return found, turns


def halo_turns(pixels: int | None, halo: int) -> Indices:
    """The numbers of the pixels of `.im2col::w` in the order of shared memory: `pixels`, then the `halo`
    after them. None is `.im2col::w::128`: each 32 of its 128 pixels have a halo, and after all pixels follow
    the first ones of the four halos, then the second ones.
    """
    if pixels is not None:
        return np.arange(pixels + halo)
    ends = np.arange(1, _GROUPS + 1) * (_PIXELS // _GROUPS)
    halos = np.arange(halo).reshape(-1, 1) + ends
    return np.concatenate([np.arange(_PIXELS), halos.reshape(-1)])
