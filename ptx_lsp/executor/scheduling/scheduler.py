"""The scheduler of one wave: selects the next thread group, tracks waiting threads, and detects deadlock."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.asynchronous.mbarrier_steps import TryWait
from ptx_lsp.executor.asynchronous.pending import Pending
from ptx_lsp.executor.machine.control import (
    Action,
    Barrier,
    Block,
    ClusterBarrier,
    Collective,
    Control,
    Step,
)
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.memory import Memory
from ptx_lsp.executor.machine.observer import CurrentStep, Observer
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.scheduling.barriers import Barriers, ClusterBarriers, Gone
from ptx_lsp.executor.scheduling.convergence_groups import Budget, ConvergenceGroups
from ptx_lsp.executor.scheduling.deadlock_messages import Waiting, deadlock, going_round, held
from ptx_lsp.executor.scheduling.livelock import Groups, LivelockDetector, Stuck
from ptx_lsp.executor.scheduling.native_turns import NativeTurns
from ptx_lsp.executor.scheduling.scheduling_policy import Schedule
from ptx_lsp.executor.scheduling.spin_wait import SpinWaits

_NATIVE_TURNS = 64  # for so many others counts a turn in native code
_WATCHED = 1 << 11
_LOOK_AGAIN = 512
_IDLE = 64  # so often all groups look at memory in vain before another wave goes on
_HASTENED = 0.125
_TRIES = 1 << 12  # so often threads look at an mbarrier in vain before that is a deadlock


class Position(NamedTuple):
    """Lanes that are at an instruction, and why they wait there: "" if they do not. `was_reached`: observers
    know that they are there.
    """

    step: Step
    lanes: Bools
    waits: str
    was_reached: bool = False


class Scheduler(ConvergenceGroups):
    """Schedules the convergence groups of a wave."""

    def __init__(
        self, blocks: tuple[Block, ...], wave: Wave, memory: Memory, budget: Budget, schedule: Schedule,
        observer: Observer | None, native: NativeTurns | None = None,
    ) -> None:
        super().__init__(blocks, wave, budget, set())
        self._native = native
        self._refused: set[int] = set()
        """Blocks at which groups cannot go on in native code, or have tried in vain."""
        self._in_vain_natively = 0
        self._watched = 0
        """For so many turns nothing runs in native code, so that it shows whether the wave ever ends."""
        self.at[0] = None
        self._schedule = schedule
        self._observer = observer
        self._between = None if observer is None else observer.turn
        """Called between two turns."""
        self._barriers = Barriers(wave, observer)
        self._cluster = ClusterBarriers(wave, observer)
        self._held: set[int] = set()
        """Blocks at which groups wait for other lanes of their warps, or at an mbarrier."""
        self._spin_waits = SpinWaits(wave)
        self._livelock = LivelockDetector(blocks, wave, memory, self.executed)
        self.stuck: Stuck | None = None
        """Why the wave did not progress in its last slice."""
        self._slice = self._used = 0
        """The turns of the slice that is under way, and how many of them were taken."""
        self._idle = 0
        self._completed = 0
        self._in_vain = 0

    @property
    def is_waiting(self) -> bool:
        """Whether the wave could not progress in its last slice, or polled memory without success."""
        return self.stuck is not None or self._idle > _IDLE

    def exchange(
        self, observer: Observer | None, native: NativeTurns | None, between: Callable[[], None] | None
    ) -> None:
        """Others observe from now on, or nobody does."""
        self._observer, self._native, self._between = observer, native, between

    def forget(self) -> None:
        """Other waves have gone on."""
        self._livelock.forget()

    @property
    def is_empty(self) -> bool:
        """Whether no lanes are left, but for those at barriers."""
        return not self.at

    @property
    def is_interrupted(self) -> bool:
        """Whether the slice ends early, because nobody may go on."""
        return False

    def run_slice(self) -> bool:
        """Executes blocks of instructions for a while; whether the wave has finished then."""
        if not self._slice:
            self._slice, self._used = self._schedule.slice(), 0
            self._idle, self.stuck = 0, None
        is_done = self._take_turns()
        self._slice = 0
        return is_done

    def _take_turns(self) -> bool:
        while self._used < self._slice:
            if self._between is not None:
                self._between()
            if self.is_interrupted:
                return False
            if self.is_empty:
                if self._waiting():
                    raise self._deadlock()
                return True
            self._used += self._go_on(self._used)
            self.stuck = self._livelock.stuck(self.at, self._held)
            if (self.stuck is not None and not self._completes()) or self._idle > _IDLE:
                break
        return self.is_empty and not self._waiting()

    def _completes(self) -> bool:
        """Whether there are asynchronous operations for which nobody has waited; then they take place."""
        pending = Pending.existing(self.wave)
        if pending is None or not pending.any_left:
            return False
        pending.complete()
        self.stuck = None
        self._livelock.forget()
        return True

    def _go_on(self, turn: int) -> int:
        """Lets groups go on, in native code where there is any; for how many turns they did."""
        native, wave = self._native, self.wave
        if native is None:
            return self._next(turn)
        blocks = native.blocks - self._held - self._refused
        ready = {block: mask for block, mask in self.at.items() if block in blocks}
        if ready and not self._watched:
            self._run_natively(native, ready)
            return _NATIVE_TURNS
        self._watched = max(0, self._watched - 1)
        self._refused.clear()
        before = wave.executed
        used = self._next(turn)
        native.ran(wave.executed - before, wave.count)
        return used

    def _run_natively(self, native: NativeTurns, ready: Groups) -> None:
        """Lets groups go on in native code."""
        for block, mask in ready.items():
            del self.at[block]
            self._livelock.goes_on(block, mask)
        self.executed.update(native.blocks)
        wave = self.wave
        stops = native.run(wave, ready)
        self._livelock.forget()
        self._refused |= stops.refused
        self._in_vain_natively = 0 if stops.is_progress else self._in_vain_natively + 1
        if self._in_vain_natively.bit_count() == 1:
            self._watched = _WATCHED
        if stops.exited is None:
            self.end(None if wave.live is None else wave.live)
        elif stops.exited.any():
            self.end(wave.normal(stops.exited))
        for block, lanes in stops.at_blocks:
            self.arrive(block, wave.normal(lanes))
        for block, step, lanes in sorted(stops.inside, key=lambda one: (self.rank(one[0]), one[1])):
            self.execute(block, wave.normal(lanes), step)
        stopped = [block for block in self.at if self.blocks[block].steps] or list(ready)
        self.budget.check(wave, self.blocks[min(stopped, key=self.rank)].steps[0])

    def _next(self, turn: int) -> int:
        """Lets one group go on; for how many turns it did."""
        self._retry_mbarrier_waits(turn)
        free = [block for block in self.at if block not in self._held]
        if not free:
            if not self._converge_warps() and not self._try():
                raise self._deadlock()
            return 1
        turns, alone = self._schedule.by_rank(turn), None
        free = self._without_spinning(free)
        order = self._schedule.order
        if order is not None:
            turns = 1
            block, alone = order.turn(self.wave, {block: self.at[block] for block in free}, self.rank)
            self._hasten()
        else:
            block = min(free, key=self.rank) if turns else free[0]
        mask = self.at[block]
        if self.blocks[block].polls:
            alone = self._look(block, mask, alone)
        if alone is not None:
            self.at[block] = self.wave.full_mask(mask) & ~alone
            mask = alone
        else:
            del self.at[block]
        self._livelock.goes_on(block, mask)
        mask, some = self._hold(block, mask)
        if not some:
            return 1
        if alone is not None or block in self.at:
            self.execute(block, mask)
            return 1
        self.at[block] = mask
        return self.run_group(block, math.inf, 1 if self._observer is not None else max(turns, 1))

    def _hasten(self) -> None:
        """Now and then, an asynchronous operation takes place that is not waited for yet."""
        random, pending = self._schedule.hastens, Pending.existing(self.wave)
        if random is not None and pending is not None and random.random() < _HASTENED:
            pending.hasten(random)

    def _without_spinning(self, free: list[int]) -> list[int]:
        """Without groups that have looked at memory, and come back all of them to do so again, while others
        may change it.
        """
        found = [
            block for block in free
            if not self.blocks[block].polls
            or not self._spin_waits.has_looked(block, self.wave.full_mask(self.at[block]))
        ]
        if found:
            if len(found) < len(free) or not self._spin_waits.any_looked:
                self._idle = 0
            return found
        self._spin_waits.again()
        self._idle += 1
        return free

    def _look(self, block: int, mask: Bools | None, alone: Bools | None) -> Bools | None:
        """The lanes of a group that look at memory now; None for all of them."""
        full = self.wave.full_mask(mask)
        chosen = self._spin_waits.look(block, full if alone is None else alone)
        return None if chosen is full else chosen

    # -- lanes that wait for others of their warp -----------------------------------------------

    def _hold(self, block: int, mask: Bools | None) -> tuple[Bools | None, bool]:
        """Keeps back the lanes that must wait for others of their warps; the others, and if there are any."""
        steps = self.blocks[block].steps
        action = steps[0].action if steps else None
        waiting = None
        if isinstance(action, TryWait):
            if self.wave.gives_up():
                Pending.of(self.wave).is_impatient = True
            else:
                waiting = self._untimely(steps[0], action, mask)
        elif isinstance(action, Collective):
            here, some = steps[0].taken(self.wave, mask)
            waiting = action.incomplete(self.wave, here, None) if some else None
        if waiting is None:
            return mask, True
        self.arrive(block, waiting)
        self._held.add(block)
        if self._observer is not None and isinstance(action, Collective):
            self._observer.held(self.wave, steps[0], waiting)
        left = self.wave.full_mask(mask) & ~waiting
        return left, bool(left.any())

    def _first(self, block: int) -> Collective | None:
        steps = self.blocks[block].steps
        action = steps[0].action if steps else None
        return action if isinstance(action, Collective) else None

    def _converge_warps(self) -> bool:
        """All groups wait: those at instructions of one kind that wait for each other go on together. Whether
        there are any.
        """
        if self._pass_by():
            return True
        for block in list(self.at):
            action = self._first(block)
            if action is None:
                continue
            parties = [
                (other, second, self.wave.full_mask(self.at[other]))
                for other in self.at if (second := self._first(other)) and second.key == action.key
            ]
            arrived = np.logical_or.reduce([lanes for _, _, lanes in parties])
            ready: list[tuple[int, Collective, Bools]] = []
            for other, second, lanes in parties:
                waiting = second.incomplete(self.wave, lanes, arrived)
                going = lanes if waiting is None else lanes & ~waiting
                if going.any():
                    ready.append((other, second, going))
            if ready:
                self._together(ready)
                return True
        return False

    def _pass_by(self) -> bool:
        """Lets lanes go on that have come to a group that waits, but whose guard is false."""
        for block, mask in self.at.items():
            here, some = self.blocks[block].steps[0].taken(self.wave, mask)
            left = self.wave.full_mask(mask)
            passing = left & ~self.wave.full_mask(here) if some else left
            if passing.any():
                del self.at[block]
                if (left & ~passing).any():
                    self.at[block] = left & ~passing
                else:
                    self._held.discard(block)
                self.execute(block, passing)
                return True
        return False

    def _together(self, ready: list[tuple[int, Collective, Bools]]) -> None:
        for block, _, going in ready:
            left = self.wave.full_mask(self.at.pop(block)) & ~going
            if left.any():
                self.at[block] = left
            else:
                self._held.discard(block)
        (_, first, mask), *others = ready
        steps = [(self.blocks[block].steps[0], going) for block, _, going in ready]
        for step, going in steps:
            self.tell_together(step, going)
        first.run_with(self.wave, mask, [(action, lanes) for _, action, lanes in others])
        if self._observer is not None:
            for step, going in steps:
                self._observer.after(self.wave, step, going)
        self.wave.executed += len(ready)
        for block, _, going in ready:
            self.execute(block, going, 1)

    # -- mbarriers ------------------------------------------------------------------------------

    def _retry_mbarrier_waits(self, turn: int) -> None:
        """Lets groups at mbarriers look again after a phase is complete, and now and then in any case."""
        pending = Pending.existing(self.wave)
        if pending is not None and (
            pending.barriers.completed != self._completed or turn % _LOOK_AGAIN == _LOOK_AGAIN - 1
        ):
            self._completed = pending.barriers.completed
            self._held.clear()

    def _untimely(self, step: Step, action: TryWait, mask: Bools | None) -> Bools | None:
        """The lanes whose phase is not complete."""
        here, some = step.taken(self.wave, mask)
        try:
            waiting = action.incomplete(self.wave, here) if some else None
        except ExecutionError as error:
            raise ExecutionError(
                f"{error.args[0]} in `{step.text}`", error.kind, step.line, error.lanes
            ) from None
        if waiting is None or np.count_nonzero(waiting) < np.count_nonzero(self.wave.full_mask(mask)):
            self._in_vain = 0
        return waiting

    def _try(self) -> bool:
        """Nobody can go on: those at an mbarrier look at it in vain, and may do something else then."""
        for block, mask in self.at.items():
            step = self.blocks[block].steps[0]
            if isinstance(step.action, TryWait):
                waiting = self._untimely(step, step.action, mask)
                self._in_vain += 1
                if waiting is not None and self._in_vain > _TRIES:
                    raise self._deadlock()
                self._held.discard(block)
                del self.at[block]
                self._livelock.goes_on(block, mask)
                self.execute(block, mask)
                return True
        return False

    def arrive(self, block: int, mask: Bools | None) -> None:
        self._held.discard(block)
        super().arrive(block, mask)

    # -- what is there --------------------------------------------------------------------------

    def positions(self) -> Iterator[Position]:
        """Where the lanes are that have not ended, but for those whose instruction is under way."""
        for what, party in self._waiting():
            yield Position(party.step, party.lanes, what, True)
        waiting = {party.onward: what for what, party in held(self.blocks, self.wave, self.at, self._held)}
        for block, mask in self.at.items():
            steps = self.blocks[block].steps
            if steps:
                yield Position(steps[0], self.wave.full_mask(mask), waiting.get(block, ""))

    # -- steps ----------------------------------------------------------------------------------

    def tell(self, step: Step, arrived: Bools | None, active: Bools | None, some: bool) -> Bools | None:
        if self._observer is not None:
            wave = self.wave
            active = active if some else np.zeros(wave.shape, np.bool_)
            CurrentStep.of(wave).begin(step, active)
            self._observer.before(wave, step, arrived, active)

    def tell_together(self, step: Step, going: Bools) -> None:
        """As `tell`, of lanes that go on together with those at other steps."""
        self.tell(step, going, going, True)

    def do(self, step: Step, action: Action | Control, onward: int, mask: Bools | None) -> None:
        match action:
            case Barrier():
                self._release(self._barriers.arrive(step, action, onward, mask))
            case ClusterBarrier():
                self._release(self._cluster.arrive(step, action, onward, mask))
            case _:
                super().do(step, action, onward, mask)
                if self._observer is not None:
                    self._observer.after(self.wave, step, mask)

    def end(self, mask: Bools | None) -> None:
        wave = self.wave
        if mask is None:
            wave.live = np.broadcast_to(np.False_, wave.shape)
        else:
            wave.live = wave.live_mask() & ~mask
        self._held.clear()
        self._release(self._barriers.left())
        self._release(self._cluster.left())

    def _release(self, released: list[Gone]) -> None:
        for onward, lanes in released:
            self.arrive(onward, lanes)

    # -- deadlocks ------------------------------------------------------------------------------

    def _waiting(self) -> list[Waiting]:
        return self._barriers.waiting() + self._cluster.waiting()

    def _deadlock(self) -> ExecutionError:
        """All threads wait."""
        return deadlock(self.wave, [*self._waiting(), *held(self.blocks, self.wave, self.at, self.at)])

    def endless(self, note: str = "") -> ExecutionError:
        """The reason why a wave that is `stuck` never ends, followed by a note."""
        assert self.stuck is not None
        waiting = [*held(self.blocks, self.wave, self.at, self._held), *self._waiting()]
        waiting += going_round(self.blocks, self.wave, self.stuck.went, waiting)
        return deadlock(self.wave, waiting, note=note)
