"""Runs the waves of a launch, which take turns."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ptx_lsp.executor.cluster_control import Request
from ptx_lsp.executor.control import Block, Timed
from ptx_lsp.executor.frame import Frame
from ptx_lsp.executor.groups import Budget
from ptx_lsp.executor.observer import Observer
from ptx_lsp.executor.run import Run
from ptx_lsp.executor.schedule import Schedule
from ptx_lsp.executor.starts import Starts
from ptx_lsp.executor.wave import Shape, Wave

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
        self._starts = Starts(shape, self._schedule, cancels=_cancels(blocks))

    def run(self, progress: Progress | None = None) -> None:
        """Runs every thread to its end; ExecutionError where one goes wrong.

        A wave that takes long may wait for one that has not begun: another then begins, and they take turns.
        """
        runs: deque[Run] = deque()
        done = executed = 0
        with np.errstate(all="ignore"):
            while True:
                following = self._starts.wave()
                if following is not None:
                    wave = Wave(self._shape, self._frame, following)
                    wave.eager, wave.starts = self._schedule.is_eager, self._starts
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
                    progress(done + self._starts.canceled, self._shape.blocks, executed)


def _cancels(blocks: tuple[Block, ...]) -> bool:
    """Whether a kernel may ask for clusters not to start."""
    actions = (step.action for block in blocks for step in block.steps)
    return any(isinstance(one.action if isinstance(one, Timed) else one, Request) for one in actions)
