"""Runs the waves of a launch: groups of threads that are at the same block go on together.

Of the groups of a wave the one whose block stands first in the order goes on (`flow`), so threads that
parted meet again at the immediate post-dominator. So that threads which wait for others (a spin lock) do
not keep them from running, a part of each cycle of blocks goes to the groups in turn; waves take turns, too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np

from ptx_lsp.executor.control import Action, Barrier, Block, Jump, Leave, Step, Waiting
from ptx_lsp.executor.errors import ExecutionError
from ptx_lsp.executor.frame import Frame
from ptx_lsp.executor.mbarrier_steps import TryWait
from ptx_lsp.executor.observer import Observer
from ptx_lsp.executor.program import Bools
from ptx_lsp.executor.warp import Warp
from ptx_lsp.executor.wave import Numbers, Shape, Wave

_WAVE_LANES = 1 << 15
_CYCLE = 512
_BY_RANK = 384
_SLICE = 1 << 13
_TRIES = 1 << 12  # so often threads look at an mbarrier in vain before that is a deadlock


class Machine:
    """A kernel and its launch."""

    def __init__(
        self, blocks: tuple[Block, ...], frame: Frame, shape: Shape, limit: int,
        observer: Observer | None = None,
    ) -> None:
        """`limit` is how many instructions each wave may execute."""
        self._blocks = blocks
        self._frame = frame
        self._shape = shape
        self._limit = limit
        self._observer = observer

    def run(self) -> None:
        """Runs every thread to its end; ExecutionError where one goes wrong.

        A wave that takes long may wait for one that has not begun: another then begins, and they take turns.
        """
        runs: deque[Run] = deque()
        waves = self._waves()
        with np.errstate(all="ignore"):
            while True:
                following = next(waves, None)
                if following is not None:
                    wave = Wave(self._shape, self._frame, following)
                    runs.appendleft(Run(self._blocks, wave, self._limit, self._observer))
                if not runs:
                    return
                run = runs.popleft()
                if not run.slice(_SLICE):
                    runs.append(run)
                elif run.wave.pending is not None:
                    run.wave.pending.bulk.wait_all()

    def _waves(self) -> Iterator[Numbers]:
        """The blocks of each wave."""
        cluster = self._shape.cluster_blocks
        each = max(1, _WAVE_LANES // self._shape.lanes // cluster) * cluster
        order = self._shape.order
        for first in range(0, order.size, each):
            yield order[first : first + each]


class Run:
    """A wave on its way."""

    def __init__(
        self, blocks: tuple[Block, ...], wave: Wave, limit: int, observer: Observer | None
    ) -> None:
        self.wave = wave
        self._blocks = blocks
        self._limit = limit
        self._observer = observer
        self._groups: dict[int, Bools | None] = {0: None}
        self._waiting: dict[int, Waiting] = {}
        self._held: set[int] = set()
        """Blocks at which groups wait for other lanes of their warps, or at an mbarrier."""
        self._completed = 0
        self._in_vain = 0

    def slice(self, count: int) -> bool:
        """Executes about `count` blocks of instructions; whether the wave is done then."""
        for turn in range(count):
            if not self._groups:
                if self._waiting:
                    self._deadlock()
                return True
            block = self._next(turn)
            mask = self._groups.pop(block)
            alone = block in self._held or not self._groups  # nobody else is left that could come
            self._held.discard(block)
            mask, some = self._hold(block, mask, alone=alone)
            if some:
                self._execute(block, mask)
        return not self._groups and not self._waiting

    def _next(self, turn: int) -> int:
        """The block whose group goes on."""
        self._wake(turn)
        free = [block for block in self._groups if block not in self._held] or list(self._groups)
        if turn % _CYCLE < _BY_RANK:
            return min(free, key=self._rank)
        return free[0]  # the one that has waited longest

    def _wake(self, turn: int) -> None:
        """Lets groups at mbarriers look again after a phase is complete, and now and then in any case."""
        pending = self.wave.pending
        if pending is not None and (
            pending.barriers.completed != self._completed or turn % _CYCLE == _CYCLE - 1
        ):
            self._completed = pending.barriers.completed
            self._held.clear()

    def _hold(
        self, block: int, mask: Bools | None, *, alone: bool
    ) -> tuple[Bools | None, bool]:
        """Keeps back the lanes that must wait for others of their warps, or at an mbarrier, while others are
        on their way; the lanes that need not, and whether there are any.
        """
        steps = self._blocks[block].steps
        action = steps[0].action if steps else None
        if isinstance(action, TryWait):
            waiting = self._tried(steps[0], action, mask, alone=alone)
        elif isinstance(action, Warp) and not alone:
            waiting = action.incomplete(self.wave, mask)
        else:
            return mask, True
        if waiting is None or alone:
            return mask, True
        self._groups[block] = waiting
        self._held.add(block)
        left = self._full(mask) & ~waiting
        return left, bool(left.any())

    def _tried(
        self, step: Step, action: TryWait, mask: Bools | None, *, alone: bool
    ) -> Bools | None:
        """The lanes whose phase is not complete; ExecutionError where nobody is left to complete it."""
        here, some = step.taken(self.wave, mask)
        try:
            waiting = action.incomplete(self.wave, here) if some else None
        except ExecutionError as error:
            raise ExecutionError(
                f"{error.args[0]} in `{step.text}`", error.kind, step.line, error.lanes
            ) from None
        if waiting is None or np.count_nonzero(waiting) < np.count_nonzero(self._full(mask)):
            self._in_vain = 0
        elif alone:
            self._in_vain += 1
            if self._in_vain > _TRIES:
                message = (
                    "threads wait for a phase of an mbarrier that never becomes complete:"
                    f" {action.missing(self.wave, waiting)}"
                )
                raise ExecutionError(message, "deadlock", step.line, self.wave.who(waiting))
        return waiting

    def _rank(self, block: int) -> int:
        return self._blocks[block].rank

    def _execute(self, number: int, mask: Bools | None) -> None:
        wave = self.wave
        steps = self._blocks[number].steps
        for step in steps:
            here, some = step.taken(wave, mask)
            if self._observer is not None:
                self._tell(self._observer, step, mask, here if some else np.zeros(wave.shape, np.bool_))
            if not some:
                continue
            wave.executed += 1
            match step.action:
                case Jump(target=target):
                    self._arrive(target, here)
                    mask, some = self._without(mask, here)
                case Leave(kind=kind):
                    self._leave(step, kind, here)
                    mask, some = self._without(mask, here)
                case Barrier(number=barrier):
                    self._wait(step, barrier, number + 1, here)
                    mask, some = self._without(mask, here)
                case action:
                    self._act(step, action, here)
            if not some:
                break
        else:
            self._arrive(number + 1, mask)
        if wave.executed > self._limit:
            line = steps[0].line if steps else 0
            raise ExecutionError("more instructions than the limit allows", "limit", line)

    def _act(self, step: Step, action: Action, mask: Bools | None) -> None:
        try:
            action.run(self.wave, mask)
        except ExecutionError as error:
            if error.line:
                raise
            text = f"{error.args[0]} in `{step.text}`"
            raise ExecutionError(text, error.kind, step.line, error.lanes) from None
        if self._observer is not None:
            self._observer.after(self.wave, step, mask)

    def _tell(
        self, observer: Observer, step: Step, come: Bools | None, take: Bools | None
    ) -> None:
        self.wave.step, self.wave.active = step, take
        observer.before(self.wave, step, come, take)

    def _arrive(self, block: int, mask: Bools | None) -> None:
        self._held.discard(block)
        if block in self._groups:
            there = self._groups.pop(block)
            if mask is not None and there is not None:
                mask = self.wave.normal(mask | there)
        self._groups[block] = mask

    def _without(self, mask: Bools | None, gone: Bools | None) -> tuple[Bools | None, bool]:
        """What is left of a mask, and whether anything is."""
        if gone is mask:
            return mask, False
        left = (self.wave.exists if mask is None else mask) & ~self._full(gone)
        return left, bool(left.any())

    def _full(self, mask: Bools | None) -> Bools:
        return self.wave.exists if mask is None else mask

    def _leave(self, step: Step, kind: str, mask: Bools | None) -> None:
        wave = self.wave
        if kind == "trap":
            lanes = wave.who(self._full(mask))
            raise ExecutionError("the kernel executed `trap`", "trap", step.line, lanes)
        wave.live = self._full(wave.live) & ~self._full(mask)
        self._release()

    def _wait(self, step: Step, barrier: int, onward: int, mask: Bools | None) -> None:
        if mask is None:  # all come at once
            if self._observer is not None:
                self._observer.met(self.wave, step, self.wave.exists, self.wave.exists)
            self._arrive(onward, None)
            return
        waiting = self._waiting.setdefault(barrier, Waiting())
        before = waiting.lanes.get(onward)
        waiting.lanes[onward] = mask if before is None else mask | before
        waiting.step = step
        self._release()

    def _release(self) -> None:
        """Lets go the threads at barriers at which all living threads of their block are."""
        if not self._waiting:
            return
        living = np.count_nonzero(self._full(self.wave.live), axis=1)
        for barrier, waiting in list(self._waiting.items()):
            come = sum(np.count_nonzero(mask, axis=1) for mask in waiting.lanes.values())
            complete = (living == come).reshape(-1, 1)
            if self._observer is not None and waiting.step is not None and complete.any():
                gone = np.logical_or.reduce(list(waiting.lanes.values())) & complete
                self._observer.met(self.wave, waiting.step, gone, gone)
            for onward, mask in list(waiting.lanes.items()):
                gone = mask & complete
                if gone.any():
                    self._arrive(onward, self.wave.normal(gone))
                    waiting.lanes[onward] = mask & ~complete
                    if not waiting.lanes[onward].any():
                        del waiting.lanes[onward]
            if not waiting.lanes:
                del self._waiting[barrier]

    def _deadlock(self) -> None:
        barrier, waiting = next(iter(self._waiting.items()))
        lanes = self.wave.who(np.logical_or.reduce(list(waiting.lanes.values())))
        message = f"threads wait at barrier {barrier} for others of their block that never come"
        raise ExecutionError(message, "deadlock", waiting.line, lanes)
