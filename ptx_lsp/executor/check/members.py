"""Masks of `shfl.sync`, `vote.sync`, `match.sync`, `redux.sync`, `elect.sync` and `bar.warp.sync` that do not
fit the threads that execute the instruction (PTX ISA, "membermask").

1. A thread that executes it must be in its own mask: else behaviour is undefined.
2. Threads that one of them names and that execute the same instruction with it must have the same mask.
3. Threads that a mask names and that have ended are not waited for; where others never come, the machine
   finds a deadlock. Those that were alive when others began to wait, passed the instruction by (`paths.py`)
   and then ended are not there, as the mask says they would be. `bar.warp.sync` only waits, and devices
   end that when such threads end.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.finding import Findings
from ptx_lsp.executor.check.missed import Missed
from ptx_lsp.executor.check.rounds import Rounds
from ptx_lsp.executor.instructions.warp import Masks, Warp, ballot, named, of_lanes
from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.machine.observer import Indices, Observer
from ptx_lsp.executor.machine.wave import Wave


class Members(Observer):
    """Checks races as defined above."""

    def __init__(self, findings: Findings, rounds: Rounds) -> None:
        self._findings = findings
        self._rounds = rounds
        self._missed: WeakKeyDictionary[Wave, Missed] = WeakKeyDictionary()

    def held(self, wave: Wave, step: Step, lanes: Bools) -> None:
        if isinstance(step.action, Warp):
            missed = self._missed.setdefault(wave, Missed(wave, self._rounds))
            missed.wait(step, lanes, step.action.awaited(wave, lanes) & wave.live_mask())

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        missed = self._missed.get(wave)
        if missed is not None and missed.meetings:
            missed.note(step, wave.full_mask(active))
            self._meet(wave, step, wave.full_mask(active), missed)
        masks = step.action.masks(wave) if isinstance(step.action, Warp) else None
        if masks is None:
            return
        here = wave.full_mask(active)
        absent = np.flatnonzero(here & ~named(wave, masks))
        if absent.size:
            self._report(wave, step, masks, absent, "does not include the executing thread")
        if masks.size > 1:
            different = np.flatnonzero(_differing(here, wave.broadcast(masks)))
            if different.size:
                self._report(wave, step, masks, different, "includes threads that use another mask")

    def _meet(self, wave: Wave, step: Step, here: Bools, missed: Missed) -> None:
        """Sentence 3, when those who waited go on."""
        meeting = missed.meetings.get(step.line)
        if meeting is None or not isinstance(step.action, Warp):
            return
        awaited = step.action.awaited(wave, here)
        absent = meeting.missed & ~wave.live_mask() & awaited
        masks = step.action.masks(wave)
        if absent.any() and masks is not None and step.action.destinations:
            lanes = np.flatnonzero(here & ((masks & of_lanes(wave, ballot(absent))) != 0))
            self._report(
                wave,
                step,
                masks,
                lanes,
                "includes threads that skipped this instruction and have exited",
            )
        missed.go_on(here, awaited)

    def _report(self, wave: Wave, step: Step, masks: Masks, lanes: Indices, what: str) -> None:
        first = int(wave.broadcast(masks).reshape(-1)[lanes[0]])
        opcode = self._findings.usages.of(step).opcode
        message = f"the mask of `{opcode}`, {first:#010x}, {what}"
        self._findings.add("membermask", message, wave, step, lanes)


def _differing(here: Bools, masks: Masks) -> Bools:
    """Sentence 2: the lanes whose masks name some of `here` with another mask."""
    found = np.zeros(here.shape, np.bool_)
    rows, lanes = masks.reshape(-1, WARP_SIZE), here.reshape(-1, WARP_SIZE)
    most, least = np.where(lanes, rows, 0).max(axis=1), np.where(lanes, rows, ~np.uint32(0)).min(axis=1)
    mixed = np.flatnonzero(most > least)  # the rows of a warp without lanes here have most 0
    if not mixed.size:
        return found
    rows, lanes = rows[mixed], lanes[mixed]
    names = rows[:, :, None] >> np.arange(WARP_SIZE, dtype=np.uint32) & np.uint32(1)
    differ = np.asarray(names, np.bool_) & (rows[:, :, None] != rows[:, None, :])
    found.reshape(-1, WARP_SIZE)[mixed] = (differ & lanes[:, None, :]).any(axis=2) & lanes
    return found
