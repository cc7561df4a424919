"""In which order blocks and groups of threads take turns.

Seed 0 is the order that runs fastest: blocks as they are numbered, groups together as long as they can be.
Any other seed is another order that PTX allows. Clusters start in another order, asynchronous operations
take place at other moments, and groups and warps take turns at random with every third seed, and by
priorities with all others (`orders.py`). Seeds from `FIRST_SEED` on are those of a search (`systematic.py`).
"""

from __future__ import annotations

import random

from ptx_lsp.executor.machine.launch_config import Numbers
from ptx_lsp.executor.scheduling.orders import Order, PriorityOrder, RandomOrder
from ptx_lsp.executor.scheduling.systematic import FIRST_SEED, SwitchedOrder, switches_of

_SLICE = 1 << 13
_CYCLE = 512
_BY_RANK = 384


class Schedule:
    """The order of a launch."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self._random = random.Random(seed) if 0 < seed < FIRST_SEED else None
        self.order: Order | None = SwitchedOrder(switches_of(seed)) if seed >= FIRST_SEED else None
        """None: groups that stand first go on, as long as they can."""
        self.hastens: random.Random | None = None
        """See `Wave.hastens`."""
        if self._random is not None:
            self.order = RandomOrder(self._random) if seed % 3 == 0 else PriorityOrder(self._random)
            self.hastens = self._random if self._random.random() < 0.75 else None

    @property
    def impatient(self) -> random.Random | None:
        """See `Wave.impatient`."""
        return self._random

    @property
    def is_shuffled(self) -> bool:
        """Whether clusters start in another order than they are numbered in."""
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
        return max(0, _BY_RANK - turn % _CYCLE)
