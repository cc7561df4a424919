"""Orders in which groups of threads and their warps take turns, other than the fastest one.

- At random, mostly with the groups that stand first.
- By priorities: of the warps that can go on the one with the highest priority does. At a few moments, and
  where it has long been the same warp, its priority becomes the lowest (Burckhardt et al., "A Randomized
  Scheduler with Probabilistic Guarantees of Finding Bugs", 2010). Warps may share a priority. Of
  many threads, which cannot take turns one warp after the other, groups go on at random.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.machine.wave import Wave

_FIRST = 0.75
_MOST_UNITS = 16
_FEW_UNITS = 4
"""Each warp is a unit, up to so many; of more warps, so many units, which is faster."""
_MOST_LANES = 1 << 11
_MOST_CHANGES = 4
_LATEST_CHANGE = 12  # as a power of two
_LONGEST_STREAK = 256

Groups = Mapping[int, Bools | None]
"""The blocks at which groups can go on, with their lanes (None: all)."""
Turn = tuple[int, Bools | None]
"""A block, and the lanes that go on there (None: all of the group)."""


class Order(ABC):
    """Chooses who goes on."""

    @abstractmethod
    def turn(self, wave: Wave, groups: Groups, rank: Callable[[int], int]) -> Turn: ...


class RandomOrder(Order):
    """Groups that stand first go on mostly, now and then any other, or some of their warps."""

    def __init__(self, random: random.Random) -> None:
        self._random = random

    def turn(self, wave: Wave, groups: Groups, rank: Callable[[int], int]) -> Turn:
        first = self._random.random() < _FIRST
        block = min(groups, key=rank) if first else self._random.choice(list(groups))
        return block, self._share(wave, groups[block])

    def _share(self, wave: Wave, mask: Bools | None) -> Bools | None:
        """The warps of a group that go on alone; None for all."""
        if self._random.random() < 0.75:
            return None
        warps = wave.shape[0] * wave.shape[1] // WARP_SIZE
        word = self._random.getrandbits(warps)
        bits = np.frombuffer(word.to_bytes(-(-warps // 8), "little"), np.uint8)
        some = np.repeat(np.unpackbits(bits, count=warps, bitorder="little"), WARP_SIZE)
        return part_of(wave, mask, some.astype(np.bool_))


class PriorityOrder(Order):
    """The warps with the highest priority go on."""

    def __init__(self, random: random.Random) -> None:
        self._random = random
        self._of_many = RandomOrder(random)
        self._units: WeakKeyDictionary[Wave, npt.NDArray[np.int64]] = WeakKeyDictionary()
        """The unit of each warp of a wave."""
        self._priorities = np.zeros(0)
        self._lowest = 0.0
        self._left = sorted(
            int(2 ** random.uniform(0, _LATEST_CHANGE)) for _ in range(random.randrange(_MOST_CHANGES + 1))
        )
        """The turns at which priorities change."""
        self._turn = self._streak = 0
        self._last = -1
        self._longest = random.randrange(8, _LONGEST_STREAK)

    def turn(self, wave: Wave, groups: Groups, rank: Callable[[int], int]) -> Turn:
        if wave.shape[0] * wave.shape[1] > _MOST_LANES:
            return self._of_many.turn(wave, groups, rank)
        units = self._units.get(wave)
        if units is None:
            units = self._units[wave] = self._new_units(wave)
        priorities = self._priorities[units]
        there = {
            block: wave.full_mask(groups[block]).reshape(-1, WARP_SIZE).any(axis=1)
            for block in sorted(groups, key=rank)
        }
        highest = max(float(priorities[warps].max()) for warps in there.values())
        its_warps = priorities == highest
        block = self._one_of([block for block, warps in there.items() if (warps & its_warps).any()])
        self._change(int(units[int(its_warps.argmax())]))
        return block, part_of(wave, groups[block], np.repeat(its_warps, WARP_SIZE))

    def _one_of(self, blocks: list[int]) -> int:
        """Where lanes of a warp go on: mostly at the first block, but none of them waits for ever."""
        if len(blocks) == 1 or self._random.random() < _FIRST:
            return blocks[0]
        return self._random.choice(blocks)

    def _new_units(self, wave: Wave) -> npt.NDArray[np.int64]:
        warps = wave.shape[0] * wave.shape[1] // WARP_SIZE
        first = len(self._priorities)
        count = warps if warps <= _MOST_UNITS else _FEW_UNITS
        self._priorities = np.append(self._priorities, [self._random.random() for _ in range(count)])
        found = np.arange(warps)
        if warps > count:
            found = np.array([self._random.randrange(count) for _ in range(warps)])
        return found + first

    def _change(self, unit: int) -> None:
        self._turn += 1
        self._streak = self._streak + 1 if unit == self._last else 0
        self._last = unit
        is_time = bool(self._left) and self._turn >= self._left[0]
        if is_time:
            self._left.pop(0)
        if is_time or self._streak > self._longest:
            self._streak = 0
            self._lowest -= 1
            self._priorities[unit] = self._lowest


def part_of(wave: Wave, mask: Bools | None, some: Bools) -> Bools | None:
    """Some of the lanes of a group; None for all, also if it has none of these."""
    full = wave.full_mask(mask)
    chosen = full & some.reshape(wave.shape)
    return chosen if chosen.any() and not (chosen == full).all() else None
