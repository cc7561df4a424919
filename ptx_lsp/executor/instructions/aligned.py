"""Instructions that all lanes of a warp execute together (`.sync.aligned`)."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import UNSIGNED, Array, Bools
from ptx_lsp.executor.machine.control import Collective
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.machine.wave import Wave


class Warps:
    """The warps of a wave that execute an instruction."""

    def __init__(self, wave: Wave, mask: Bools | None) -> None:
        """Raises ExecutionError unless all lanes of a warp are present."""
        self.wave = wave
        self._mask = mask
        there = wave.full_mask(mask).reshape(-1, WARP_SIZE)
        self._chosen: npt.NDArray[np.int64] | None = None
        if not there.all():
            some = there.any(axis=1)
            if not there[some].all():
                lanes = (there & ~there.all(axis=1, keepdims=True)).reshape(wave.shape)
                message = "an aligned instruction requires all lanes of the warp"
                raise ExecutionError(message, "divergent", lanes=wave.thread_ids(lanes))
            self._chosen = np.flatnonzero(some)

    @property
    def lanes(self) -> Bools | None:
        """The lanes of these warps as a mask of the wave; None for all."""
        return self._mask if self._chosen is not None else None

    def of(self, value: Array) -> Array:
        """A value of the wave: warps by lanes."""
        full = self.wave.broadcast(value).reshape(-1, WARP_SIZE)
        return full if self._chosen is None else full[self._chosen]

    def write(self, number: int | None, value: Array) -> None:
        """Gives a register the value (warps by lanes)."""
        if number is None:
            return
        before = self.wave.registers[number]
        bits = value.view(UNSIGNED[8 * value.dtype.itemsize]).astype(before.dtype, copy=False)
        if self._chosen is None:
            self.wave.registers[number] = bits.reshape(self.wave.shape)
            return
        full = np.array(self.wave.broadcast(before)).reshape(-1, WARP_SIZE)
        full[self._chosen] = bits
        self.wave.registers[number] = full.reshape(self.wave.shape)


class Aligned(Collective, ABC):
    """Lanes wait for all other live lanes of their warp; then `execute` is called."""

    def __init__(self) -> None:
        self.key = f"aligned {id(self)}"  # it never goes together with another step

    @abstractmethod
    def execute(self, warps: Warps) -> None:
        """Executes the instruction in these warps."""

    def run(self, wave: Wave, mask: Bools | None) -> None:
        self.execute(Warps(wave, mask))

    def incomplete(self, wave: Wave, mask: Bools | None, arrived: Bools | None) -> Bools | None:
        if mask is None:
            return None
        absent = wave.live_mask() & ~(mask if arrived is None else arrived)
        missing = absent.reshape(-1, WARP_SIZE).any(axis=1)
        held = mask & np.repeat(missing, WARP_SIZE).reshape(wave.shape)
        return held if held.any() else None

    def run_with(self, wave: Wave, mask: Bools, others: list[tuple[Collective, Bools]]) -> None:
        self.run(wave, mask)
        for other, lanes in others:
            other.run(wave, lanes)
