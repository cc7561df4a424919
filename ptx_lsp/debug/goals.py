"""Goals of a run, at which it stops: `Goal`. Each sees every instruction before it is executed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from ptx_lsp.debug.lanes import Lane
from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.errors import ExecutionError, Finding
from ptx_lsp.executor.machine.observer import MemoryEvent
from ptx_lsp.executor.machine.wave import Wave

Reason = Literal[
    "entry", "step", "goto", "pause", "breakpoint", "data breakpoint", "exception", "start", "end"
]


@dataclass(eq=False, slots=True)
class Moment:
    """An instruction that is about to be executed: the `event`-th of the run, counted from 1, for the lanes
    that have reached it (`arrived`), of which those whose guard is true execute it (`active`).
    """

    event: int
    wave: Wave
    step: Step
    arrived: Bools | None
    active: Bools | None


@dataclass(frozen=True, eq=False)
class Stop:
    """Where a run stands, and why: `moment` is None before the first instruction and after the end.

    `hits` are the numbers of the breakpoints that were hit. `problem` is what the checks found, or the error
    by which the run failed.
    """

    reason: Reason
    event: int
    moment: Moment | None = None
    text: str = ""
    hits: tuple[int, ...] = ()
    lane: int | None = None
    """The lane of the wave (flat) that it is about; None for the first of the moment."""
    problem: Finding | ExecutionError | None = None


@dataclass
class Hit:
    """Why a goal stops here."""

    reason: Reason
    text: str = ""
    hits: tuple[int, ...] = ()
    lane: int | None = None


class Goal:
    """Decides where to stop."""

    @property
    def watches(self) -> bool:
        """Whether it is to see accesses to memory."""
        return False

    @property
    def can_stop(self) -> bool:
        """Whether it may stop the run, or is to see each instruction for another reason."""
        return True

    @property
    def stepped(self) -> Lane | None:
        """The thread whose warp goes on alone; None if all go on."""
        return None

    def begin(self, moment: Moment | None) -> None:
        """The run goes on from a moment; None for the start or a copy. What was seen before is void."""

    def reached(self, moment: Moment) -> Hit | None:
        """Why to stop before an instruction; None to go on."""
        return None

    def accessed(self, moment: Moment, access: MemoryEvent) -> None:
        """The instruction of the moment accesses memory."""

    def passed(self, moment: Moment) -> Hit | None:
        """Why to stop after the instruction before a moment, which has come."""
        return None

    def ignores(self, finding: Finding) -> bool:
        """Whether to go on where the checks find something."""
        return False


@dataclass
class AtEvent(Goal):
    """Stops before an instruction with a known number."""

    event: int
    reason: Reason = "step"

    def reached(self, moment: Moment) -> Hit | None:
        return Hit(self.reason) if moment.event >= self.event else None

    def ignores(self, finding: Finding) -> bool:
        return True


@dataclass
class Several(Goal):
    """Stops where one of several goals does."""

    goals: Sequence[Goal]

    @property
    def watches(self) -> bool:
        return any(goal.watches for goal in self.goals)

    @property
    def can_stop(self) -> bool:
        return any(goal.can_stop for goal in self.goals)

    @property
    def stepped(self) -> Lane | None:
        return next((goal.stepped for goal in self.goals if goal.stepped is not None), None)

    def begin(self, moment: Moment | None) -> None:
        for goal in self.goals:
            goal.begin(moment)

    def reached(self, moment: Moment) -> Hit | None:
        found = [hit for goal in self.goals if (hit := goal.reached(moment)) is not None]
        return found[0] if found else None

    def accessed(self, moment: Moment, access: MemoryEvent) -> None:
        for goal in self.goals:
            goal.accessed(moment, access)

    def passed(self, moment: Moment) -> Hit | None:
        found = [hit for goal in self.goals if (hit := goal.passed(moment)) is not None]
        return found[0] if found else None

    def ignores(self, finding: Finding) -> bool:
        return any(goal.ignores(finding) for goal in self.goals)


@dataclass
class LastBefore(Goal):
    """Does not stop before an instruction with a known number, but remembers where a goal would have."""

    goal: Goal
    end: int
    """The number of that instruction."""
    known: frozenset[int] | None = None
    """The breakpoints that are known to be hit there; others count if they are hit by the instruction before.
    None: none count.
    """
    found: tuple[int, Hit] | None = field(default=None)

    @property
    def watches(self) -> bool:
        return self.goal.watches

    def begin(self, moment: Moment | None) -> None:
        self.goal.begin(moment)

    def reached(self, moment: Moment) -> Hit | None:
        if moment.event >= self.end:
            hit = None if self.known is None else self.goal.passed(moment)
            if hit is not None and self.known is not None and not self.known.issuperset(hit.hits):
                self.found = moment.event, hit
            return Hit("goto")
        hit = self.goal.reached(moment)
        if hit is not None:
            self.found = moment.event, hit
        return None

    def accessed(self, moment: Moment, access: MemoryEvent) -> None:
        self.goal.accessed(moment, access)

    def ignores(self, finding: Finding) -> bool:
        return True
