"""Goals of commands: a thread reaches a place, or leaves a function."""

from __future__ import annotations

from dataclasses import dataclass

from ptx_lsp.debug.goals import Goal, Hit, Moment
from ptx_lsp.debug.groups import Lane, frames_at, has_ended, row_of
from ptx_lsp.executor.machine.control import Block


@dataclass
class Until(Goal):
    """Stops when a thread reaches one of some lines, returns from `depth` calls to fewer, or has ended; with
    `after` also when it is at a later line of the same call.
    """

    lane: Lane
    lines: frozenset[int]
    depth: int
    blocks: tuple[Block, ...]
    starts: frozenset[int]
    """The steps (their ids) with which instructions begin."""
    after: int | None = None

    def reached(self, moment: Moment) -> Hit | None:
        found = frames_at(moment, self.lane, self.blocks)
        if found is None:
            return Hit("step") if has_ended(moment, self.lane) else None
        if id(moment.step) not in self.starts:
            return None
        line = found[0].line
        is_later = self.after is not None and len(found) == self.depth and line > self.after
        return Hit("step") if line in self.lines or len(found) < self.depth or is_later else None


@dataclass
class Reached(Goal):
    """Stops at each instruction of a thread."""

    lane: Lane
    starts: frozenset[int]
    """As above."""

    def reached(self, moment: Moment) -> Hit | None:
        if id(moment.step) not in self.starts:
            return None
        row = row_of(moment.wave, self.lane.block)
        is_here = row is not None and bool(moment.wave.full_mask(moment.arrived)[row, self.lane.thread])
        return Hit("step") if is_here else None
