"""The registers that each lane of a wave has written, for observers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.instrumentation.usage import Moved, Named, Usage
from ptx_lsp.executor.machine.wave import Wave, WaveState

_BARRIERS = ("bar", "barrier")


Bits = npt.NDArray[np.uint64]
"""Bits of a register, for each lane."""


class WrittenRegisters(WaveState):
    """1. A register is written in a lane once an instruction that the lane executed has written it.
    2. A `mov` that packs a register that a lane has not written makes these bits of its result undefined.
       Each `mov` passes undefined bits on. All else that writes a register defines all of its bits.
    """

    def __init__(self, wave: Wave) -> None:
        super().__init__(wave)
        self._wave = wave
        self._lanes: dict[int, Bools | None] = {}
        self._undefined: dict[int, Bits] = {}
        self._is_known = True

    def lanes(self, number: int) -> Bools | None:
        """The lanes that have written a register; None for all of them."""
        if number in self._lanes:
            return self._lanes[number]
        return self._wave.exists & ~self._wave.exists if self._is_known else None

    def undefined(self, number: int) -> Bits | None:
        """The undefined bits of a register (2); None if no lane has any."""
        return self._undefined.get(number)

    def begins(self, usage: Usage, active: Bools | None) -> None:
        """Lanes begin an instruction. The result of a barrier's reduction is there when they go on."""
        if usage.opcode in _BARRIERS:
            self.executed(usage, active)

    def executed(self, usage: Usage, active: Bools | None) -> None:
        """Lanes have executed an instruction."""
        found = self._passed_on(usage.moved) if usage.moved is not None else {}
        for number, _ in usage.writes:
            self.write(number, active)
        for number, bits in found.items():
            before = self._undefined.get(number, np.uint64(0))
            self._undefined[number] = np.where(self._wave.full_mask(active), bits, before)

    def write(self, number: int, active: Bools | None) -> None:
        """Lanes have written a register."""
        if number in self._undefined:
            kept = np.where(self._wave.full_mask(active), np.uint64(0), self._undefined.pop(number))
            if kept.any():
                self._undefined[number] = kept
        known = self._lanes.get(number, active)
        if known is None or active is None:
            self._lanes[number] = None
        else:
            self._lanes[number] = active if known is active else self._wave.normal(known | active)

    def forget(self) -> None:
        """It is not known which registers were written until now: all may be."""
        self._lanes.clear()
        self._undefined.clear()
        self._is_known = False

    def _passed_on(self, moved: Moved) -> dict[int, Bits]:
        """The undefined bits that a `mov` gives to its results (2)."""
        if not self._undefined and not moved.packs:
            return {}
        sources = [self._of_source(one, is_packed=moved.packs) for one in moved.sources]
        if all(one is None for one in sources):
            return {}
        size, result_size = moved.width // len(sources), moved.width // len(moved.results)
        unit = min(size, result_size)
        mask = np.uint64((1 << unit) - 1)
        units = [
            None if one is None else one >> np.uint64(shift) & mask
            for one in sources for shift in range(0, size, unit)
        ]  # fmt: skip
        found: dict[int, Bits] = {}
        each = result_size // unit
        for at, result in enumerate(moved.results):
            for place, one in enumerate(units[at * each : (at + 1) * each]):
                if result is not None and one is not None and one.any():
                    number = result.number
                    found[number] = found.get(number, np.uint64(0)) | one << np.uint64(place * unit)
        return found

    def _of_source(self, source: Named | None, *, is_packed: bool) -> Bits | None:
        """The undefined bits of a source of a `mov`; None if no lane has any."""
        if source is None:
            return None
        undefined, written = self._undefined.get(source.number), self.lanes(source.number)
        if not is_packed or written is None:
            return undefined
        return np.where(written, np.uint64(0) if undefined is None else undefined, ~np.uint64(0))
