"""Accesses outside the variable or buffer from which their address was computed.

1. The address of a variable, and a pointer among the parameters of the kernel, *originate* in that variable
   or buffer.
2. The result of `mov`, `add`, `sub`, `mad`, `cvta`, `cvt`, `selp` and similar instructions on one such
   address has the same origin. The origin is unknown if two addresses have different origins, and for values
   from memory.
3. An access through an address of known origin to bytes outside the origin is a finding. An access to
   unmapped memory has already stopped the kernel.
"""

from __future__ import annotations

from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.finding import Findings
from ptx_lsp.executor.check.variables import Variables, row_bytes
from ptx_lsp.executor.instrumentation.usage import Usage
from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.data_segment import ModuleMemory
from ptx_lsp.executor.machine.launch_config import LaunchConfig
from ptx_lsp.executor.machine.locals import Placed
from ptx_lsp.executor.machine.memory import CONST_WINDOW, Memory
from ptx_lsp.executor.machine.observer import MemoryEvent, Observer
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.model.body import names_in
from ptx_lsp.model.symbols import Variable

Origin: TypeAlias = npt.NDArray[np.int32]
"""For each lane (or (1, 1): for all) the number of a variable; 0 where it is not known."""
_UNKNOWN: Origin = np.zeros((1, 1), np.int32)
_KEEP = frozenset(
    "mov add sub mad mad24 cvta cvt selp and or xor lop3".split()
)


_NARROW = 1 << 32


class VariableBounds(Observer):
    """Checks races as defined above."""

    def __init__(self, findings: Findings, variables: Variables) -> None:
        self._findings = findings
        self._variables = variables
        self._memory = Memory()
        self._bases: dict[int, int] = {}
        """Of the memory of each GPU behind a multimem address: where that of the first begins."""
        self._placed: list[Placed] = []
        self._made: dict[int, tuple[Step, Origin]] = {}
        self._origins: WeakKeyDictionary[Wave, dict[int, Origin]] = WeakKeyDictionary()
        self._coming: list[tuple[int, Origin]] = []

    def launched(self, shape: LaunchConfig, image: ModuleMemory, memory: Memory) -> None:
        self._memory = memory
        self._bases = {base: rows[0] for rows in memory.replicas for base in rows}
        self._placed = [
            *image.placed,
            *(Placed(".global", one.name, one.base, one.data.size) for one in memory.buffers),
        ]

    def concerns(self, step: Step) -> bool:
        return bool(self._findings.usages.of(step).writes)

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        """Computes the origin of the result from the operands before they change."""
        usage = self._findings.usages.of(step)
        origin = _UNKNOWN
        if keeps_origin(usage):
            origin = self._computed(wave, step, usage)
        self._coming = [(register.number, origin) for register in usage.writes]

    def after(self, wave: Wave, step: Step, active: Bools | None) -> None:
        usage = self._findings.usages.of(step)
        origins = self._origins.setdefault(wave, {})
        for number, origin in self._coming:
            if usage.opcode == "ld" and ".param" in usage.modifiers:
                origin = self._passed(wave, number)
            if active is not None and origin is not origins.get(number, _UNKNOWN):
                origin = np.where(active, origin, origins.get(number, _UNKNOWN))
            origins[number] = origin

    def accessed(self, wave: Wave, step: Step, access: MemoryEvent) -> None:
        usage = self._findings.usages.of(step)
        if usage.variable is not None:
            origin = self._static(step, usage)
        elif usage.base is not None:
            origin = self._origins.setdefault(wave, {}).get(usage.base.number, _UNKNOWN)
        else:
            return
        if origin.size == 1:
            number = int(origin[0, 0])
            if number:
                self._check(wave, step, access, self._placed[number - 1], None)
            return
        of_lanes = wave.broadcast(origin).reshape(-1)[access.lanes]
        for number in map(int, np.unique(of_lanes)):
            if number:
                where = np.flatnonzero(of_lanes == number)
                self._check(wave, step, access, self._placed[number - 1], where)

    def _check(
        self, wave: Wave, step: Step, access: MemoryEvent, placed: Placed,
        lanes: npt.NDArray[np.int64] | None,
    ) -> None:
        """`lanes` are places in the access; None for all."""
        offsets = access.offsets if lanes is None else access.offsets[lanes]
        if access.buffer is not None:
            if placed.space != ".global":
                return
            offsets = offsets + self._bases.get(access.buffer.base, access.buffer.base)
        elif placed.space != access.space:
            return
        elif access.space != ".param":
            if access.data.size <= _NARROW:
                offsets = offsets.astype(np.uint32)  # of which the remainder takes a third of the time
            offsets = offsets % row_bytes(wave, access.space)
        end = placed.start + placed.size - access.size
        if placed.start <= int(offsets.min()) and int(offsets.max()) <= end:
            return
        wrong = (offsets < placed.start) | (offsets + access.size > placed.start + placed.size)
        lanes = np.arange(access.lanes.size) if lanes is None else lanes
        first = int(np.flatnonzero(wrong)[0])
        other = self._variables.whereabouts(wave, access, int(lanes[first])).name
        there = f", but inside `{other}`" if other and other != placed.name else ""
        away = int(offsets[first]) - placed.start
        message = (
            f"offset {away} is outside `{placed.name}`, which has {placed.size} bytes{there}"
        )
        self._findings.add(
            "out-of-bounds", message, wave, step, access.lanes[lanes[wrong]], space=access.space,
            address=int(offsets[first]), variable=placed.name,
        )

    def _computed(self, wave: Wave, step: Step, usage: Usage) -> Origin:
        """Sentence 2."""
        origins = self._origins.setdefault(wave, {})
        found = self._static(step, usage)
        for at, registers in enumerate(usage.operands[1:]):
            for register in registers:
                one = origins.get(register.number, _UNKNOWN)
                if one.size == 1 and not one[0, 0]:
                    continue
                if usage.opcode == "sub" and at == 1:  # a distance
                    found = np.where(one == 0, found, 0).astype(np.int32)
                elif found is _UNKNOWN:
                    found = one
                elif found is not one:
                    both = np.where(found == 0, one, found)
                    found = np.where((one != 0) & (one != both), 0, both).astype(np.int32)
        return found

    def _static(self, step: Step, usage: Usage) -> Origin:
        """The variable that a step names."""
        if id(step) not in self._made:
            self._made[id(step)] = step, self._named(step)
        return self._made[id(step)][1]

    def _named(self, step: Step) -> Origin:
        if step.source is None:
            return _UNKNOWN
        found: set[int] = set()
        for operand in step.source.node.operands:
            for name in names_in(operand):
                symbol = step.source.function.resolve(name)
                address = (
                    step.source.operands.addresses.get(id(symbol.declarator))
                    if isinstance(symbol, Variable) else None
                )
                if isinstance(symbol, Variable) and isinstance(address, int):
                    found.add(self._number(symbol, address))
        return np.full((1, 1), found.pop(), np.int32) if len(found) == 1 else _UNKNOWN

    def _number(self, symbol: Variable, address: int) -> int:
        spaces = (symbol.space, ".local")
        if symbol.space == ".const":
            spaces, address = (".global",), address + CONST_WINDOW
        for number, placed in enumerate(self._placed, 1):
            if placed.space in spaces and placed.start == address and placed.size:
                return number
        return 0

    def _passed(self, wave: Wave, number: int) -> Origin:
        """The buffer that a loaded parameter points into."""
        value = wave.registers[number]
        if value.size != 1 or value.dtype.itemsize != 8:
            return _UNKNOWN
        found = self.pointed_at(int(value.reshape(-1)[0]))
        return np.full((1, 1), found, np.int32) if found else _UNKNOWN

    def pointed_at(self, address: int) -> int:
        """The number of the buffer at an address; 0 for none."""
        buffer = self._memory.find(address)
        for at, placed in enumerate(self._placed, 1):
            if buffer is not None and placed.space == ".global" and placed.start == buffer.base:
                return at
        return 0

    def static_number(self, step: Step, usage: Usage) -> int:
        """The number of the variable that a step names; 0 for none."""
        return int(self._static(step, usage)[0, 0])

    def placed(self, number: int) -> Placed:
        """The variable or buffer with a number."""
        return self._placed[number - 1]


def keeps_origin(usage: Usage) -> bool:
    """Whether a result has the origin of an operand."""
    return usage.opcode in _KEEP and len(usage.writes) == 1
