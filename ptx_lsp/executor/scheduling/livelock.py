"""Whether a wave can never end.

1. Each runnable thread returns to an earlier position with the same registers, while memory does not change.
   It then does so forever, in any scheduling order, unless another wave writes memory that it reads.
2. A wave of which all threads that can go on are in loops that compute, and that no jump leaves, never ends.
3. Clocks are not read as registers: a loop that reads one reaches a new state each time.

To look costs little: nothing before a wave has gone on for long, and then a comparison of registers that ends
with the first that differs. Where all are the same, and threads write, digests of memory show whether it
changes. If it does, they are computed again much later.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np

from ptx_lsp.executor.arithmetic.program import Array, Bools
from ptx_lsp.executor.machine.control import Block
from ptx_lsp.executor.machine.memory import Bytes, Memory
from ptx_lsp.executor.machine.wave import Wave

_PATIENCE = 1 << 9  # turns before anything is looked at

Groups = Mapping[int, Bools | None]


@dataclass(frozen=True)
class Stuck:
    """A wave that never ends, unless others write memory that it reads: not with `is_alone`.

    `went` has for each block the lanes that execute it again and again, `memory` a digest of global memory.
    """

    went: Mapping[int, Bools]
    is_alone: bool
    memory: bytes = b""


@dataclass
class _State:
    """A state that the wave was in, and who has gone on since. `memory` is a digest of that which the wave
    can write, taken where threads write.
    """

    groups: dict[int, Bools | None]
    registers: list[Array]
    calls: bytes
    memory: bytes = b""
    went: dict[int, Bools] = field(default_factory=dict[int, Bools])
    """For each block the lanes that have executed it."""


class LivelockDetector:
    """Watches one wave. `executed` are the blocks that were since it was emptied."""

    def __init__(
        self, blocks: tuple[Block, ...], wave: Wave, memory: Memory, executed: set[int]
    ) -> None:
        self._blocks = blocks
        self._wave = wave
        self._memory = memory
        self._executed = executed
        self._turns = 0
        self._next_look = _PATIENCE
        self._state: _State | None = None
        self._suspect = 0
        """The register that differed last."""

    def forget(self) -> None:
        """Others have gone on, and may have changed memory."""
        self._state = None

    def goes_on(self, block: int, mask: Bools | None) -> None:
        """A group takes its turn."""
        self._turns += 1
        if self._state is not None:
            full, went = self._wave.full_mask(mask), self._state.went
            went[block] = went[block] | full if block in went else full

    def stuck(self, groups: Groups, held: Collection[int]) -> Stuck | None:
        """Whether the wave never ends; `groups` of lanes by their blocks, of which those at `held` wait."""
        if self._turns < self._next_look or not groups:
            return None
        free = [block for block in groups if block not in held]
        if free and all(self._blocks[block].is_endless for block in free):
            return Stuck({block: self._wave.full_mask(groups[block]) for block in free}, is_alone=True)
        state = self._state
        if state is None or self._turns & (self._turns - 1) == 0:
            self._begin(groups)
        elif state.memory and self._own_memory() != state.memory:
            self._state, self._next_look = None, 2 * self._turns
        elif self._is_same(state, groups) and self._have_gone(state, groups, free):
            if state.memory or not any(self._blocks[block].writes for block in self._executed):
                return self._found(state)
            self._begin(groups, self._own_memory())
        return None

    def _begin(self, groups: Groups, memory: bytes = b"") -> None:
        registers = self._wave.registers
        self._executed.clear()
        values = [registers[number] for number in range(self._wave.size)]
        self._state = _State(dict(groups), values, self._calls(), memory)

    def _found(self, state: _State) -> Stuck:
        lanes: Bools = np.logical_or.reduce(list(state.went.values()))
        went: dict[int, Bools] = dict.fromkeys(self._executed, lanes)  # also those of parts of the wave
        is_alone = all(self._blocks[block].is_pure for block in went)
        return Stuck({**went, **state.went}, is_alone, _digest(self._global_memory()))

    def _is_same(self, state: _State, groups: Groups) -> bool:
        if state.groups.keys() != groups.keys():
            return False
        registers = self._wave.registers
        if not _equal(state.registers[self._suspect], registers[self._suspect]):
            return False
        for number, before in enumerate(state.registers):
            if not _equal(before, registers[number]):
                self._suspect = number
                return False
        if self._calls() != state.calls:
            return False
        full = self._wave.full_mask
        return all(_equal(full(mask), full(groups[block])) for block, mask in state.groups.items())

    def _calls(self) -> bytes:
        """What the wave knows besides registers and memory, as of its calls."""
        return b"".join(state.digest() for state in self._wave.states.values())

    def _have_gone(self, state: _State, groups: Groups, free: list[int]) -> bool:
        released = np.logical_or.reduce([np.zeros(self._wave.shape, np.bool_), *state.went.values()])
        return not any((self._wave.full_mask(groups[block]) & ~released).any() for block in free)

    def _own_memory(self) -> bytes:
        """Of all that the wave can write."""
        return _digest([self._wave.shared, self._wave.local, *self._global_memory()])

    def _global_memory(self) -> list[Bytes]:
        return [buffer.data for buffer in self._memory.buffers if buffer.data.flags.writeable]


def _digest(arrays: Sequence[Bytes]) -> bytes:
    found = blake2b(digest_size=16)
    for data in arrays:
        found.update(np.ascontiguousarray(data).data)
    return found.digest()


def _equal(one: Array, other: Array) -> bool:
    return one is other or (one.shape == other.shape and np.array_equal(one, other))
