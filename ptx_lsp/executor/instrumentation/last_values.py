"""The last value that each line of a kernel wrote, lane by lane, in the first warp of the launch:
`LastValues`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ptx_lsp.executor.arithmetic.boundary_values import shown
from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.instrumentation.usage import Named, Usages
from ptx_lsp.executor.machine.address_resolution import WINDOWS
from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.data_segment import ModuleMemory
from ptx_lsp.executor.machine.launch_config import WARP_SIZE, LaunchConfig
from ptx_lsp.executor.machine.memory import WINDOW, Memory
from ptx_lsp.executor.machine.observer import Observer
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.types import TYPES, Kind
from ptx_lsp.model.body import names_in
from ptx_lsp.model.symbols import Register


@dataclass(frozen=True)
class LaneValues:
    """The register `name`, of type `type`, as `line` wrote it last. `lanes` has the values of the warp's
    lanes in readable form, None for a lane that did not execute the line.
    """

    line: int
    name: str
    type: str
    lanes: tuple[str | None, ...]


class LastValues(Observer):
    """Keeps what is written. `instructions` counts thread-instructions of the whole launch."""

    def __init__(self) -> None:
        self.instructions = 0
        self._memory: Memory | None = None
        self._usages = Usages()
        self._kept: dict[tuple[int, str], tuple[str, list[int | None]]] = {}

    @property
    def values(self) -> tuple[LaneValues, ...]:
        """In the order of the lines."""
        return tuple(
            LaneValues(line, name, type, tuple(self._shown(one, type) for one in lanes))
            for (line, name), (type, lanes) in sorted(self._kept.items(), key=lambda one: one[0])
        )

    def launched(self, shape: LaunchConfig, image: ModuleMemory, memory: Memory) -> None:
        self._memory = memory

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        if step.source is not None:
            self.instructions += int(np.count_nonzero(wave.full_mask(active)))

    def after(self, wave: Wave, step: Step, active: Bools | None) -> None:
        if step.source is None or wave.blocks[0, 0] != 0:
            return
        mask = wave.full_mask(active)[0, :WARP_SIZE]
        if not mask.any():
            return
        usage = self._usages.of(step)
        for written in usage.writes:
            type = _type(step, written, usage.match)
            if type:
                nothing: list[int | None] = [None] * mask.size
                lanes = self._kept.setdefault((step.line, written.name), (type, nothing))[1]
                values = wave.broadcast(wave.registers[written.number])[0, : mask.size]
                for lane in np.flatnonzero(mask).tolist():
                    lanes[lane] = int(values[lane])

    def _shown(self, bits: int | None, type: str) -> str | None:
        """A value in readable form; of addresses, hexadecimal."""
        if bits is None:
            return None
        is_address = TYPES[type].width == 64 and type in _INTEGERS and self.is_address(bits)
        return f"{bits:#x}" if is_address else shown(bits, TYPES[type])

    def is_address(self, value: int) -> bool:
        """Whether a value of 64 bits is in a generic window, in a buffer or not far after one."""
        if any(base <= value < base + WINDOW for base in WINDOWS.values()):
            return True
        near = self._memory.nearest(value) if self._memory is not None else None
        return near is not None and 0 <= value - near.base < near.data.size + _NEAR


_INTEGERS = frozenset((".u64", ".s64", ".b64"))
_NEAR = 1 << 20


def _type(step: Step, written: Named, match: Match | None) -> str:
    """The type of a register that a step writes: as declared, or as the instruction takes it where the
    declaration has bits only. Empty of what has none that can be shown.
    """
    assert step.source is not None
    function = step.source.function
    for at, operand in enumerate(step.source.node.operands):
        for name in names_in(operand):
            found = function.resolve(name) if name.text == written.name else None
            if isinstance(found, Register) and found.type in TYPES:
                taken = match.places[at][1].type if match and at < len(match.places) else ""
                declared, accessed = TYPES[found.type], TYPES.get(taken) if isinstance(taken, str) else None
                if accessed is None or declared.kind is not Kind.BITS or accessed.width != declared.width:
                    return found.type
                return accessed.name
    return ""
