"""The clusters that have not started yet, and the blocks that start together as a wave."""

from __future__ import annotations

import numpy as np

from ptx_lsp.executor.machine.launch_config import LaunchConfig, Numbers
from ptx_lsp.executor.scheduling.scheduling_policy import Schedule

_WAVE_LANES = 1 << 15
_SHARE = 4


class ClusterQueue:
    """The clusters of a launch in the order in which they start."""

    def __init__(self, shape: LaunchConfig, schedule: Schedule, *, cancels: bool = False) -> None:
        """Where the kernel `cancels` clusters, at most a quarter of them starts at a time."""
        self._shape = shape
        self._schedule = schedule
        is_plain = shape.cluster_blocks == 1 and not schedule.is_shuffled
        self._order = None if is_plain else schedule.ordered(shape.order, shape.cluster_blocks)
        """Only where they are not as numbered is the order of all kept."""
        self._first = 0
        self._most = max(1, shape.blocks // shape.cluster_blocks // _SHARE) if cancels else shape.blocks
        self.canceled = 0
        """How many blocks were."""

    def next_wave(self, room: int, lanes: int = 0) -> Numbers | None:
        """The blocks of the next wave, for at most `room` blocks and about so many lanes (0: as the schedule
        has it); None where all have started.
        """
        first, cluster = self._first, self._shape.cluster_blocks
        if first >= self._shape.blocks:
            return None
        lanes = max(lanes, self._schedule.wave_lanes(_WAVE_LANES))
        clusters = min(max(1, lanes // self._shape.lanes // cluster), self._most, max(1, room // cluster))
        self._first = min(first + clusters * cluster, self._shape.blocks)
        return self._blocks(first, self._first)

    @property
    def left(self) -> int:
        """How many blocks have not started."""
        return self._shape.blocks - self._first

    def cancel(self) -> int | None:
        """The number of the first block of the next cluster, which will not start; None where all have."""
        if self._first >= self._shape.blocks:
            return None
        first = int(self._blocks(self._first, self._first + 1)[0])
        self._first += self._shape.cluster_blocks
        self.canceled += self._shape.cluster_blocks
        return first

    def _blocks(self, first: int, last: int) -> Numbers:
        order = self._order
        return np.arange(first, last, dtype=np.uint32) if order is None else order[first:last]
