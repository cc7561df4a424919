"""The interface of tools that observe execution: checkers, traces, profiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.machine.control import Block, Step
from ptx_lsp.executor.machine.data_segment import ModuleMemory
from ptx_lsp.executor.machine.launch_config import LaunchConfig
from ptx_lsp.executor.machine.memory import Buffer, Bytes, Memory, Space
from ptx_lsp.executor.machine.wave import Wave, WaveState

Use = Literal["read", "write", "update", "begin", "land"]
"""The effect of an instruction at an address. Atomics update. Asynchronous copies begin to write; their data
arrives later.
"""
Actor = Literal["thread", "copy"]
"""The agent of a memory access: the thread itself, or an asynchronous operation that it begins, such as a
bulk copy.
"""
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class MemoryEvent:
    """One access of an instruction to memory: lane `lanes[i]` of the wave (flat: block by block) uses `size`
    bytes of `data` from `offsets[i]` on.

    `buffer` is set for global and constant memory. Shared memory has that of all blocks of the wave in
    `data`, local memory that of all lanes, consecutively.
    """

    use: Use
    space: Space
    buffer: Buffer | None
    data: Bytes
    size: int
    lanes: Indices
    offsets: Indices
    by: Actor = "thread"


@dataclass(frozen=True)
class TensorUse:
    """An access to the Tensor Memory of a block of the wave: `count` columns from `first` on, and of them the
    `groups` of lanes (bit n: lanes 16n to 16n + 15).

    `lane` is the first one of the warp, or the thread that begins the operation (flat). `name` is the matrix
    of an operation, "" for loads and stores.
    """

    lane: int
    block: int
    groups: int
    first: int
    count: int
    name: str = ""
    reads: bool = False
    writes: bool = False


class Observer:
    """Called for events of an execution. Lanes are masks of a wave: None for all of its threads."""

    def decoded(self, blocks: tuple[Block, ...]) -> None:
        """Called before the launch, with the kernel's blocks of instructions."""

    def launched(self, shape: LaunchConfig, image: ModuleMemory, memory: Memory) -> None:
        """Called when a launch begins."""

    def concerns(self, step: Step) -> bool:
        """Whether `before` and `after` are to be called for a step. Asked once, after `decoded`."""
        return True

    def turn(self) -> None:
        """Called between two turns of groups: no instruction is under way."""

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        """Called when the lanes `come` are at an instruction; the lanes `take`, whose guard is true, will
        execute it.
        """

    def held(self, wave: Wave, step: Step, lanes: Bools) -> None:
        """Called when lanes wait at an instruction for others of their warps; repeatedly if it takes long."""

    def accessed(self, wave: Wave, step: Step, access: MemoryEvent) -> None:
        """Called when an instruction accesses memory within bounds, before it writes."""

    def used_tensor_memory(self, wave: Wave, step: Step, uses: Sequence[TensorUse]) -> None:
        """Called when an instruction uses Tensor Memory, or gives columns back."""

    def after(self, wave: Wave, step: Step, active: Bools | None) -> None:
        """Called after an instruction completes; not called for branches, exits and barriers."""

    def began(self, wave: Wave, operation: object) -> None:
        """Called when the current instruction begins an asynchronous operation; its accesses are reported
        with it.
        """

    def completed(
        self, wave: Wave, operation: object, lanes: Indices, barriers: Indices | None, *, is_read: bool
    ) -> None:
        """Called when the operation is complete for the lanes that began it. Either they know it, or the
        threads that wait for the phases of `barriers` (offsets in shared memory) do. With `is_read`, it has
        only read its sources.
        """

    def met(self, wave: Wave, step: Step, arrived: Bools, released: Bools, number: int | None) -> None:
        """Called when barrier `number` of blocks (None: that of clusters) releases the lanes `gone`, after
        all lanes of `come` have reached it.
        """

    def misused(self, wave: Wave, step: Step, kind: str, message: str, lanes: Indices) -> None:
        """Called when lanes (flat numbers) do something with an undefined result that does not fail."""

    def ended(self) -> None:
        """Called when the launch is over, including after an error."""


class Observers(Observer):
    """Several observers, called in order, each for the events for which it has a method of its own."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = tuple(observers)
        self._methods = _Methods(self._observers)

    def exchange(self, observers: Sequence[Observer]) -> None:
        """Others take their places."""
        self._observers = tuple(observers)
        self._methods = _Methods(self._observers)

    def decoded(self, blocks: tuple[Block, ...]) -> None:
        for one in self._observers:
            one.decoded(blocks)

    def launched(self, shape: LaunchConfig, image: ModuleMemory, memory: Memory) -> None:
        for one in self._observers:
            one.launched(shape, image, memory)

    def turn(self) -> None:
        for turn in self._methods.turn:
            turn()

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        for before in self._methods.of(step).before:
            before(wave, step, arrived, active)

    def held(self, wave: Wave, step: Step, lanes: Bools) -> None:
        for one in self._observers:
            one.held(wave, step, lanes)

    def accessed(self, wave: Wave, step: Step, access: MemoryEvent) -> None:
        for accessed in self._methods.accessed:
            accessed(wave, step, access)

    def used_tensor_memory(self, wave: Wave, step: Step, uses: Sequence[TensorUse]) -> None:
        for one in self._observers:
            one.used_tensor_memory(wave, step, uses)

    def after(self, wave: Wave, step: Step, active: Bools | None) -> None:
        for after in self._methods.of(step).after:
            after(wave, step, active)

    def began(self, wave: Wave, operation: object) -> None:
        for one in self._observers:
            one.began(wave, operation)

    def completed(
        self, wave: Wave, operation: object, lanes: Indices, barriers: Indices | None, *, is_read: bool
    ) -> None:
        for one in self._observers:
            one.completed(wave, operation, lanes, barriers, is_read=is_read)

    def met(self, wave: Wave, step: Step, arrived: Bools, released: Bools, number: int | None) -> None:
        for one in self._observers:
            one.met(wave, step, arrived, released, number)

    def misused(self, wave: Wave, step: Step, kind: str, message: str, lanes: Indices) -> None:
        for one in self._observers:
            one.misused(wave, step, kind, message, lanes)

    def ended(self) -> None:
        for one in self._observers:
            one.ended()


class _StepMethods(NamedTuple):
    """The methods to call before and after a step, which is kept, and with it its identity."""

    step: Step
    before: list[Callable[[Wave, Step, Bools | None, Bools | None], None]]
    after: list[Callable[[Wave, Step, Bools | None], None]]


class _Methods:
    """The methods that observers have for the most frequent events."""

    def __init__(self, observers: tuple[Observer, ...]) -> None:
        self._observers = observers
        of_kinds = [(one, type(one)) for one in observers]
        self.turn = [one.turn for one, kind in of_kinds if kind.turn is not Observer.turn]
        self.accessed = [one.accessed for one, kind in of_kinds if kind.accessed is not Observer.accessed]
        self._steps: dict[int, _StepMethods] = {}

    def __reduce__(self) -> tuple[type[_Methods], tuple[tuple[Observer, ...]]]:
        return _Methods, (self._observers,)

    def of(self, step: Step) -> _StepMethods:
        return self._steps.get(id(step)) or self._find(step)

    def _find(self, step: Step) -> _StepMethods:
        concerned = [(one, type(one)) for one in self._observers if one.concerns(step)]
        found = self._steps[id(step)] = _StepMethods(
            step,
            [one.before for one, kind in concerned if kind.before is not Observer.before],
            [one.after for one, kind in concerned if kind.after is not Observer.after],
        )
        return found


class CurrentStep(WaveState):
    """The step that a wave executes, and its threads (None: all). Only tracked for observers."""

    def __init__(self, wave: Wave) -> None:
        super().__init__(wave)
        self.step: Step | None = None
        self.active: Bools | None = None
        self.every_lane: Indices = np.arange(wave.shape[0] * wave.shape[1])

    def begin(self, step: Step, active: Bools | None) -> None:
        self.step, self.active = step, active


_Scalar = TypeVar("_Scalar", bound=np.generic)


def per_lane(
    wave: Wave, values: npt.NDArray[_Scalar], mask: Bools | None
) -> tuple[Indices, npt.NDArray[_Scalar]]:
    """The lanes that `values` belong to, and a value for each: `values` has the shape of the wave or less
    where `mask` is None, or one element for each lane of it. Only lanes that execute the present step.
    """
    if mask is not None and values.shape != mask.shape:
        lanes = np.flatnonzero(mask)
        return lanes, np.broadcast_to(values.reshape(-1), lanes.shape)
    current = CurrentStep.of(wave)
    active = wave.full_mask(current.active)
    if active.all():
        return current.every_lane, wave.broadcast(values).reshape(-1)
    lanes = np.flatnonzero(active)
    return lanes, wave.broadcast(values).reshape(-1)[lanes]
