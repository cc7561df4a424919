"""A run while it stands: its groups of lanes, their frames, and what expressions are worth there."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from ptx_lsp.debug import values
from ptx_lsp.debug.expressions import (
    CONSTANTS,
    Column,
    ExpressionError,
    Target,
    evaluated,
    valued,
    whole_numbers,
)
from ptx_lsp.debug.goals import Moment, Stop
from ptx_lsp.debug.groups import Frame, Group, call_at, call_of, first_lane, frames, groups, lane_at
from ptx_lsp.debug.lanes import Lane
from ptx_lsp.debug.memory import NAMES, MemoryView, Reference
from ptx_lsp.debug.reconvergence import Reconvergence, ReconvergencePoints
from ptx_lsp.debug.values import Lanes, Named
from ptx_lsp.executor.launching.prepared_launch import PreparedLaunch
from ptx_lsp.executor.machine.address_resolution import WINDOWS
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.machine.special_registers import special_register_value
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.scheduling.machine import Machine

_ADDRESS = (1 << 64) - 1
_FORMATS = {"s": "<i", "u": "<u", "b": "<u", "f": "<f"}


class View:
    """The state of a run at a stop."""

    def __init__(self, launch: PreparedLaunch, machine: Machine | None, stop: Stop) -> None:
        self.launch = launch
        self._machine = machine
        self.stop = stop

    @cached_property
    def groups(self) -> dict[int, Group]:
        """The groups of lanes by their numbers, the one whose turn it is first."""
        if self._machine is None:
            return {}
        return {one.number: one for one in groups(self._machine, self.stop.moment)}

    @cached_property
    def memory(self) -> MemoryView:
        waves = () if self._machine is None else tuple(one.wave for one in self._machine.schedulers)
        return MemoryView(self.launch.memory, self.launch.parameters, waves)

    def group_of(self, lane: Lane) -> Group | None:
        """The group of a thread; None if its block has not begun, or it has ended."""
        return next((one for one in self.groups.values() if lane in one), None)

    def frames(self, group: Group) -> list[Frame]:
        """The calls of a group, the innermost first."""
        return frames(group, self.launch.blocks)

    def frame(self, group: Group) -> Frame:
        """The innermost call of a group."""
        return call_of(group).frame

    def others(self, group: Group) -> list[Group]:
        """The other groups of a group's warp, in the order of their first lanes."""
        found = [
            one for one in self.groups.values()
            if (one.block, one.warp) == (group.block, group.warp) and one.lanes != group.lanes
        ]
        return sorted(found, key=lambda one: one.lanes)

    def reconvergence(self, group: Group) -> list[Reconvergence]:
        """Where a group meets others of its warp, the nearest point first."""
        others = self.others(group)
        return self._points.of(group, others) if others else []

    @cached_property
    def _points(self) -> ReconvergencePoints:
        return ReconvergencePoints(self.launch.blocks)

    def evaluate(self, text: str, group: Group, frame: Frame, *, whole: bool = False) -> Column:
        """The value of an expression for each lane of a group, or with `whole` of its warp. Raises
        ExpressionError.
        """
        return self.evaluate_in(text, group.wave, values.lanes_of(group, whole=whole), frame)

    def evaluate_in(self, text: str, wave: Wave, lanes: Lanes, frame: Frame) -> Column:
        """The value of an expression for some lanes of a wave. Raises ExpressionError."""
        found = evaluated(text, LaneValues(self, wave, lanes, frame))
        return np.broadcast_to(found, (lanes.size, *found.shape[1:]))

    def registers(self, frame: Frame, name: str) -> Named | None:
        """A register of a frame's function, or an element of a vector."""
        known = {one.name: one for one in values.registers(frame)}
        whole, _, component = name.partition(".")
        if name in known or whole not in known:
            return known.get(name)
        numbers = known[whole].numbers
        at = "xyzw".find(component) if component else len(numbers)
        return Named(name, known[whole].type, (numbers[at],)) if 0 <= at < len(numbers) else None

    def place(self, space: str, address: int, owner: Lane) -> Reference:
        """The byte at an address of a state space, or at a generic one, as a thread sees it. Raises
        ExpressionError.
        """
        if space and space not in NAMES:
            raise ExpressionError(f"`{space}` is not a state space; expected one of {', '.join(NAMES)}")
        number = address & _ADDRESS
        return Reference(space, number, owner) if space else self.memory.generic(number, owner)

    def target(self, one: Target, wave: Wave, lane: Lanes, frame: Frame) -> tuple[Reference, int]:
        """The first byte and the size of memory that an expression names, for a lane. Raises ExpressionError.
        """
        assert one.address is not None
        lookup = LaneValues(self, wave, lane, frame)
        found = valued(one.address, lookup)
        if found.ndim > 1 or found.dtype.kind not in "iu":
            raise ExpressionError("an address must be a whole number")
        place = self.place(one.space, int(found[0]), lane_at(wave, int(lane[0])))
        return place, int(one.type[1:]) // 8 * one.count

    def size_at(self, place: Reference) -> int | None:
        """The size of the variable of the launch that begins at a byte; None if there is none."""
        for one in self.launch.placed:
            if (one.space.removeprefix("."), one.start) == (place.space, place.address):
                return one.size
        bases = ((one.base, one.data.size) for one in self.launch.buffers)
        return next((size for base, size in bases if (place.space, place.address) == ("global", base)), None)

    def variable(self, name: str) -> tuple[str, int, int] | None:
        """The state space, the address and the size of a variable of the launch."""
        for one in self.launch.placed:
            if one.name == name:
                return one.space.removeprefix("."), one.start, one.size
        return next(
            (("global", one.base, one.data.size) for one in self.launch.buffers if one.name == name), None
        )


class LaneValues:
    """Names and memory as some lanes of a wave see them, in a frame."""

    def __init__(self, view: View, wave: Wave, lanes: Lanes, frame: Frame) -> None:
        self._view, self._wave, self._lanes, self._frame = view, wave, lanes, frame

    def name(self, name: str, lane: int | None) -> Column:
        """A register, a special register, or the generic address of a variable."""
        lanes = self._lanes if lane is None else self._lanes // WARP_SIZE * WARP_SIZE + lane
        if lane is not None and not 0 <= lane < WARP_SIZE:
            raise ExpressionError(f"a warp has no lane {lane}")
        register = self._view.registers(self._frame, name)
        if register is not None:
            column = self._wave.registers[register.numbers[0]]
            return _typed(self._wave.broadcast(column).reshape(-1)[lanes], register.type)
        if name.startswith("%") and name in values.SPECIAL:
            value = special_register_value(self._wave, name)
            return self._wave.broadcast(value).reshape(-1)[lanes].astype(np.int64)
        variable = self._view.variable(name)
        if variable is None and name in CONSTANTS:
            return np.full(lanes.size, CONSTANTS[name])
        if variable is None:
            raise ExpressionError(f"`{name}` is neither a register nor a variable here")
        space, address, _ = variable
        return np.full(lanes.size, address + WINDOWS.get(NAMES[space], 0))

    def unset(self, name: str) -> str:
        """How a register is shown that is unset in the first lane; "" for all else."""
        register = self._view.registers(self._frame, name.strip())
        if register is None or values.bits(self._wave, register, self._lanes[:1])[0] is not None:
            return ""
        return values.text(None, register.type)

    def memory(self, space: str, addresses: Column, type: str, count: int) -> Column:
        """Values in memory: with several of them an array of two dimensions."""
        size = int(type[1:]) // 8
        dtype = np.dtype(f"{_FORMATS[type[0]]}{size}")
        found: list[npt.NDArray[np.generic]] = []
        if addresses.ndim > 1 or addresses.dtype.kind not in "iu":
            raise ExpressionError("an address must be a whole number")
        each = np.broadcast_to(addresses, self._lanes.shape).tolist()
        for lane, address in zip(self._lanes.tolist(), each, strict=True):
            place = self._view.place(space, address, lane_at(self._wave, lane))
            data = self._view.memory.read(place, size * count)
            if len(data) < size * count:
                raise ExpressionError(f"there is no memory at {address & _ADDRESS:#x}")
            found.append(np.frombuffer(data, dtype))
        whole = np.array(found)
        wide = whole.astype(np.float64) if type[0] == "f" else whole_numbers(whole)
        return wide[:, 0] if count == 1 else wide


def holds(view: View, text: str, moment: Moment) -> Lanes:
    """The lanes of a moment for which a condition is true. Raises ExpressionError."""
    lanes = np.flatnonzero(moment.wave.full_mask(moment.arrived))
    found = evaluated(text, _at(view, moment, lanes))
    if found.ndim > 1:
        raise ExpressionError(f"`{text}` has several elements")
    return lanes[np.broadcast_to(found.astype(np.bool_), lanes.shape)]


def value_at(view: View, text: str, moment: Moment) -> str:
    """The value of an expression for the first lane of a moment. Raises ExpressionError."""
    lanes = np.flatnonzero(moment.wave.full_mask(moment.arrived))[:1]
    here = _at(view, moment, lanes)
    return here.unset(text) or values.plain(evaluated(text, here)[0])


def _at(view: View, moment: Moment, lanes: Lanes) -> LaneValues:
    found = call_at(moment, first_lane(moment))
    return LaneValues(view, moment.wave, lanes, Frame("", 0, None, None) if found is None else found.frame)


def _typed(bits: npt.NDArray[np.generic], type: str) -> Column:
    """Values of a register: floats as such, else whole numbers."""
    width = 8 * bits.dtype.itemsize
    if bits.dtype == np.bool_:
        return bits
    if type in (".f16", ".f32", ".f64"):
        return bits.view(f"f{width // 8}").astype(np.float64)
    if type.startswith(".s"):
        return bits.view(f"i{width // 8}").astype(np.int64)
    return whole_numbers(bits)
