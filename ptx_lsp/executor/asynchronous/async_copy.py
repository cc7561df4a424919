"""`cp.async` and the instructions that wait for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ptx_lsp.executor.arithmetic.literals import constant
from ptx_lsp.executor.arithmetic.program import UNSIGNED, Bools, Program
from ptx_lsp.executor.asynchronous.mbarrier_steps import naming_threads
from ptx_lsp.executor.asynchronous.pending import Awaited, pending
from ptx_lsp.executor.instructions.access import sources
from ptx_lsp.executor.instructions.threads import (
    Indices,
    MemorySlice,
    Threads,
    by_name,
    memory_slices,
    pointer,
    shared_offsets,
    threads,
)
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.control import Action
from ptx_lsp.executor.machine.memory import Addresses, Space
from ptx_lsp.executor.machine.observer import CurrentStep
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.types import TYPES
from ptx_lsp.syntax import nodes


class Copy(Awaited):
    """A copy of `size` bytes for each thread of a row, into its shared memory."""

    def __init__(
        self, spaces: Spaces, row: Threads, targets: Indices, size: int, whole: list[MemorySlice],
        parts: list[MemorySlice], filled: Indices,
    ) -> None:
        """`whole` are sources that are read completely; of `parts` only the first `filled` bytes."""
        self._wave, self._spaces, self._lanes = row.wave, spaces, row.lanes
        self._step = CurrentStep.of(row.wave).step
        self._targets = targets
        self._size = size
        self._whole, self._parts = whole, parts
        self._filled = filled

    def read(self, chosen: Bools) -> None:
        """Reads nothing: only waiting completes such a copy."""

    def land(self, chosen: Bools) -> None:
        element = UNSIGNED[8 * min(self._size, 8)]
        values = np.zeros((chosen.size, self._size // element.itemsize), element)
        for part in self._whole:
            here = chosen[part.positions]
            first = part.offsets[here] // element.itemsize
            source = part.data[: part.data.size // element.itemsize * element.itemsize].view(element)
            for at in range(values.shape[1]):
                values[part.positions[here], at] = source[first + at]
        for part in self._parts:
            here = chosen[part.positions]
            positions = part.positions[here]
            filled = self._filled[positions].reshape(-1, 1)
            column = np.arange(self._size)
            index = part.offsets[here].reshape(-1, 1) + np.minimum(column, filled - 1)
            read = np.where(column < filled, part.data[index], np.uint8(0))
            values[positions] = read.astype(np.uint8).view(element)
        memory = self._wave.shared.reshape(-1).view(element)
        first = self._targets[chosen] // element.itemsize
        for at in range(values.shape[1]):
            memory[first + at] = values[chosen, at]

    def waited(self, chosen: Bools, *, is_read: bool) -> None:
        self._spaces.landed(
            self._wave, self._step, self._lanes[chosen], self._targets[chosen], self._size
        )


class Begin:
    """`cp.async`"""

    def __init__(
        self, spaces: Spaces, target: tuple[Space, Program], source: tuple[Space, Program], size: int,
        limit: Program | None, ignore: Program | None,
    ) -> None:
        """`limit` computes how many bytes are read, `ignore` whether none are."""
        self._spaces = spaces
        self._target, self._source = target, source
        self._size = size
        self._limit, self._ignore = limit, ignore

    def run(self, wave: Wave, mask: Bools | None) -> None:
        row = threads(wave, mask)
        size = self._size
        space, program = self._target
        targets = shared_offsets(self._spaces, row, row.compute(program)[0], space, size, "begin")
        space, program = self._source
        addresses = row.compute(program)[0].astype(np.uint64)
        filled = np.full(row.count, size, np.int64)
        if self._limit is not None:
            filled = row.compute(self._limit)[0].astype(np.int64)
            if bool((filled > size).any()):
                message = f"src-size exceeds the {size} bytes to copy"
                raise row.error(message, "unsupported", filled > size)
        if self._ignore is not None:
            filled[np.asarray(row.compute(self._ignore)[0], np.bool_)] = 0
        whole = self._reached(row, addresses, space, filled == size)
        parts = self._partly(row, addresses, space, filled)
        copy = Copy(self._spaces, row, targets, size, whole, parts, filled)
        pending(wave).copies.begin(row.lanes, copy)

    def _reached(
        self, row: Threads, addresses: Addresses, space: Space, chosen: Bools
    ) -> list[MemorySlice]:
        """The sources of some threads, with their positions in the row."""
        if chosen.all():
            return memory_slices(self._spaces, row, addresses, space, self._size)
        found = np.flatnonzero(chosen)
        parts = memory_slices(self._spaces, row.subset(chosen), addresses[chosen], space, self._size)
        return [replace(part, positions=found[part.positions]) for part in parts]

    def _partly(
        self, row: Threads, addresses: Addresses, space: Space, filled: Indices
    ) -> list[MemorySlice]:
        """The same for threads that read less, but something."""
        chosen = (filled > 0) & (filled < self._size)
        if not chosen.any():
            return []
        wrong = chosen & (addresses % np.uint64(self._size) != 0)
        if wrong.any():
            raise row.error(f"the access of {self._size} bytes is misaligned", "misaligned", wrong)
        some, found = row.subset(chosen), np.flatnonzero(chosen)
        last = addresses[chosen] + filled[chosen].astype(np.uint64) - np.uint64(1)
        memory_slices(self._spaces, some, last, space, 1)
        parts = memory_slices(self._spaces, some, addresses[chosen], space, 1)
        return [replace(part, positions=found[part.positions]) for part in parts]


@dataclass(frozen=True)
class Group:
    """`commit_group` and `wait_group` of `cp.async` or `cp.async.bulk`; `wait_all`."""

    kind: Literal["commit", "wait", "wait_all"]
    newest: int = 0
    bulk: bool = False
    only_read: bool = False

    def run(self, wave: Wave, mask: Bools | None) -> None:
        row = threads(wave, mask)
        queue = pending(wave).bulk if self.bulk else pending(wave).copies
        with naming_threads(row):
            match self.kind:
                case "commit":
                    queue.commit(row.lanes)
                case "wait":
                    queue.wait(row.lanes, self.newest, only_read=self.only_read)
                case "wait_all":
                    queue.wait_all(row.lanes)


class Arrival:
    """A deferred arrival at mbarriers."""

    def __init__(self, wave: Wave, at: Indices) -> None:
        self._wave = wave
        self._at = at

    def read(self, chosen: Bools) -> None:
        """Reads nothing."""

    def land(self, chosen: Bools) -> None:
        at = self._at[chosen]
        ones = np.ones(at.shape, np.int64)
        pending(self._wave).barriers.arrive(at, ones, None, drop=False, complete=True)


class ArriveLater:
    """`cp.async.mbarrier.arrive`"""

    def __init__(self, spaces: Spaces, address: tuple[Space, Program], *, counted: bool) -> None:
        """`counted`: the mbarrier expects the arrival already."""
        self._spaces = spaces
        self._address = address
        self._counted = counted

    def run(self, wave: Wave, mask: Bools | None) -> None:
        row = threads(wave, mask)
        space, program = self._address
        at = shared_offsets(self._spaces, row, row.compute(program)[0], space, 8, "update") >> 3
        found = pending(wave)
        with naming_threads(row):
            if not self._counted:
                found.barriers.add_pending(at)
            found.copies.begin(row.lanes, Arrival(wave, at), at)


def async_copy(
    node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces
) -> Action:
    """The action of `cp.async` and related instructions, except bulk copies."""
    name = match.entry.name
    if name.endswith("commit_group"):
        return Group("commit")
    if name.endswith("wait_all"):
        return Group("wait_all")
    if name.endswith("wait_group"):
        return Group("wait", _constant(node.operands[0]))
    given = by_name(node, match)
    if name == "cp.async.mbarrier.arrive":
        modifiers = match.candidate.choices.modifiers
        space = next((one for one in modifiers if one.startswith(".shared")), "")
        address = pointer(given["addr"], space, operands)
        return ArriveLater(spaces, address, counted=".noinc" in modifiers)
    size = given.get("cp-size", given.get("16"))
    assert size is not None
    limit, ignore = given.get("src-size"), given.get("ignore-src")
    return Begin(
        spaces, pointer(given["dst"], ".shared", operands), pointer(given["src"], ".global", operands),
        _constant(size),
        None if limit is None else sources([(limit, TYPES[".u32"])], operands),
        None if ignore is None else sources([(ignore, TYPES[".pred"])], operands),
    )


def _constant(operand: nodes.Expression) -> int:
    value = constant(operand)
    assert isinstance(value, int)
    return value
