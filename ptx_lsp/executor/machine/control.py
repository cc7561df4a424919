"""Control flow: jumps, thread exits and barriers. The machine acts on them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools, Program
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.special_registers import clock
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.model.function import Function
from ptx_lsp.syntax import nodes

Arrivals = list[tuple[int, Bools | None]]
"""Numbers of blocks, and which lanes (None: all) go on there."""


BarrierKind = Literal[".sync", ".arrive", ".popc", ".and", ".or"]


class Action(Protocol):
    """The effect of an instruction on the lanes of a mask (None: all)."""

    def run(self, wave: Wave, mask: Bools | None) -> None: ...


class Nothing:
    """An instruction without an effect on registers or memory."""

    def run(self, wave: Wave, mask: Bools | None) -> None:
        pass


class Returned(Nothing):
    """Follows the call of a `.noreturn` function: it has returned, after which the behaviour is undefined."""


@dataclass(frozen=True)
class Unsupported:
    """An unsupported instruction: an error once a thread reaches it."""

    message: str

    def run(self, wave: Wave, mask: Bools | None) -> None:
        raise ExecutionError(self.message, "unsupported")


@dataclass(frozen=True)
class Timed:
    """An action that reads clocks: these registers, with their names."""

    action: Action
    clocks: dict[int, str]

    def run(self, wave: Wave, mask: Bools | None) -> None:
        for number, name in self.clocks.items():
            wave.registers[number] = clock(wave, name).astype(wave.registers[number].dtype)
        self.action.run(wave, mask)


class Control:
    """An instruction that may not fall through; it ends its block or is guarded."""


class Transfer(Control, ABC):
    """A jump of any kind."""

    @abstractmethod
    def successors(self, following: int) -> tuple[int, ...]:
        """The blocks of its own function at which threads may continue; `following` is the next in the text.
        """

    @abstractmethod
    def go(self, wave: Wave, mask: Bools | None) -> Arrivals:
        """The blocks at which the lanes continue."""


@dataclass(frozen=True)
class Jump(Transfer):
    """`bra`: a jump to the block with that number."""

    target: int

    def successors(self, following: int) -> tuple[int, ...]:
        return (self.target,)

    def go(self, wave: Wave, mask: Bools | None) -> Arrivals:
        return [(self.target, mask)]


@dataclass(frozen=True, eq=False)
class TableJump(Transfer):
    """`brx.idx`: to one of several blocks; `index` computes which."""

    index: Program
    targets: tuple[int, ...]

    def successors(self, following: int) -> tuple[int, ...]:
        return self.targets

    def go(self, wave: Wave, mask: Bools | None) -> Arrivals:
        index = np.asarray(self.index.run(wave.registers)[0], np.uint32)
        if index.size == 1:
            return [(self._target(wave, int(index[0, 0]), mask), mask)]
        full = wave.full_mask(mask)
        found: Arrivals = []
        everywhere = wave.broadcast(index)
        for value in np.unique(everywhere[full]).tolist():
            here = wave.normal(full & (everywhere == value))
            found.append((self._target(wave, value, here), here))
        return found

    def _target(self, wave: Wave, index: int, mask: Bools | None) -> int:
        if index < len(self.targets):
            return self.targets[index]
        message = (
            f"index {index} is out of range: the list of targets has {len(self.targets)} entries"
        )
        raise ExecutionError(message, "out-of-bounds", lanes=wave.thread_ids(wave.full_mask(mask)))


@dataclass(frozen=True)
class Leave(Control):
    """`ret` of a kernel, `exit`, `trap` or `brkpt`."""

    kind: Literal["ret", "exit", "trap", "brkpt"]


@dataclass(frozen=True, eq=False)
class Barrier(Control):
    """`bar` and `barrier`: `operands` computes the number, with `is_counted` the number of threads, and for a
    reduction the predicate. `number` is -1 if it is not a constant.
    """

    kind: BarrierKind
    number: int
    operands: Program
    is_counted: bool
    destination: int | None = None

    @property
    def reduces(self) -> bool:
        return self.kind not in (".sync", ".arrive")

    def numbers(self, wave: Wave) -> npt.NDArray[np.int64]:
        """The number of the barrier for each lane."""
        values = self.operands.run(wave.registers)
        return wave.broadcast(np.asarray(values[0], np.int64))

    def counts(self, wave: Wave) -> npt.NDArray[np.int64]:
        """The number of threads for each lane; 0 for all."""
        if not self.is_counted:
            return np.zeros(wave.shape, np.int64)
        values = self.operands.run(wave.registers)
        return wave.broadcast(np.asarray(values[1], np.int64))


@dataclass(frozen=True)
class ClusterBarrier(Control):
    """`barrier.cluster`."""

    kind: Literal[".arrive", ".wait"]


class Described(ABC):
    """An action whose operands have fields to decode."""

    @abstractmethod
    def describe(self, wave: Wave, lane: int) -> str:
        """The decoded fields of a lane's operands (flat number), in words."""


class Collective(ABC):
    """An action for which lanes wait for others of their warp. Several steps may share one `key`."""

    key: str

    @abstractmethod
    def run(self, wave: Wave, mask: Bools | None) -> None: ...

    @abstractmethod
    def incomplete(self, wave: Wave, mask: Bools | None, arrived: Bools | None) -> Bools | None:
        """The lanes in `mask` that wait for others, alive and not among `come`; None if there are none."""

    def awaits(self, wave: Wave, lanes: Bools) -> str:
        """Names, for messages, the awaited threads or resource."""
        return "other threads of the warp"

    @abstractmethod
    def run_with(self, wave: Wave, mask: Bools, others: list[tuple[Collective, Bools]]) -> None:
        """Executes this action and those with the same key, each for its lanes, as one."""


@dataclass(frozen=True, eq=False)
class Provenance:
    """The instruction from which a step was made. `is_plain`: the step is that instruction, not a part of a
    call or of a function's prologue or epilogue. `caller` is the call by which it was inlined.
    """

    node: nodes.Instruction
    function: Function
    operands: Operands
    is_plain: bool
    caller: Provenance | None = None


@dataclass(frozen=True)
class Step:
    """An instruction. `guard` is the number of a predicate; `line` counts from 1. `source` is its origin;
    None for the end of the text.
    """

    line: int
    text: str
    action: Action | Control
    guard: int = -1
    negated: bool = False
    source: Provenance | None = None

    def taken(self, wave: Wave, mask: Bools | None) -> tuple[Bools | None, bool]:
        """The lanes of `mask` that execute it, and whether there are any."""
        if self.guard < 0:
            return mask, True
        holds = np.asarray(wave.registers[self.guard], np.bool_)
        if self.negated:
            holds = ~holds
        if holds.all():
            return mask, True
        if not holds.any():
            return mask, False
        here = np.logical_and(holds, wave.full_mask(mask))
        return wave.normal(here), bool(here.any())


@dataclass(frozen=True)
class Block:
    """Steps up to one that ends a block. `rank` is its position in the order of `flow`. The result of a
    `lanewise` block does not depend on how lanes are arranged in warps and blocks. A block that `polls` reads
    memory that other threads may change meanwhile. One that `writes` may change memory. One that `is_pure`
    only computes and jumps. From one that `is_endless`, threads reach only such blocks.
    """

    steps: tuple[Step, ...]
    rank: int = 0
    lanewise: bool = False
    polls: bool = False
    writes: bool = True
    is_pure: bool = False
    is_endless: bool = False


def successors(steps: tuple[Step, ...], following: int) -> list[int]:
    """The blocks at which threads continue after a block; `following` is the next in the text."""
    last = steps[-1]
    onward = [following] if last.guard >= 0 else []
    match last.action:
        case Transfer() as transfer:
            return [*onward, *transfer.successors(following)]
        case Leave():
            return onward
        case _:
            return [following]
