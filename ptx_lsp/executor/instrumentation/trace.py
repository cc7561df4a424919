"""The reads and writes of each instruction, lane by lane: `Trace`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.instrumentation.usage import Named, Usages
from ptx_lsp.executor.machine.control import Described, Step
from ptx_lsp.executor.machine.errors import Lane
from ptx_lsp.executor.machine.observer import Indices, MemoryEvent, Observer, Use
from ptx_lsp.executor.machine.wave import Wave

Values: TypeAlias = tuple[tuple[str, int], ...]
"""Registers by name, with their bits; predicates with 0 or 1."""


@dataclass(frozen=True)
class Event:
    """One lane executed one instruction. `number` counts the instructions of its wave; `address` is that of
    the access to memory, in the state space `space`, if there was one.
    """

    number: int
    line: int
    text: str
    lane: Lane
    reads: Values
    writes: Values
    space: str = ""
    use: Use | None = None
    address: int | None = None
    fields: str = ""
    """The decoded fields of descriptors among the operands."""


class Trace(Observer):
    """Keeps the events of the chosen lanes and lines, at most `limit` of them; `dropped` counts the
    others.
    """

    def __init__(
        self, *, limit: int = 10_000, lanes: Collection[Lane] | None = None,
        lines: Collection[int] | None = None, each: int = 4,
    ) -> None:
        """Without `lanes`, of each instruction the first `each` lanes that execute it; `lines` None: all."""
        self.events: list[Event] = []
        self.dropped = 0
        self._limit, self._each = limit, each
        self._lanes = None if lanes is None else frozenset(lanes)
        self._lines = None if lines is None else frozenset(lines)
        self._usages = Usages()
        self._number = 0
        self._chosen: list[tuple[int, Lane, Values]] = []
        self._fields: dict[int, str] = {}
        self._addresses: dict[int, tuple[str, Use, int]] = {}

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        self._flush()
        self._number += 1
        self._chosen = []
        self._step, self._wave = step, wave
        if not step.line or (self._lines is not None and step.line not in self._lines):
            return
        chosen = self._choose(wave, wave.full_mask(active))
        if len(self.events) >= self._limit:
            self.dropped += len(chosen)
            return
        usage = self._usages.of(step)
        self._chosen = [(flat, lane, _values(wave, usage.reads, flat)) for flat, lane in chosen]
        if isinstance(step.action, Described):
            self._fields = {flat: step.action.describe(wave, flat) for flat, _ in chosen}

    def accessed(self, wave: Wave, step: Step, access: MemoryEvent) -> None:
        for flat, _, _ in self._chosen:
            for at in np.flatnonzero(access.lanes == flat)[:1].tolist():
                self._addresses[flat] = access.space, access.use, _address(wave, access, at)

    def after(self, wave: Wave, step: Step, active: Bools | None) -> None:
        self._flush(written=True)

    def ended(self) -> None:
        self._flush()

    def _flush(self, *, written: bool = False) -> None:
        for flat, lane, reads in self._chosen:
            if len(self.events) >= self._limit:
                self.dropped += 1
                continue
            usage = self._usages.of(self._step)
            writes = _values(self._wave, usage.writes, flat) if written else ()
            space, use, address = self._addresses.get(flat, ("", None, None))
            self.events.append(Event(
                self._number, self._step.line, self._step.text, lane, reads, writes, space, use, address,
                self._fields.get(flat, ""),
            ))
        self._chosen = []
        self._fields = {}
        self._addresses = {}

    def _choose(self, wave: Wave, mask: Bools) -> list[tuple[int, Lane]]:
        """The lanes of a mask that are to be kept, flat and by name."""
        flat: Indices = np.flatnonzero(mask)
        if self._lanes is None:
            return [(one, _lane(wave, one)) for one in map(int, flat[: self._each])]
        named = ((one, _lane(wave, one)) for one in map(int, flat))
        return [(one, lane) for one, lane in named if lane in self._lanes]


def _lane(wave: Wave, flat: int) -> Lane:
    mask = np.zeros(wave.shape, np.bool_)
    mask.reshape(-1)[flat] = True
    return wave.thread_ids(mask)[0]


def _values(wave: Wave, registers: tuple[Named, ...], flat: int) -> Values:
    row, column = divmod(flat, wave.shape[1])
    found: dict[str, int] = {}
    for number, name in registers:
        value = wave.registers[number]
        one = value[row if value.shape[0] > 1 else 0, column if value.shape[1] > 1 else 0]
        found[name] = int(one)
    return tuple(found.items())


def _address(wave: Wave, access: MemoryEvent, at: int) -> int:
    offset = int(access.offsets[at])
    if access.buffer is not None:
        return access.buffer.base + offset
    if access.space == ".param":
        return offset
    return offset % (wave.shared if access.space == ".shared" else wave.local).shape[1]
