"""Steps of a group of lanes: to its next instruction, over calls, out of a function, or to another line of
the source.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ptx_lsp.debug.goals import Goal, Hit, Moment
from ptx_lsp.debug.groups import Call, Frame, Group, call_at, call_of, has_ended
from ptx_lsp.debug.lanes import Lane

StepKind: TypeAlias = Literal["in", "over", "out"]


@dataclass
class StepGoal(Goal):
    """Stops when a thread, and the lanes with it, has reached another place than `start`, the call from which
    it steps; or when it has ended. Its warp goes on alone, but for what it waits for.
    """

    lane: Lane
    kind: StepKind
    start: Call
    starts: frozenset[int]
    """The steps (their ids) with which instructions begin."""
    is_source: bool = False
    """Whether the step ends at another line of the source, not of the PTX."""
    is_due: bool = False
    """Whether the thread has yet to execute the instruction at which it stands, after other groups."""

    @property
    def stepped(self) -> Lane | None:
        return self.lane

    def reached(self, moment: Moment) -> Hit | None:
        found = call_at(moment, self.lane)
        if found is None:
            return Hit("step") if has_ended(moment, self.lane) else None
        if self.is_due:
            self.is_due = False
            return None
        if id(moment.step) not in self.starts:
            return None
        if found.depth > self.start.depth and self.kind != "in":
            return None
        if found.depth == self.start.depth and (self.kind == "out" or self._is_same(found.frame)):
            return None
        if self.is_source and found.frame.original is None:
            return None
        return Hit("step")

    def _is_same(self, frame: Frame) -> bool:
        """Whether the thread is still at the line where the step began."""
        original = self.start.frame.original
        return self.is_source and original is not None and frame.original == original


def step_from(
    group: Group, lane: Lane, kind: StepKind, starts: frozenset[int], *, is_source: bool = False,
    is_back: bool = False,
) -> StepGoal:
    """A step of a thread of a group, which stands before an instruction or has yet to come there."""
    is_due = not is_back and not group.was_reached
    return StepGoal(lane, kind, call_of(group), starts, is_source, is_due)


@dataclass
class Reached(Goal):
    """Stops at each instruction of a thread."""

    lane: Lane
    starts: frozenset[int]
    """As above."""

    def reached(self, moment: Moment) -> Hit | None:
        is_here = id(moment.step) in self.starts and call_at(moment, self.lane) is not None
        return Hit("step") if is_here else None
