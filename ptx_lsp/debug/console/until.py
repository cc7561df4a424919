"""The goal of `until`: a thread reaches a place, or leaves a function."""

from __future__ import annotations

from dataclasses import dataclass

from ptx_lsp.debug.goals import Goal, Hit, Moment
from ptx_lsp.debug.groups import call_at, has_ended
from ptx_lsp.debug.lanes import Lane


@dataclass
class Until(Goal):
    """Stops when a thread reaches one of some lines, returns to a smaller `depth` of calls, or has ended;
    with `after` also when it is at a later line of the same call.
    """

    lane: Lane
    lines: frozenset[int]
    depth: tuple[int, int]
    starts: frozenset[int]
    """The steps (their ids) with which instructions begin."""
    after: int | None = None

    def reached(self, moment: Moment) -> Hit | None:
        found = call_at(moment, self.lane)
        if found is None:
            return Hit("step") if has_ended(moment, self.lane) else None
        if id(moment.step) not in self.starts:
            return None
        line = found.frame.line
        is_later = self.after is not None and found.depth == self.depth and line > self.after
        return Hit("step") if line in self.lines or found.depth < self.depth or is_later else None
