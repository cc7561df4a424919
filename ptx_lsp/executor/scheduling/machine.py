"""Runs the waves of a launch in turns."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ptx_lsp.executor.asynchronous.cluster_control import Request
from ptx_lsp.executor.asynchronous.pending import Pending
from ptx_lsp.executor.machine.control import Block, Timed
from ptx_lsp.executor.machine.launch_config import LaunchConfig
from ptx_lsp.executor.machine.memory import Memory
from ptx_lsp.executor.machine.observer import Observer
from ptx_lsp.executor.machine.register_file import RegisterLayout
from ptx_lsp.executor.machine.special_registers import fill_special_registers
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.scheduling.cluster_queue import ClusterQueue
from ptx_lsp.executor.scheduling.convergence_groups import Budget
from ptx_lsp.executor.scheduling.native_turns import NativeTurns
from ptx_lsp.executor.scheduling.scheduler import Scheduler
from ptx_lsp.executor.scheduling.scheduling_policy import Schedule
from ptx_lsp.executor.scheduling.stepping import Director, Focus, SteppedScheduler

Progress: TypeAlias = Callable[[int, int, int], None]
"""Receives the number of finished blocks, of all blocks, and of executed instructions."""


class Machine:
    """A kernel and its launch."""

    def __init__(
        self,
        blocks: tuple[Block, ...],
        frame: RegisterLayout,
        shape: LaunchConfig,
        memory: Memory,
        budget: Budget,
        observer: Observer | None = None,
        *,
        schedule: Schedule | None = None,
        native: NativeTurns | None = None,
        director: Director | None = None,
    ) -> None:
        """With a `director`, single warps can be in `focus`."""
        self._blocks = blocks
        self._frame = frame
        self._shape = shape
        self._memory = memory
        self._budget = budget
        self._observer = observer
        self._native = native
        self._between = None if observer is None else observer.turn
        self._director = director
        self.focus = Focus()
        self._schedule = Schedule() if schedule is None else schedule
        self._starts = ClusterQueue(shape, self._schedule, cancels=_cancels(blocks))
        self._runs: deque[Scheduler] = deque()
        self._running: Scheduler | None = None
        """The wave whose slice is under way."""
        self._before = self._done = self._executed = 0
        self._slices = 0
        """How many there were since a wave began."""
        self._stuck: list[bytes] = []
        """The digests of memory of the last slices, in each of which a wave came to where it had been."""

    def run(self, progress: Progress | None = None) -> None:
        """Runs every thread to its end, from where a copy of the machine was made. Raises ExecutionError if
        one fails.

        A wave that takes long may wait for one that has not started, so another is started and they take
        turns.
        """
        with np.errstate(all="ignore"):
            while (run := self._running or self._next()) is not None:
                is_done = run.run_slice()
                self._running = None
                if self.focus.lanes(run.wave) is not None:
                    self.focus.is_waiting = run.is_waiting
                spent = run.wave.executed - self._before
                self._executed += spent
                self._budget.spent += run.wave.executed
                self._slices += 1
                if is_done:
                    self._end(run)
                    self._done += run.wave.shape[0]
                else:
                    self._runs.append(run)
                    self._check(run)
                if progress is not None:
                    progress(self._done + self._starts.canceled, self._shape.blocks, self._executed)

    def exchange(
        self, observer: Observer | None, native: NativeTurns | None, between: Callable[[], None] | None
    ) -> None:
        """Others observe from now on, or nobody does; `between` is called between two turns."""
        self._observer, self._native, self._between = observer, native, between
        for one in self.schedulers:
            one.exchange(observer, native, between)

    @property
    def executed(self) -> int:
        """The instructions so far, of all waves."""
        return self._executed

    @property
    def schedulers(self) -> tuple[Scheduler, ...]:
        """The schedulers of the waves that have begun, first that of the wave whose turn it is."""
        return (*((self._running,) if self._running is not None else ()), *self._runs)

    def _next(self) -> Scheduler | None:
        """The wave whose slice begins; None if all have ended."""
        if self._is_time_for_another():
            self._start()
        if not self._runs:
            return None
        if self.focus.warp is not None and not self.focus.is_waiting:
            while self.focus.is_elsewhere(self._runs[0].wave):
                self._runs.rotate(-1)
        run = self._running = self._runs.popleft()
        if self._runs:
            run.forget()
        self._before = run.wave.executed
        self._budget.spent -= self._before
        return run

    def _is_time_for_another(self) -> bool:
        """Whether a wave is to begin: where the others wait for something, soon; else the later the more
        there are. Threads for which no device has room wait until others have ended.
        """
        runs = self._runs
        if not runs:
            return True
        if self.focus.warp is not None and not self.focus.is_waiting:
            return False
        is_time = self._schedule.is_shuffled or runs[-1].is_waiting or self._slices >= 1 << len(runs)
        return is_time and self._starts.left > 0 and self._room >= self._shape.cluster_blocks

    @property
    def _room(self) -> int:
        """How many more blocks can be resident."""
        return self._shape.resident_blocks - sum(run.wave.running_blocks for run in self._runs)

    def _start(self) -> None:
        native = self._native
        lanes = 0 if native is None else native.wave_lanes(self._shape)
        room = self._shape.blocks if native is not None and lanes and native.always_ends else self._room
        blocks = self._starts.next_wave(room, lanes)
        if blocks is None:
            return
        wave = Wave(self._shape, self._frame, blocks)
        fill_special_registers(wave, self._frame)
        wave.hastens, wave.impatient = self._schedule.hastens, self._schedule.impatient
        wave.cancel = self._starts.cancel
        kind = Scheduler if self._director is None else SteppedScheduler
        following = kind(
            self._blocks, wave, self._memory, self._budget, self._schedule, self._observer, self._native
        )
        if isinstance(following, SteppedScheduler) and self._director is not None:
            following.directed(self._director, self.focus)
        following.exchange(self._observer, self._native, self._between)
        self._runs.appendleft(following)
        self._slices = 0

    def _end(self, run: Scheduler) -> None:
        if self.focus.lanes(run.wave) is not None:
            self.focus.set(None)
        pending = Pending.existing(run.wave)
        if pending is not None:
            pending.bulk.wait_all()
        for state in run.wave.states.values():
            state.ended()
        self._budget.spent = 0
        self._stuck.clear()

    def _check(self, run: Scheduler) -> None:
        """ExecutionError where no wave can go on, and none that could help will begin."""
        if run.stuck is None:
            self._stuck.clear()
            return
        if run.stuck.is_alone:
            raise run.endless()
        if self._stuck and self._stuck[-1] != run.stuck.memory:  # another has changed it since
            self._stuck.clear()
        self._stuck.append(run.stuck.memory)
        left = self._starts.left
        if len(self._stuck) >= len(self._runs) and not (left and self._room >= self._shape.cluster_blocks):
            most = self._shape.resident_blocks
            note = f"; {left} blocks have not started: at most {most} are resident at once" if left else ""
            raise run.endless(note)


def _cancels(blocks: tuple[Block, ...]) -> bool:
    """Whether a kernel may ask for clusters not to start."""
    actions = (step.action for block in blocks for step in block.steps)
    return any(isinstance(one.action if isinstance(one, Timed) else one, Request) for one in actions)
