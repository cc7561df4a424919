"""The call stack: functions that are not inlined, because they are recursive or called by address."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import UNSIGNED, Array, Bools, DType, Program
from ptx_lsp.executor.machine.control import Arrivals, Block, Transfer
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.locals import Locals
from ptx_lsp.executor.machine.register_file import RegisterLayout
from ptx_lsp.executor.machine.special_registers import STACK, STACK_ALIGNMENT
from ptx_lsp.executor.machine.wave import Wave, WaveState
from ptx_lsp.model.function import Function

Indices = npt.NDArray[np.int64]
_STACK_BYTES = 1 << 19
_ALL_BYTES = 1 << 31


@dataclass(eq=False)
class Routine:
    """A function. `start` is the position of its first line, `entry` the block that begins there."""

    function: Function
    address: int
    instance: int
    frame: RegisterLayout
    instances: set[int] = field(default_factory=set[int])
    """Its own instance, and the instances of functions inlined in it."""
    start: int = -1
    entry: int = -1

    @cached_property
    def base(self) -> int:
        """The register with the address of the frame."""
        return self.frame.hidden("frame", UNSIGNED[64], self.instance)

    @cached_property
    def locals(self) -> Locals:
        return Locals(self.base)

    @cached_property
    def registers(self) -> list[int]:
        """The registers that a thread saves, complete only after decoding."""
        return self.frame.of_instances(self.instances)


@dataclass(frozen=True, eq=False)
class Enter(Transfer):
    """`call` of a routine. `pointer` computes its address; None if there is only one. Threads return to block
    `onward`.
    """

    routines: Mapping[int, Routine]
    pointer: Program | None
    onward: int
    stack: int

    def successors(self, following: int) -> tuple[int, ...]:
        return (following,)

    def go(self, wave: Wave, mask: Bools | None) -> Arrivals:
        full = wave.full_mask(mask)
        if self.pointer is None:
            (routine,) = self.routines.values()
            return self._entered(wave, routine, mask, full)
        addresses = wave.broadcast(self.pointer.run(wave.registers)[0])
        found: Arrivals = []
        for address in np.unique(addresses[full]).tolist():
            here = full & (addresses == address)
            routine = self.routines.get(address)
            if routine is None:
                message = f"{address} is not the address of a function that can be called"
                raise ExecutionError(message, "out-of-bounds", lanes=wave.thread_ids(here))
            found += self._entered(wave, routine, wave.normal(here), here)
        return found

    def _entered(
        self, wave: Wave, routine: Routine, mask: Bools | None, full: Bools
    ) -> Arrivals:
        call_stack(wave).enter(routine, np.flatnonzero(full), self.onward, self.stack)
        return [(routine.entry, mask)]


def routines_of(blocks: Iterable[Block]) -> list[Routine]:
    """The routines that a kernel calls."""
    actions = (step.action for block in blocks for step in block.steps)
    calls = [action for action in actions if isinstance(action, Enter)]
    return list({id(one): one for action in calls for one in action.routines.values()}.values())


@dataclass(frozen=True, eq=False)
class Return(Transfer):
    """The end of a routine: back to where each thread came from."""

    routine: Routine
    stack: int

    def successors(self, following: int) -> tuple[int, ...]:
        return ()

    def go(self, wave: Wave, mask: Bools | None) -> Arrivals:
        lanes = np.flatnonzero(wave.full_mask(mask))
        back = call_stack(wave).leave(self.routine, lanes, self.stack)
        found: Arrivals = []
        for block in np.unique(back).tolist():
            here = np.zeros(wave.shape, np.bool_)
            here.reshape(-1)[lanes[back == block]] = True
            found.append((block, wave.normal(here)))
        return found


class Allocate:
    """`alloca`: `operands` computes the size; the address goes to a register."""

    def __init__(self, operands: Program, alignment: int, destination: int, stack: int) -> None:
        self._operands = operands
        self._alignment = np.uint64(max(alignment, 1) - 1)
        self._destination = destination
        self._stack = stack

    def run(self, wave: Wave, mask: Bools | None) -> None:
        size = np.asarray(self._operands.run(wave.registers)[0], np.uint64)
        stack = np.asarray(wave.registers[self._stack], np.uint64)
        address = (stack + self._alignment) & ~self._alignment
        end = wave.broadcast(address + np.minimum(size, _ALL_BYTES))
        _grow(wave, int(end[wave.full_mask(mask)].max()))
        dtype = wave.registers[self._destination].dtype
        wave.write(self._destination, address.astype(dtype), mask)
        wave.write(self._stack, end, mask)


class CallStack(WaveState):
    """The activation records of each lane of a wave."""

    def __init__(self, wave: Wave) -> None:
        self._wave = wave
        self._depth = self._zeros()
        self._onward = _Levels(wave, np.dtype(np.int64))
        self._stacks = _Levels(wave, UNSIGNED[64])
        self._inside: dict[Routine, Indices] = {}
        """How often a lane is in a routine."""
        self._kept: dict[int, _Levels] = {}

    def enter(self, routine: Routine, lanes: Indices, onward: int, stack: int) -> None:
        wave, depth = self._wave, self._depth[lanes]
        top = _of(wave, stack, lanes)
        self._onward.put(depth, lanes, np.full(lanes.size, onward))
        self._stacks.put(depth, lanes, top)
        self._depth[lanes] += 1
        inside = self._inside.setdefault(routine, self._zeros())
        again = lanes[inside[lanes] > 0]
        if again.size:
            for number in routine.registers:
                kept = self._kept.setdefault(number, _Levels(wave, wave.registers[number].dtype))
                kept.put(inside[again] - 1, again, _of(wave, number, again))
        inside[lanes] += 1
        base = -(-top.astype(np.int64) // STACK_ALIGNMENT) * STACK_ALIGNMENT
        end = base + max(routine.locals.size, 1)
        _grow(wave, int(end.max()))
        _give(wave, routine.base, lanes, base)
        _give(wave, stack, lanes, end)

    def depth(self, lane: int) -> int:
        """In how many functions a lane (flat) is."""
        return int(self._depth[lane])

    def returns(self, lane: int) -> list[int]:
        """The blocks to which a lane (flat) will return, the innermost call first."""
        depths = np.arange(self.depth(lane) - 1, -1, -1)
        return self._onward.get(depths, np.full(depths.size, lane)).tolist()

    def leave(self, routine: Routine, lanes: Indices, stack: int) -> Indices:
        """The blocks at which the lanes continue."""
        wave, inside = self._wave, self._inside[routine]
        self._depth[lanes] -= 1
        depth = self._depth[lanes]
        _give(wave, stack, lanes, self._stacks.get(depth, lanes))
        inside[lanes] -= 1
        again = lanes[inside[lanes] > 0]
        if again.size:
            for number in routine.registers:
                _give(wave, number, again, self._kept[number].get(inside[again] - 1, again))
        return self._onward.get(depth, lanes).astype(np.int64)

    def digest(self) -> bytes:
        found = blake2b(digest_size=16)
        levels = [self._onward, self._stacks, *self._kept.values()]
        for array in [self._depth, *self._inside.values(), *(one.values for one in levels)]:
            found.update(np.ascontiguousarray(array).data)
        return found.digest()

    def arrays(self, routines: Sequence[Routine]) -> tuple[list[Array], list[list[Array]]]:
        """The depth of calls, where they return to and the stacks before them; and for each routine how often
        lanes are in it, and its registers at each level.
        """
        found: list[list[Array]] = []
        for routine in routines:
            own: list[Array] = [self._inside.setdefault(routine, self._zeros())]
            for number in routine.registers:
                dtype = self._wave.registers[number].dtype
                own.append(self._kept.setdefault(number, _Levels(self._wave, dtype)).values)
            found.append(own)
        return [self._depth, self._onward.values, self._stacks.values], found

    def _zeros(self) -> Indices:
        return np.zeros(self._wave.shape[0] * self._wave.shape[1], np.int64)


def call_stack(wave: Wave) -> CallStack:
    """The call stack of a wave."""
    return CallStack.of(wave)


class _Levels:
    """Values of each lane at each depth of calls."""

    def __init__(self, wave: Wave, dtype: DType) -> None:
        self._wave = wave
        self.values: Array = np.zeros((4, wave.shape[0] * wave.shape[1]), dtype)

    def put(self, levels: Indices, lanes: Indices, values: Array) -> None:
        most = int(levels.max())
        if most >= len(self.values):
            if 2 * self.values.nbytes > _ALL_BYTES:
                raise _too_deep(self._wave, most, lanes[levels == most])
            self.values = np.concatenate([self.values, np.zeros_like(self.values)])
        self.values[levels, lanes] = values

    def get(self, levels: Indices, lanes: Indices) -> Array:
        return self.values[levels, lanes]


def _too_deep(wave: Wave, depth: int, lanes: Indices) -> ExecutionError:
    here = np.zeros(wave.shape, np.bool_)
    here.reshape(-1)[lanes] = True
    return ExecutionError(
        f"stack overflow: the calls are {depth} deep", "limit", lanes=wave.thread_ids(here)
    )


def _grow(wave: Wave, end: int) -> None:
    """Makes local memory reach to an address."""
    if end <= wave.local_bytes:
        return
    rows, stride = wave.local.shape
    if end > _STACK_BYTES or end * rows > _ALL_BYTES:
        raise ExecutionError(
            f"stack overflow: a thread requires more than {wave.local_bytes} bytes", "limit"
        )
    if end > stride:
        wider = np.zeros((rows, -(-max(end, 2 * stride) // 64) * 64), np.uint8)
        wider[:, :stride] = wave.local
        wave.local = wider
    wave.local_bytes = end


def _of(wave: Wave, number: int, lanes: Indices) -> Array:
    return wave.broadcast(wave.registers[number]).reshape(-1)[lanes]


def _give(wave: Wave, number: int, lanes: Indices, values: Array) -> None:
    whole = np.array(wave.broadcast(wave.registers[number]))
    whole.reshape(-1)[lanes] = values
    wave.registers[number] = whole


def stack(frame: RegisterLayout) -> int:
    """The register with the address at which the stack continues."""
    return frame.special(STACK, ".u64")
