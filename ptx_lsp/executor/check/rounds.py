"""The loop round of threads, where it matters for missed steps (`paths.py`, 4)."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.paths import Paths
from ptx_lsp.executor.machine.control import Block, Step
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.machine.observer import Observer
from ptx_lsp.executor.machine.wave import Wave

Times = npt.NDArray[np.int32]
_NEVER = np.iinfo(np.int32).max


class Rounds(Observer):
    """When threads came last to each step in a loop at which they wait for others, and through each block
    that decides whether they come there.
    """

    def __init__(self) -> None:
        self.paths = Paths(())
        self._now = 0
        self._awaited: WeakKeyDictionary[Wave, dict[int, Times]] = WeakKeyDictionary()
        """By the id of the step."""
        self._decided: WeakKeyDictionary[Wave, dict[int, Times]] = WeakKeyDictionary()
        """By the number of the block."""

    def decoded(self, blocks: tuple[Block, ...]) -> None:
        self.paths = Paths(blocks)

    def concerns(self, step: Step) -> bool:
        return id(step) in self.paths.decisions or id(step) in self.paths.repeated

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        block = self.paths.decisions.get(id(step))
        if block is not None:
            self._set(self._decided, wave, block, arrived)
        if id(step) in self.paths.repeated:
            self._set(self._awaited, wave, id(step), active)

    def _set(
        self, kept: WeakKeyDictionary[Wave, dict[int, Times]], wave: Wave, key: int, lanes: Bools | None
    ) -> None:
        self._now += 1
        times = kept.setdefault(wave, {})
        if lanes is None:
            times[key] = np.full((1, 1), self._now, np.int32)
        else:
            times[key] = np.where(lanes, np.int32(self._now), times.get(key, np.int32(0)))

    def miss(self, wave: Wave, awaited: Step, waiting: Bools, step: Step, active: Bools) -> Bools:
        """The lanes of `take` that, by executing this step, miss one at which others of their warps wait."""
        if not self.paths.is_past(awaited, step):
            return np.zeros(wave.shape, np.bool_)
        active = active & of_warps(waiting)
        if self.paths.is_after(awaited, step):
            return active
        decision = self.paths.decision(awaited, step)
        decided = np.zeros((1, 1), np.int32) if decision is None else self._decided[wave][decision]
        came = self._awaited.get(wave, {}).get(id(awaited))
        if came is not None:
            active = active & (came <= decided)
        rows = np.where(waiting, decided, _NEVER).reshape(wave.shape[0], -1, WARP_SIZE)
        return active & (decided >= np.repeat(rows.min(axis=2), WARP_SIZE, axis=1))


def of_warps(mask: Bools) -> Bools:
    """All lanes of the warps that have some lane in the mask."""
    rows = mask.reshape(mask.shape[0], -1, WARP_SIZE)
    return np.broadcast_to(rows.any(axis=2, keepdims=True), rows.shape).reshape(mask.shape)
