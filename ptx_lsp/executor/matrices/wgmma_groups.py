"""The `wgmma.mma_async` of each warp, in groups, and the instructions that order them.

1. A product is one operation of the four warps of a warpgroup. It takes place when they issue it, each its
   own rows. The hardware may do the same if the program orders its accesses correctly.
2. `wgmma.wait_group` waits until all warps of the warpgroup have issued the products that it waits for.
3. Observers learn with the wait that the products have read their operands.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.instructions.aligned import Aligned, Warps
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.machine.wave import Wave, WaveState

Numbers = npt.NDArray[np.int64]

_WARPS = 4


@dataclass(eq=False)
class Product:
    """A product that some warps of a warpgroup have issued together, in their group of this number."""

    warps: slice
    """The warpgroup."""
    group: int
    unaware: Bools
    """The warps of the warpgroup that have not waited for it."""


class Groups(WaveState):
    """The products of the warps of a wave, numbered through the wave, that nobody has waited for."""

    def __init__(self, wave: Wave) -> None:
        super().__init__(wave)
        self._each = wave.shape[1] // WARP_SIZE
        warps = wave.shape[0] * self._each
        self._issued = np.zeros(warps, np.int64)
        """How many products each warp has issued."""
        self._committed = [list[int]() for _ in range(warps)]
        """For each group of each warp how many it had issued then."""
        self._products: list[Product] = []

    def issue(self, warps: Numbers) -> None:
        self._issued[warps] += 1

    def observe(self, warps: Numbers) -> list[Product]:
        """The products that these warps have issued, one for each warpgroup."""
        found: dict[int, Product] = {}
        for warp in map(int, warps):
            here = self._warpgroup(warp)
            group, unaware = len(self._committed[warp]), np.ones(here.stop - here.start, np.bool_)
            found.setdefault(here.start, Product(here, group, unaware))
        self._products += found.values()
        return list(found.values())

    def commit(self, warps: Numbers) -> None:
        for warp in map(int, warps):
            self._committed[warp].append(int(self._issued[warp]))

    def lacking(self, warps: Numbers, newest: int) -> Bools:
        """The warps that would wait for the others of their warpgroup: all but the newest groups of them."""
        found = np.zeros(warps.shape, np.bool_)
        for at, warp in enumerate(map(int, warps)):
            groups = self._committed[warp]
            wanted = groups[-newest - 1] if len(groups) > newest else 0
            found[at] = bool((self._issued[self._warpgroup(warp)] < wanted).any())
        return found

    def wait(self, warp: int, newest: int) -> list[Product]:
        """The products that a warp knows to be complete when all but the newest groups are."""
        found: list[Product] = []
        first_left = len(self._committed[warp]) - newest
        for one in self._products:
            at = warp - one.warps.start
            if one.warps == self._warpgroup(warp) and one.group < first_left and one.unaware[at]:
                one.unaware[at] = False
                found.append(one)
        self._products = [one for one in self._products if one.unaware.any()]
        return found

    def _warpgroup(self, warp: int) -> slice:
        block, own = divmod(warp, self._each)
        first = block * self._each + own // _WARPS * _WARPS
        return slice(first, min(first + _WARPS, (block + 1) * self._each))


class Fence:
    """`wgmma.fence`: what it orders is in order already."""

    def run(self, wave: Wave, mask: Bools | None) -> None:
        pass


class Commit(Aligned):
    """`wgmma.commit_group`"""

    def execute(self, warps: Warps) -> None:
        Groups.of(warps.wave).commit(warp_numbers(warps.wave, warps.lanes))


class Wait(Aligned):
    """`wgmma.wait_group`"""

    def __init__(self, spaces: Spaces, newest: int) -> None:
        super().__init__()
        self._spaces = spaces
        self._newest = newest

    def incomplete(self, wave: Wave, mask: Bools | None, arrived: Bools | None) -> Bools | None:
        waiting = super().incomplete(wave, mask, arrived)
        full = wave.full_mask(mask)
        numbers = np.flatnonzero(full.reshape(-1, WARP_SIZE).any(axis=1))
        lacking = Groups.of(wave).lacking(numbers, self._newest)
        if not lacking.any():
            return waiting
        warps = np.zeros(full.size // WARP_SIZE, np.bool_)
        warps[numbers[lacking]] = True
        held = full & np.repeat(warps, WARP_SIZE).reshape(full.shape)
        return held if waiting is None else held | waiting

    def awaits(self, wave: Wave, lanes: Bools) -> str:
        if super().incomplete(wave, lanes, None) is None:
            return "the other warps of the warpgroup, which have not issued the same `wgmma.mma_async`,"
        return super().awaits(wave, lanes)

    def execute(self, warps: Warps) -> None:
        wave = warps.wave
        if self._spaces.observer is None:
            return
        for warp in map(int, warp_numbers(wave, warps.lanes)):
            lanes = np.arange(WARP_SIZE * warp, WARP_SIZE * (warp + 1))
            for product in Groups.of(wave).wait(warp, self._newest):
                self._spaces.completed(wave, product, lanes, None, is_read=True)


def warp_numbers(wave: Wave, lanes: Bools | None) -> Numbers:
    """The warps of some lanes, numbered through the wave."""
    return np.flatnonzero(wave.full_mask(lanes).reshape(-1, WARP_SIZE).any(axis=1))
