"""A run that stops, goes on, and goes back.

1. The run takes place in a thread of its own, which waits while the run stands. Whoever debugs looks at it
   meanwhile.
2. Instructions are counted. A run is deterministic, so the number of an instruction names a moment.
3. Between instructions, copies of the state are made now and then (`snapshot.py`). To go back is to restore
   the last copy before that moment, and to run on from there. Copies share what is the same in them. When
   they need more memory than is granted, every other one is given up.
4. Kernels print once, however often a part of the run is repeated.
5. Where nothing can stop a run, it goes on unseen: nobody counts instructions, and native code runs. If it
   ends or fails so, it is repeated from the last copy, to know where, as soon as that matters. If it is
   stopped, what can be reached begins there.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import TypeAlias, cast

from ptx_lsp.debug.copies import Copies
from ptx_lsp.debug.goals import AtEvent, Goal, Hit, LastBefore, Moment, Reason, Stop
from ptx_lsp.debug.lanes import Lane
from ptx_lsp.debug.snapshot import Copier
from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.checker import Checker
from ptx_lsp.executor.instrumentation.usage import Usages
from ptx_lsp.executor.instrumentation.written_registers import WrittenRegisters
from ptx_lsp.executor.launching.prepared_launch import Execution, PreparedLaunch
from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.errors import ExecutionError, Finding
from ptx_lsp.executor.machine.heap import Heap
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.machine.observer import MemoryEvent, Observer
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.scheduling.machine import Machine
from ptx_lsp.executor.scheduling.scheduling_policy import Schedule
from ptx_lsp.executor.scheduling.stepping import Director

MOST_BYTES = 1 << 28
_LEAST_SECONDS = 0.05
_SHARE = 4
"""Copies are made so seldom that they take at most a share of the time."""


Edit: TypeAlias = Callable[[Machine], None]
"""A change of the state of a run."""


class _Left(BaseException):
    """The run is given up, to go on from another moment."""


@dataclass(frozen=True)
class _Order:
    """What the run is to do: go on, from a copy if there is one, until a goal is reached."""

    goal: Goal
    copied: int | None = None
    is_end: bool = False


class Recording:
    """One run of a launch, that goes forwards and backwards in time."""

    def __init__(
        self, make: Callable[[Observer], PreparedLaunch], seed: int = 0, most_bytes: int = MOST_BYTES
    ) -> None:
        """`make` prepares the launch, with an observer that it is to have."""
        self._recorder = _Recorder(self)
        self.launch = make(self._recorder)
        self._seed = seed
        copier = Copier((*self.launch.fixed, self._recorder, self), self.launch.written)
        self._copies = Copies(copier, most_bytes)
        self._orders: SimpleQueue[_Order] = SimpleQueue()
        self._stops: SimpleQueue[Stop | BaseException] = SimpleQueue()
        self._execution: Execution | None = None
        self._edits: dict[int, list[Edit]] = {}
        self._decisions: dict[int, tuple[int, int] | None] = {}
        """The instructions before which another warp came into focus."""
        self.stop = Stop("start", 0)
        self.is_over = False
        """Whether the kernel has ended or failed: then it can only go back."""
        self._is_unseen = False
        """Whether it has ended unseen, so that nobody knows how many instructions there were."""
        self._thread = threading.Thread(target=self._work, name="debuggee", daemon=True)
        self._thread.start()

    @property
    def observer(self) -> Observer:
        """The observer of this run, and of no other."""
        return self._recorder

    @property
    def machine(self) -> Machine | None:
        """The state of the run, while it stands."""
        return None if self._execution is None else self._execution.machine

    @property
    def waves(self) -> tuple[Wave, ...]:
        """The waves that have begun."""
        return () if self.machine is None else tuple(one.wave for one in self.machine.schedulers)

    @property
    def copied_bytes(self) -> int:
        """The memory that copies take."""
        return self._copies.size

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of the checks until now."""
        checker = None if self._execution is None else self._execution.checker
        return () if checker is None else checker.findings

    def go_on(self, goal: Goal) -> Stop:
        """Runs until a goal is reached, the checks find something, the kernel fails or ends."""
        if self.is_over:
            self.stop = replace(self.stop, reason="end")
            return self.stop
        self._recorder.passed = self.stop.event if isinstance(self.stop.problem, Finding) else None
        return self._ordered(_Order(goal))

    def go_to(self, event: int, reason: Reason = "goto") -> Stop:
        """Runs to a moment, before or after this one."""
        if event <= self.stop.event or self.is_over:
            return self._ordered(_Order(AtEvent(event, reason), self._copies.before(event)))
        return self._ordered(_Order(AtEvent(event, reason)))

    def go_back(self, goal: Goal) -> Stop:
        """To the last moment before this one at which a goal is reached; to the first if there is none. What
        the instruction just before this moment did can also be a reason to stop, here.
        """
        known: frozenset[int] | None = frozenset(self.stop.hits)
        if self._is_unseen:
            found = self._ordered(_Order(AtEvent(sys.maxsize), self._copies.last))
            if not self.is_over:  # interrupted
                return found
        end = start = self.stop.event + (self.stop.reason == "end")
        first = self._copies.start + 1
        while start > first:
            number = self._copies.before(start - 1)
            copy = self._copies.at(number)
            start = first if copy is None else copy.event + 1
            searched, known = LastBefore(goal, end, known), None
            found = self._ordered(_Order(searched, number), is_search=True)
            if found.reason == "pause":
                return found
            if searched.found is not None:
                event, hit = searched.found
                found = self.go_to(event)
                if found.reason != "pause":
                    self.stop = Stop(hit.reason, event, found.moment, hit.text, hit.hits, hit.lane)
                return self.stop
            end = min(end, start + 1)  # only the run before the copy shows what the instruction before did
        return self.go_to(first, "entry")

    def change(self, edit: Edit) -> None:
        """Changes the state of the run, which stands before an instruction. What came after is forgotten.
        Where the run goes back and comes here again, it is changed again.
        """
        machine = self.machine
        assert machine is not None
        edit(machine)
        event = self.stop.event
        self._recorder.changed(event)
        self._edits = {at: edits for at, edits in self._edits.items() if at <= event}
        self._edits.setdefault(event, []).append(edit)
        self._decisions = {at: one for at, one in self._decisions.items() if at < event}
        self._copies.forget_from(event)

    def decide(self, event: int, stepped: Lane | None) -> bool:
        """Before an instruction that is new, brings the warp of a thread into focus, or with None no warp any
        more. Whether that is a change.
        """
        machine = self.machine
        assert machine is not None
        warp = None if stepped is None else (stepped.block, stepped.thread // WARP_SIZE)
        if warp is not None and not any(warp[0] in wave.blocks[:, 0] for wave in self.waves):
            warp = None
        if warp == machine.focus.warp:
            return False
        self._decisions[event] = warp
        self._copies.forget_from(event)  # a finding of this instruction may have come after another decision
        return True

    def decided(self, event: int, wave: Wave, arrived: Bools | None) -> Bools | None:
        """Repeats what was decided before an instruction: the lanes that stay there; None if none does."""
        if event not in self._decisions:
            return None
        machine = self.machine
        assert machine is not None
        machine.focus.set(self._decisions[event])
        if machine.focus.warp is None:
            return None
        lanes = machine.focus.lanes(wave)
        stay = wave.full_mask(arrived) if lanes is None else wave.full_mask(arrived) & ~lanes
        return stay if stay.any() else None

    def edit(self, event: int) -> None:
        """Repeats the changes that were made before an instruction."""
        if event in self._edits:
            machine = self.machine
            assert machine is not None
            for edit in self._edits[event]:
                edit(machine)

    @property
    def is_changed(self) -> bool:
        """Whether its state was changed."""
        return bool(self._edits)

    @property
    def is_repeating(self) -> bool:
        """Whether the run is where it was before."""
        return self._recorder.is_repeating

    def unprinted(self, text: str) -> str:
        """The part of a text that the kernel prints which is new."""
        return self._recorder.unprinted(text)

    def pause(self) -> None:
        """Stops the run, which goes on in another thread, at the next instruction."""
        self._recorder.is_interrupted = True

    def unpause(self) -> None:
        """Forgets a wish to pause that came too late."""
        self._recorder.is_interrupted = False

    def close(self) -> None:
        """Ends the run."""
        self._orders.put(_Order(Goal(), is_end=True))
        self._thread.join()

    # -- orders -----------------------------------------------------------------------------------

    def _ordered(self, order: _Order, *, is_search: bool = False) -> Stop:
        self._orders.put(order)
        found = self._stops.get()
        if isinstance(found, BaseException):
            raise found
        problem = found.problem
        if isinstance(problem, Finding) and not is_search and not self.is_over:
            found = self._ordered(_Order(AtEvent(found.event, "exception"), self._copies.before(found.event)))
            if found.reason == "pause":
                return found
            found = Stop("exception", found.event, found.moment, problem.message, problem=problem)
        self.stop = found
        return found

    def _work(self) -> None:
        order = self._orders.get()
        while not order.is_end:
            try:
                order = self._run(order)
            except BaseException as error:  # the debugger reports it
                self._stops.put(error)
                order = self._orders.get()

    def _run(self, order: _Order) -> _Order:
        """Carries out an order, and others that follow; the one that needs another state."""
        recorder = self._recorder
        execution = self._execution = self._begun(order)
        recorder.goal = order.goal
        recorder.goal.begin(None)
        recorder.order = None
        try:
            run = execution.run()
        except _Left:
            assert recorder.order is not None
            return recorder.order
        self._is_unseen = recorder.is_unseen
        recorder.complete()
        if self._is_unseen and run.error is not None and run.error.kind != "limit":
            return _Order(AtEvent(sys.maxsize), self._copies.last)  # to see where
        unseen = (one for one in run.findings[recorder.found :] if not recorder.goal.ignores(one))
        problem = run.error or next(unseen, None)
        if problem is not None:
            text = str(problem) if isinstance(problem, ExecutionError) else problem.message
            moment = None if self._is_unseen else recorder.moment
            self.stop = Stop("exception", recorder.event, moment, text, problem=problem)
        else:
            self.stop = Stop("end", recorder.event)
        self.is_over = True
        self._stops.put(self.stop)
        return self._orders.get()

    def _begun(self, order: _Order) -> Execution:
        recorder = self._recorder
        self.is_over = self._is_unseen = False
        copy = None if order.copied is None else self._copies.at(order.copied)
        if copy is None:
            execution = self.launch.begin(Schedule(self._seed))
            recorder.begin(execution.checker, 0, 0)
        else:
            state = cast("tuple[Machine, Checker | None, Heap | None]", self._copies.restored(copy))
            execution = self.launch.resumed(*state, self._seed)
            recorder.begin(execution.checker, copy.event, copy.printed)
        return execution

    def halted(self, stop: Stop) -> Goal:
        """The run stands until there is another order: its goal. Raises if that needs another state."""
        self._stops.put(stop)
        order = self._orders.get()
        if order.copied is None and not order.is_end:
            order.goal.begin(self._recorder.moment)
            return order.goal
        self._recorder.order = order
        raise _Left

    def copy(self, event: int) -> None:
        """Keeps a copy of the state before an instruction."""
        execution = self._execution
        if execution is not None:
            state = execution.machine, execution.checker, self.launch.allocations
            self._copies.add(event, state, self._recorder.printed)

    def is_changed_after(self, event: int) -> bool:
        """Whether the user has changed something later than an instruction, or chosen who goes on."""
        return any(at > event for at in (*self._edits, *self._decisions))

    def watch(self, *, is_seen: bool) -> None:
        """Whether the recorder sees the instructions that follow. What was not seen cannot be reached."""
        machine = self.machine
        assert machine is not None
        self.launch.exchange(machine, Schedule(self._seed), None if is_seen else self._recorder.unseen_turn)
        if is_seen:
            self._copies.clear()
            self._edits.clear()
            self._decisions.clear()


class _Recorder(Director):
    """Counts the instructions of a run, and stops it."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self.goal = Goal()
        self.order: _Order | None = None
        self.is_interrupted = self.is_repeating = self.is_unseen = False
        self.event = 0
        self.moment: Moment | None = None
        self._latest = 0
        """The last instruction that was ever completed."""
        self.printed = self._most_printed = 0
        """The characters that were printed until now, and those that ever were."""
        self._checker: Checker | None = None
        self.found = 0
        """How much of what the checks found was reported."""
        self.passed: int | None = None
        """The instruction whose findings are known, because the run goes on from there."""
        self._usages = Usages()
        self._copied = -math.inf
        self._interval = _LEAST_SECONDS

    def begin(self, checker: Checker | None, event: int, printed: int) -> None:
        """A run begins, from the start or from a copy."""
        self.moment, self._checker = None, checker
        self.event, self.printed = event, printed
        self.is_unseen = False
        self.found = 0 if checker is None else checker.count

    def complete(self) -> None:
        """The present instruction is completed."""
        self._latest = sys.maxsize if self.is_unseen else max(self._latest, self.event)

    def changed(self, event: int) -> None:
        """What comes from an instruction on is new."""
        self._latest = min(self._latest, event - 1)
        self._most_printed = self.printed

    def unprinted(self, text: str) -> str:
        """The part of a text that the kernel prints which is new."""
        self.printed += len(text)
        new = self.printed - self._most_printed
        self._most_printed = max(self._most_printed, self.printed)
        return text[-new:] if new > 0 else ""

    def turn(self) -> None:
        begin = time.monotonic()
        if begin - self._copied >= self._interval or not self.event:
            self._recording.copy(self.event)
            self._copied = end = time.monotonic()
            self._interval = max(_LEAST_SECONDS, _SHARE * (end - begin))
        if self._checker is None:
            is_idle = not self.goal.can_stop and not self.is_interrupted
            if is_idle and not self._recording.is_changed_after(self.event):
                self.is_unseen = True
                self._recording.watch(is_seen=False)
            else:
                self._recording.launch.report_accesses(wanted=self.goal.watches)

    def unseen_turn(self) -> None:
        """A turn begins of a run that is not seen: whether it is to be from now on."""
        if self.is_interrupted or self.goal.can_stop:
            self.is_unseen = False
            self._recording.watch(is_seen=True)
            for wave in self._recording.waves:
                WrittenRegisters.of(wave).forget()
            self._latest = self.event
            self._recording.copy(self.event)

    def reached(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> Bools | None:
        if self._checker is not None and self._checker.count > self.found:
            self._report(self._checker)
        self.complete()
        self.event += 1
        self.is_repeating = self.event <= self._latest
        recording = self._recording
        recording.edit(self.event)
        stay = recording.decided(self.event, wave, arrived)
        moment = self.moment = Moment(self.event, wave, step, arrived, active)
        hit = self.goal.reached(moment)
        if self.is_interrupted and (hit is None or hit.reason in ("step", "goto")):
            hit = Hit("pause")
        if hit is not None:
            self.is_interrupted = False
            stop = Stop(hit.reason, self.event, moment, hit.text, hit.hits, hit.lane)
            self.goal = recording.halted(stop)
            if self._checker is None:  # the turn goes on with another goal
                recording.launch.report_accesses(wanted=self.goal.watches)
        if self.event > self._latest and recording.decide(self.event, self.goal.stepped):
            return recording.decided(self.event, wave, moment.arrived)
        return stay

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        if self.moment is None or self.moment.step is not step:  # lanes that were known to be there go on
            self.moment = Moment(self.event, wave, step, arrived, active)
        if self._checker is None:
            WrittenRegisters.of(wave).begins(self._usages.of(step), active)

    def after(self, wave: Wave, step: Step, active: Bools | None) -> None:
        if self._checker is None:  # else the checks do so
            WrittenRegisters.of(wave).executed(self._usages.of(step), active)

    def accessed(self, wave: Wave, step: Step, access: MemoryEvent) -> None:
        if self.goal.watches and self.moment is not None:
            self.goal.accessed(self.moment, access)

    def _report(self, checker: Checker) -> None:
        """The last instruction made the checks find something."""
        found = checker.findings[self.found]
        self.found += 1
        if self.event != self.passed and not self.goal.ignores(found):
            self.goal = self._recording.halted(Stop("exception", self.event, self.moment, problem=found))
