"""In which order blocks and groups of threads take turns.

Seed 0 is the order that runs fastest: blocks as they are numbered, groups together as long as they can be.
Any other seed is another order that PTX allows: clusters start in another order, groups go on when it is not
their turn, and warps of a group go on by themselves; asynchronous copies take place when they begin.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.machine.launch_config import WARP_SIZE, Numbers
from ptx_lsp.executor.machine.wave import Wave

_SLICE = 1 << 13
_CYCLE = 512
_BY_RANK = 384


class Schedule:
    """The order of a launch."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed) if seed else None

    @property
    def is_shuffled(self) -> bool:
        """Whether clusters start in another order than they are numbered in."""
        return self._random is not None

    @property
    def is_eager(self) -> bool:
        """Whether asynchronous operations take place at once, not at the latest moment."""
        return self._random is not None

    def ordered(self, blocks: Numbers, cluster_blocks: int) -> Numbers:
        """The blocks in the order in which they start, cluster after cluster."""
        if self._random is None:
            return blocks
        clusters = blocks.reshape(-1, cluster_blocks)
        order = list(range(len(clusters)))
        self._random.shuffle(order)
        return clusters[order].reshape(-1)

    def wave_lanes(self, most: int) -> int:
        """About how many lanes a wave has."""
        return most if self._random is None else most >> self._random.randrange(6)

    def slice(self) -> int:
        """For how many blocks of instructions a wave goes on before another does."""
        return _SLICE if self._random is None else self._random.randrange(1, _SLICE)

    def by_rank(self, turn: int) -> int:
        """For how many turns the groups that stand first are to go on; 0 for a group that waits."""
        if self._random is not None:
            return int(self._random.random() < 0.75)
        return max(0, _BY_RANK - turn % _CYCLE)

    def chosen(self, blocks: Sequence[int]) -> int:
        """Of the blocks at which groups are, the one that has waited longest first, the next out of turn."""
        return blocks[0] if self._random is None else self._random.choice(blocks)

    def share(self, wave: Wave, mask: Bools | None) -> Bools | None:
        """The warps of a group that go on alone; None for all."""
        if self._random is None or self._random.random() < 0.75:
            return None
        warps = wave.shape[0] * wave.shape[1] // WARP_SIZE
        word = self._random.getrandbits(warps)
        bits = np.frombuffer(word.to_bytes(-(-warps // 8), "little"), np.uint8)
        some = np.repeat(np.unpackbits(bits, count=warps, bitorder="little"), WARP_SIZE)
        chosen = wave.full_mask(mask) & some.reshape(wave.shape).astype(np.bool_)
        return chosen if chosen.any() and not (chosen == wave.full_mask(mask)).all() else None
