"""The `tcgen05` operations in flight (PTX ISA, "Memory Consistency Model for 5th generation of TensorCore
operations").

1. `mma`, `cp` and `shift` take place at the latest moment that the manual allows: when a thread tests an
   mbarrier that a later `commit` of the same thread signals. With `Wave.hastens` some take place earlier.
2. Operations on the Tensor Memory of a block, or pair of blocks, take place in the order in which they began:
   the manual guarantees that for those that depend on each other.
3. A commit signals its mbarrier when all operations that its thread began before have taken place. It does
   not wait for those of other threads.
4. A store takes place when its warp waits with `tcgen05.wait::st`. A load reads at once: the manual has the
   registers depend on it, with or without `tcgen05.wait::ld`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.asynchronous.pending import Queue, pending
from ptx_lsp.executor.machine.wave import Wave, WaveState

Numbers = npt.NDArray[np.int64]

_OPERATION = 0.5
"""How often an operation is hastened, and not a commit."""


class Span(NamedTuple):
    """Columns of Tensor Memory of some blocks: for each, `width` of them from `firsts` on."""

    blocks: Numbers
    firsts: Numbers
    width: int


class Operation(Protocol):
    """The operations that threads have begun with one instruction, each its own."""

    line: int
    text: str

    def land(self, chosen: Bools) -> None:
        """Lets those of some threads take place."""
        ...

    def spans(self, chosen: Bools) -> Iterator[Span]:
        """The columns that they access."""
        ...


class Signal(Protocol):
    """The arrivals that threads have announced with a commit."""

    def land(self, chosen: Bools) -> None:
        """Lets some of the threads arrive."""
        ...

    def waited(self, chosen: Bools) -> None:
        """Threads have tested the mbarriers of some of them."""
        ...


@dataclass(eq=False)
class _Begun:
    """`lanes` have begun it, for the Tensor Memory of `owners`."""

    lanes: Numbers
    owners: Numbers
    operation: Operation
    left: Bools


@dataclass(eq=False)
class _Commit:
    """`lanes` have announced it, after the operations with lower numbers than `after`."""

    lanes: Numbers
    barriers: Numbers
    after: int
    signal: Signal
    left: Bools
    unwaited: Bools


class Operations:
    """The operations in the order in which they began, and the commits."""

    def __init__(self, wave: Wave) -> None:
        self._wave = wave
        self._begun: dict[int, _Begun] = {}
        """By number, in order."""
        self._commits: list[_Commit] = []
        self._count = 0

    @property
    def any_left(self) -> bool:
        return bool(self._begun) or any(one.left.any() for one in self._commits)

    def begin(self, lanes: Numbers, owners: Numbers, operation: Operation) -> None:
        if not lanes.size:
            return
        every = np.ones(lanes.shape, np.bool_)
        self._begun[self._count] = _Begun(lanes, owners, operation, every)
        self._count += 1
        if self._wave.eager:
            self._take_place(self._count - 1, every)
            self._clean()

    def commit(self, lanes: Numbers, signal: Signal, barriers: Numbers) -> None:
        if not lanes.size:
            return
        every = np.ones(lanes.shape, np.bool_)
        self._commits.append(_Commit(lanes, barriers, self._count, signal, every, every))
        if self._wave.eager:
            self._arrive(self._commits[-1], every)
            self._clean()

    def hasten(self, random: Random) -> None:
        """One of the operations or commits takes place now."""
        waiting = [one for one in self._commits if one.left.any()]
        if self._begun and (not waiting or random.random() < _OPERATION):
            number = random.choice(list(self._begun))
            self._take_place(number, self._begun[number].left)
        elif waiting:
            chosen = random.choice(waiting)
            self._arrive(chosen, chosen.left)
        self._clean()

    def wait_barriers(self, at: Numbers) -> None:
        """Completes the commits to these mbarriers, and the operations that they track."""
        for one in self._commits:
            chosen = one.unwaited & np.isin(one.barriers, at)
            if chosen.any():
                self._arrive(one, chosen & one.left)
                one.unwaited = one.unwaited & ~chosen
                one.signal.waited(chosen)
        self._clean()

    def wait_all(self) -> None:
        """Completes everything."""
        for one in self._begun.values():
            _land(one, one.left)
        for one in self._commits:
            self._arrive(one, one.left)
        self._clean()

    def using(self, block: int, first: int, count: int) -> Operation | None:
        """An operation in flight that accesses some of these columns of a block."""
        for one in self._begun.values():
            for span in one.operation.spans(one.left):
                firsts = span.firsts[span.blocks == block]
                if bool(((firsts < first + count) & (firsts + span.width > first)).any()):
                    return one.operation
        return None

    def _arrive(self, commit: _Commit, chosen: Bools) -> None:
        """Sentence 3."""
        if not chosen.any():
            return
        for number in reversed([number for number in self._begun if number < commit.after]):
            one = self._begun[number]
            tracked = one.left & np.isin(one.lanes, commit.lanes[chosen])
            if tracked.any():
                self._take_place(number, tracked)
        commit.left = commit.left & ~chosen
        commit.signal.land(chosen)

    def _take_place(self, number: int, chosen: Bools) -> None:
        """Sentence 2."""
        one = self._begun[number]
        owners = one.owners[chosen]
        for earlier in [other for at, other in self._begun.items() if at < number]:
            _land(earlier, earlier.left & np.isin(earlier.owners, owners))
        _land(one, chosen)

    def _clean(self) -> None:
        self._begun = {number: one for number, one in self._begun.items() if one.left.any()}
        self._commits = [one for one in self._commits if one.unwaited.any()]


def _land(one: _Begun, chosen: Bools) -> None:
    if chosen.any():
        one.left = one.left & ~chosen
        one.operation.land(chosen)


class InFlight(WaveState):
    """The `tcgen05` operations in flight in a wave."""

    def __init__(self, wave: Wave) -> None:
        super().__init__(wave)
        self.operations = Operations(wave)
        self.stores = Queue(wave)
        """Begun by the first lane of each warp."""
        self._collected: dict[tuple[int, str], Sequence[int]] = {}
        pending(wave).add(self)

    @property
    def any_left(self) -> bool:
        return self.operations.any_left or self.stores.any_left

    def hasten(self, random: Random) -> None:
        """Some of them take place now."""
        self.stores.hasten(random)
        self.operations.hasten(random)

    def complete(self) -> None:
        """Completes everything, waited for or not."""
        self.stores.wait_all()
        self.operations.wait_all()

    def wait_barriers(self, at: Numbers) -> None:
        self.operations.wait_barriers(at)

    def collect(self, owner: int, buffer: str, use: str, source: Sequence[int]) -> str:
        """Applies a modifier `.collector::BUFFER::USE` of an instruction whose matrix is at `source`; what is
        wrong with it, "" if nothing is.
        """
        filled = self._collected.get((owner, buffer))
        problem = ""
        if use in ("use", "lastuse"):
            if filled is None:
                problem = f"collector buffer {buffer} has not been filled"
            elif tuple(filled) != tuple(source):
                problem = f"collector buffer {buffer} was filled with another matrix"
        if use == "fill":
            self._collected[owner, buffer] = source
        elif use != "use":
            self._collected.pop((owner, buffer), None)
        return problem
