"""The registers that each lane of a wave has written, for observers."""

from __future__ import annotations

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.instrumentation.usage import Usage
from ptx_lsp.executor.machine.wave import Wave, WaveState

_BARRIERS = ("bar", "barrier")


class WrittenRegisters(WaveState):
    """A register is written in a lane once an instruction that the lane executed has written it."""

    def __init__(self, wave: Wave) -> None:
        super().__init__(wave)
        self._wave = wave
        self._lanes: dict[int, Bools | None] = {}
        self._is_known = True

    def lanes(self, number: int) -> Bools | None:
        """The lanes that have written a register; None for all of them."""
        if number in self._lanes:
            return self._lanes[number]
        return self._wave.exists & ~self._wave.exists if self._is_known else None

    def begins(self, usage: Usage, active: Bools | None) -> None:
        """Lanes begin an instruction. The result of a barrier's reduction is there when they go on."""
        if usage.opcode in _BARRIERS:
            self.executed(usage, active)

    def executed(self, usage: Usage, active: Bools | None) -> None:
        """Lanes have executed an instruction."""
        for number, _ in usage.writes:
            self.write(number, active)

    def write(self, number: int, active: Bools | None) -> None:
        """Lanes have written a register."""
        known = self._lanes.get(number, active)
        if known is None or active is None:
            self._lanes[number] = None
        else:
            self._lanes[number] = active if known is active else self._wave.normal(known | active)

    def forget(self) -> None:
        """It is not known which registers were written until now: all may be."""
        self._lanes.clear()
        self._is_known = False
