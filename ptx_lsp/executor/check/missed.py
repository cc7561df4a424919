"""Threads that pass by a step at which others of their warp wait for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.rounds import Rounds
from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.wave import Wave


@dataclass
class Meeting:
    """A step at which threads wait."""

    step: Step
    here: Bools
    """The threads that wait there."""
    wanted: Bools
    """The threads that they wait for."""
    missed: Bools
    """The awaited threads that have since passed the step (`paths.py`)."""


class Missed:
    """The meetings of a wave, by line."""

    def __init__(self, wave: Wave, rounds: Rounds) -> None:
        self._wave = wave
        self._rounds = rounds
        self.meetings: dict[int, Meeting] = {}

    def wait(self, step: Step, lanes: Bools, wanted: Bools) -> None:
        """Lanes wait for the wanted ones at one step only."""
        for line, other in list(self.meetings.items()):
            if line != step.line:
                self._leave(line, other, lanes)
        meeting = self.meetings.get(step.line)
        if meeting is None:
            nobody = np.zeros(self._wave.shape, np.bool_)
            self.meetings[step.line] = Meeting(step, lanes, wanted, nobody)
        else:
            meeting.here = meeting.here | lanes
            meeting.wanted = meeting.wanted | wanted

    def note(self, step: Step, active: Bools) -> None:
        """Lanes execute a step."""
        for meeting in self.meetings.values():
            late = active & meeting.wanted & ~meeting.here
            if late.any():
                meeting.missed = meeting.missed | self._rounds.miss(
                    self._wave, meeting.step, meeting.here, step, late
                )

    def go_on(self, lanes: Bools, awaited: Bools) -> None:
        """Lanes stop waiting, and no lane waits for those that they awaited."""
        for line, meeting in list(self.meetings.items()):
            meeting.wanted = meeting.wanted & ~awaited
            meeting.missed = meeting.missed & ~awaited
            self._leave(line, meeting, lanes)

    def _leave(self, line: int, meeting: Meeting, lanes: Bools) -> None:
        meeting.here = meeting.here & ~lanes
        if not meeting.here.any():
            del self.meetings[line]
