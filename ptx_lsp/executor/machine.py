"""Runs the waves of a launch, which take turns."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from ptx_lsp.executor.control import Block
from ptx_lsp.executor.frame import Frame
from ptx_lsp.executor.groups import Budget
from ptx_lsp.executor.observer import Observer
from ptx_lsp.executor.run import Run
from ptx_lsp.executor.schedule import Schedule
from ptx_lsp.executor.wave import Numbers, Shape, Wave

_WAVE_LANES = 1 << 15


Progress: TypeAlias = Callable[[int, int, int], None]
"""Told how many blocks are done, of how many, and how many instructions were executed."""


class Machine:
    """A kernel and its launch."""

    def __init__(
        self, blocks: tuple[Block, ...], frame: Frame, shape: Shape, limit: int,
        observer: Observer | None = None, *, seconds: float = math.inf, seed: int = 0,
    ) -> None:
        """`limit` is how many instructions each wave may execute; `seconds` how long all may take."""
        self._blocks = blocks
        self._frame = frame
        self._shape = shape
        self._budget = Budget(limit, time.monotonic() + seconds)
        self._observer = observer
        self._schedule = Schedule(seed)

    def run(self, progress: Progress | None = None) -> None:
        """Runs every thread to its end; ExecutionError where one goes wrong.

        A wave that takes long may wait for one that has not begun: another then begins, and they take turns.
        """
        runs: deque[Run] = deque()
        done = executed = 0
        waves = self._waves()
        with np.errstate(all="ignore"):
            while True:
                following = next(waves, None)
                if following is not None:
                    wave = Wave(self._shape, self._frame, following)
                    wave.eager = self._schedule.is_eager
                    runs.appendleft(
                        Run(self._blocks, wave, self._budget, self._schedule, self._observer)
                    )
                if not runs:
                    return
                run = runs.popleft()
                before = run.wave.executed
                if not run.slice():
                    runs.append(run)
                else:
                    done += run.wave.shape[0]
                    if run.wave.pending is not None:
                        run.wave.pending.bulk.wait_all()
                executed += run.wave.executed - before
                if progress is not None:
                    progress(done, self._shape.blocks, executed)

    def _waves(self) -> Iterator[Numbers]:
        """The blocks of each wave. Only where they are not as numbered is the order of all kept."""
        shape = self._shape
        cluster = shape.cluster_blocks
        is_plain = cluster == 1 and not self._schedule.is_shuffled
        order = None if is_plain else self._schedule.ordered(shape.order, cluster)
        first = 0
        while first < shape.blocks:
            lanes = self._schedule.wave_lanes(_WAVE_LANES)
            last = min(first + max(1, lanes // shape.lanes // cluster) * cluster, shape.blocks)
            yield np.arange(first, last, dtype=np.uint32) if order is None else order[first:last]
            first = last
