"""Breakpoints: at lines, functions and data, with conditions, hit counts and log messages."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Container
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ptx_lsp.debug.expressions import ExpressionError
from ptx_lsp.debug.goals import Goal, Hit, Moment
from ptx_lsp.debug.groups import lane_at, row_of
from ptx_lsp.debug.lanes import Lane
from ptx_lsp.debug.memory import Reference
from ptx_lsp.executor.arithmetic.program import Array
from ptx_lsp.executor.machine.control import Block
from ptx_lsp.executor.machine.errors import Finding
from ptx_lsp.executor.machine.launch_config import WARP_SIZE, Dimensions, index
from ptx_lsp.executor.machine.observer import MemoryEvent
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.scheduling.stepping import is_breakpoint

Access: TypeAlias = Literal["read", "write", "readWrite"]
Lanes: TypeAlias = npt.NDArray[np.int64]
Holds: TypeAlias = Callable[[str, Moment], Lanes]
"""The lanes of a moment for which a condition is true."""

_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_COUNT = re.compile(r"\s*(==|=|>=|>|<=|<|%)?\s*(\d{1,18})\s*$")
_HELD: dict[str, Callable[[int, int], bool]] = {
    "": lambda hits, count: hits >= count, "==": lambda hits, count: hits == count,
    "=": lambda hits, count: hits == count, ">=": lambda hits, count: hits >= count,
    ">": lambda hits, count: hits > count, "<=": lambda hits, count: hits <= count,
    "<": lambda hits, count: hits < count, "%": lambda hits, count: not hits % max(count, 1),
}


@dataclass
class Breakpoint:
    """A breakpoint. `count` is a hit condition such as `>= 3`. With a `message` nothing stops, and the
    message is printed, with the values of expressions in braces.
    """

    number: int
    condition: str = ""
    count: str = ""
    message: str = ""
    hits: list[int] = field(default_factory=list[int])
    """The instructions before which it was hit, in order, if hits are counted."""

    def counted(self, event: int) -> bool:
        """It is hit; whether often enough until then, also where the run repeats itself."""
        found = _COUNT.match(self.count)
        if found is None:
            return True
        count = bisect_right(self.hits, event)
        if not count or self.hits[count - 1] != event:
            self.hits.insert(count, event)
            count += 1
        return _HELD[found[1] or ""](count, int(found[2]))


def starts_of(blocks: tuple[Block, ...], lines: Container[int]) -> frozenset[int]:
    """The first step of each instruction, if it is on one of some lines: functions begin and end with others.
    """
    found: dict[tuple[int, int], int] = {}
    for block in blocks:
        for step in block.steps:
            if step.source is not None and step.line in lines:
                found.setdefault((id(step.source.node), id(step.source.operands)), id(step))
    return frozenset(found.values())


def is_count(text: str) -> bool:
    """Whether a hit condition is valid."""
    return _COUNT.match(text) is not None


@dataclass
class LineBreakpoint(Breakpoint):
    """Before the instructions of a line of the PTX, or of several: those of a line of the source."""

    lines: frozenset[int] = frozenset()


@dataclass
class DataBreakpoint(Breakpoint):
    """After an access to memory, or a write of a register."""

    access: Access = "write"
    place: Reference | None = None
    size: int = 1
    register: tuple[int, Lane] | None = None
    """The number of a register, and a thread whose warp is watched."""


@dataclass(frozen=True, eq=False)
class _WatchedAccess:
    """An access to data that is watched, by the first lane (flat) that makes it."""

    watch: DataBreakpoint
    text: str
    wave: Wave
    lane: int | None = None


@dataclass
class Breakpoints(Goal):
    """All breakpoints. `log` receives messages of log points."""

    holds: Holds
    value: Callable[[str, Moment], str]
    """The value of an expression at a moment, for the first lane."""
    log: Callable[[str], None]
    ignored: frozenset[str] = frozenset()
    """The kinds of findings that do not stop the run."""
    lines: dict[int, list[LineBreakpoint]] = field(default_factory=dict[int, list[LineBreakpoint]])
    data: list[DataBreakpoint] = field(default_factory=list[DataBreakpoint])
    _accessed: list[_WatchedAccess] = field(default_factory=list["_WatchedAccess"])
    _kept: dict[int, Array] = field(default_factory=dict[int, Array])

    starts: frozenset[int] = frozenset()
    """The steps (their ids) with which instructions begin; calls have several."""
    is_written: bool = False
    """Whether the kernel itself has breakpoints: `brkpt`."""
    is_off: bool = False
    """Whether nothing stops the run."""
    _by_owner: dict[str, list[LineBreakpoint]] = field(default_factory=dict[str, list[LineBreakpoint]])
    _data_by_owner: dict[str, list[DataBreakpoint]] = field(default_factory=dict[str, list[DataBreakpoint]])
    _given: int = 0

    def next_number(self) -> int:
        """The number of a new breakpoint."""
        self._given += 1
        return self._given

    def replace_lines(self, owner: str, breakpoints: list[LineBreakpoint]) -> None:
        """Replaces those of a file, or of another owner."""
        self._by_owner[owner] = breakpoints
        lines: dict[int, list[LineBreakpoint]] = {}
        for some in self._by_owner.values():
            for one in some:
                for line in one.lines:
                    lines.setdefault(line, []).append(one)
        self.lines = lines

    def replace_data(self, owner: str, breakpoints: list[DataBreakpoint]) -> None:
        """Replaces the data breakpoints of an owner."""
        self._data_by_owner[owner] = breakpoints
        self.data = [one for some in self._data_by_owner.values() for one in some]

    def begin(self, moment: Moment | None) -> None:
        self._accessed.clear()
        self._kept.clear()
        if moment is not None:
            self._changed(moment.wave)

    def forget_after(self, event: int) -> None:
        """After an instruction, nothing was hit yet."""
        for one in (*self.data, *(one for some in self.lines.values() for one in some)):
            del one.hits[bisect_right(one.hits, event) :]

    @property
    def watches(self) -> bool:
        return any(one.place is not None for one in self.data)

    @property
    def can_stop(self) -> bool:
        return self.is_written or (not self.is_off and bool(self.data or self.lines))

    def reached(self, moment: Moment) -> Hit | None:
        if self.is_off:
            return None
        found = self.passed(moment)
        if found is None and is_breakpoint(moment.step) and (moment.active is None or moment.active.any()):
            return Hit("breakpoint", "the kernel executes `brkpt`")
        here = self.lines.get(moment.step.line, ()) if id(moment.step) in self.starts else ()
        hit: list[int] = []
        lane: int | None = None
        for one in here:
            lanes = self._lanes(one, moment)
            if lanes is not None and self._is_hit(one, moment):
                hit.append(one.number)
                lane = int(lanes[0]) if lanes.size and lane is None else lane
        if found is not None:
            return replace(found, hits=(*found.hits, *hit))
        return Hit("breakpoint", hits=tuple(hit), lane=lane) if hit else None

    def ignores(self, finding: Finding) -> bool:
        return self.is_off or finding.kind in self.ignored

    def accessed(self, moment: Moment, access: MemoryEvent) -> None:
        for one in self.data:
            if one.place is None or not _uses(access, one.access):
                continue
            lane = _first_overlapping(one, moment.wave, access)
            if lane is not None:
                thread = _thread_text(moment.wave, lane)
                text = f"line {moment.step.line}: {moment.step.text.rstrip(';')}, by {thread}"
                self._accessed.append(_WatchedAccess(one, text, moment.wave, lane))

    def _lanes(self, one: Breakpoint, moment: Moment) -> Lanes | None:
        """The lanes for which the condition of a breakpoint is true; empty without one, None if there are
        none.
        """
        if not one.condition:
            return np.zeros(0, np.int64)
        try:
            found = self.holds(one.condition, moment)
        except ExpressionError as error:
            self.log(f"breakpoint at line {moment.step.line}: {error}\n")
            return None
        return found if found.size else None

    def _is_hit(self, one: Breakpoint, moment: Moment) -> bool:
        if not one.counted(moment.event):
            return False
        if one.message:
            self.log(_EXPRESSION.sub(lambda found: self._value(found[1], moment), one.message) + "\n")
            return False
        return True

    def _value(self, text: str, moment: Moment) -> str:
        try:
            return self.value(text, moment)
        except ExpressionError as error:
            return f"<{error}>"

    def passed(self, moment: Moment) -> Hit | None:
        if self.is_off or not (self.data or self._accessed):
            return None
        found = [*self._accessed, *self._changed(moment.wave)]
        self._accessed = []
        hit = [
            access for access in found
            if self._lanes(access.watch, moment) is not None and self._is_hit(access.watch, moment)
        ]
        if not hit:
            return None
        lane = hit[0].lane if hit[0].wave is moment.wave else None
        return Hit("data breakpoint", hit[0].text, tuple(one.watch.number for one in hit), lane)

    def _changed(self, wave: Wave) -> list[_WatchedAccess]:
        """The watched registers that have changed since the last instruction."""
        changed: list[_WatchedAccess] = []
        for one in self.data:
            if one.register is None:
                continue
            number, lane = one.register
            row = row_of(wave, lane.block)
            if row is not None:
                first = lane.thread // WARP_SIZE * WARP_SIZE
                now = wave.broadcast(wave.registers[number])[row, first : first + WARP_SIZE].copy()
                lanes = np.flatnonzero(self._kept.get(one.number, now) != now)
                if lanes.size:
                    flat = row * wave.shape[1] + first + int(lanes[0])
                    changed.append(_WatchedAccess(one, "a watched register has changed", wave, flat))
                self._kept[one.number] = now
        return changed


def _uses(access: MemoryEvent, wanted: Access) -> bool:
    is_write = access.use in ("write", "update", "begin", "land")
    return wanted == "readWrite" or (wanted == "write") == is_write or access.use == "update"


def _first_overlapping(one: DataBreakpoint, wave: Wave, access: MemoryEvent) -> int | None:
    """The first lane (flat) that accesses a watched byte; None if none does."""
    place = one.place
    assert place is not None
    offsets = access.offsets.astype(np.int64)
    size = one.size
    if access.buffer is not None:
        if place.space not in ("global", "const"):
            return None
        first = place.address - access.buffer.base
    elif access.space.removeprefix(".") != place.space:
        return None
    elif place.space == "param":
        first = place.address
    else:
        row = _row(place, wave)
        if row is None:
            return None
        start, length = row
        first, size = start + place.address, min(size, length - place.address)
    found = np.flatnonzero((offsets < first + size) & (offsets + access.size > first))
    return int(access.lanes[found[0]]) if found.size and size > 0 else None


def _thread_text(wave: Wave, flat: int) -> str:
    block, thread = lane_at(wave, flat)
    shape = wave.launch
    return f"block {_index(block, shape.grid)} thread {_index(thread, shape.block)}"


def _index(flat: int, sizes: Dimensions) -> str:
    return ",".join(map(str, index(flat, sizes)))


def _row(place: Reference, wave: Wave) -> tuple[int, int] | None:
    """Where, in the memory of all blocks or lanes of a wave, that of the owner begins, and its size; None if
    the wave does not have the owner.
    """
    row = row_of(wave, place.owner.block)
    if row is None or place.owner.thread >= wave.shape[1]:
        return None
    if place.space == "shared":
        return row * wave.shared.shape[1], wave.shared.shape[1]
    return (row * wave.shape[1] + place.owner.thread) * wave.local.shape[1], wave.local.shape[1]
