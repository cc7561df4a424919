"""Steps of single warps, for a debugger.

1. While a warp is in focus, only its lanes go on. The others stay where they are, also in the middle of a
   block of instructions.
2. Where it waits, at a barrier, an mbarrier or for other lanes, everything goes on until it can.
3. A warp that reads memory which others may change may wait for that. Then everything else takes a turn after
   some of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.asynchronous.mbarrier_steps import TryWait
from ptx_lsp.executor.machine.control import Collective, Leave, Step
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.machine.observer import Observer
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.scheduling.scheduler import Position, Scheduler

_POLLS = 2


def is_breakpoint(step: Step) -> bool:
    """Whether a step is `brkpt`, at which a director stops."""
    return isinstance(step.action, Leave) and step.action.kind == "brkpt"


class Director(Observer, ABC):
    """An observer that may stop a run before each instruction, and choose who goes on."""

    @abstractmethod
    def reached(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> Bools | None:
        """Called before `before`; the lanes that stay where they are. None: none does."""


@dataclass
class Focus:
    """The warp in focus, for all waves of a launch: its block in the grid, and its number there."""

    warp: tuple[int, int] | None = None
    is_waiting: bool = False
    """Whether its wave waits for others."""

    def set(self, warp: tuple[int, int] | None) -> None:
        self.warp, self.is_waiting = warp, False

    def lanes(self, wave: Wave) -> Bools | None:
        """The lanes of the warp in a wave; None if it is in another one, or there is none."""
        if self.warp is None:
            return None
        block, number = self.warp
        rows = np.flatnonzero(wave.blocks[:, 0] == block)
        if not rows.size:
            return None
        found = np.zeros(wave.shape, np.bool_)
        found[rows[0], number * WARP_SIZE : (number + 1) * WARP_SIZE] = True
        return found & wave.live_mask()

    def is_elsewhere(self, wave: Wave) -> bool:
        """Whether a wave must wait, because a warp of another one is in focus."""
        return self.warp is not None and not self.is_waiting and self.lanes(wave) is None


class SteppedScheduler(Scheduler):
    """A scheduler that has a director and a focus."""

    director: Director
    focus: Focus
    _polled = 0
    _is_thawed = False
    """Whether the director knows that the lanes are at the next step."""

    def directed(self, director: Director, focus: Focus) -> None:
        """Sets both."""
        self.director, self.focus = director, focus
        self._frozen: dict[tuple[int, int], Bools] = {}
        """The lanes that stay in the middle of a block, before a step."""

    @property
    def is_empty(self) -> bool:
        return super().is_empty and not self._frozen

    @property
    def is_interrupted(self) -> bool:
        return self.focus.is_elsewhere(self.wave)

    def positions(self) -> Iterator[Position]:
        yield from super().positions()
        for (block, step), lanes in self._frozen.items():
            yield Position(self.blocks[block].steps[step], lanes, "", True)

    def tell(self, step: Step, arrived: Bools | None, active: Bools | None, some: bool) -> Bools | None:
        if self._observer is None:
            return None
        wave = self.wave
        active = active if some else np.zeros(wave.shape, np.bool_)
        stay = None if self._is_thawed else self.director.reached(wave, step, arrived, active)
        self._is_thawed = False
        if stay is not None:
            arrived = wave.full_mask(arrived) & ~stay
            if not arrived.any():
                return stay
            active = wave.full_mask(active) & ~stay
        super().tell(step, arrived, active, some=True)
        return stay

    def tell_together(self, step: Step, going: Bools) -> None:
        self.director.reached(self.wave, step, going, going)
        super().tell(step, going, going, some=True)

    def act(self, step: Step, onward: int, mask: Bools | None) -> None:
        if self._observer is not None and is_breakpoint(step):  # where the director has stopped
            self.arrive(onward, mask)
        else:
            super().act(step, onward, mask)

    def freeze(self, block: int, step: int, lanes: Bools) -> None:
        if not step and isinstance(self.blocks[block].steps[0].action, Collective | TryWait):
            self.arrive(block, self.wave.normal(lanes))
            return
        there = self._frozen.get((block, step))
        self._frozen[block, step] = lanes if there is None else there | lanes

    def _next(self, turn: int) -> int:
        lanes = self.focus.lanes(self.wave)
        if lanes is not None and self._step(lanes, turn):
            return 1
        if self._frozen:
            self._thaw(*next(iter(self._frozen)))
            return 1
        return super()._next(turn)

    def _go_on(self, turn: int) -> int:
        return self._next(turn) if self._frozen else super()._go_on(turn)

    def _thaw(self, block: int, step: int, lanes: Bools | None = None) -> None:
        """Lets lanes go on that stay in the middle of a block; None for all there."""
        there = self._frozen.pop((block, step))
        going = there if lanes is None else there & lanes
        if (there & ~going).any():
            self._frozen[block, step] = there & ~going
        self._livelock.goes_on(block, going)
        self._is_thawed = True
        self.execute(block, self.wave.normal(going), step)

    def _step(self, lanes: Bools, turn: int) -> bool:
        """Lets the warp in focus go on; whether it does."""
        for place, there in self._frozen.items():
            if (there & lanes).any():
                self._thaw(*place, lanes)
                return True
        self._retry_mbarrier_waits(turn)
        full = self.wave.full_mask
        free = [
            block for block, mask in self.at.items()
            if block not in self._held and (full(mask) & lanes).any()
        ]
        block = min(free, key=self.rank, default=None)
        if block is None:
            return False
        if self.blocks[block].polls:
            self._polled += 1
            if self._polled > _POLLS:
                self._polled = 0
                return False
        going = full(self.at[block]) & lanes
        left = full(self.at.pop(block)) & ~lanes
        if left.any():
            self.at[block] = left
        self._livelock.goes_on(block, going)
        ready, some = self._hold(block, going)
        if some:
            self.execute(block, ready if ready is None else self.wave.normal(ready))
        return True
