"""The threads that execute an instruction, in one row: per-thread values have one dimension.

Used by instructions with special memory accesses; arithmetic works directly on the arrays of a wave.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Array, Bools, Program
from ptx_lsp.executor.instructions.access import located
from ptx_lsp.executor.machine.address_resolution import SPACES, ResolvedAddress, Spaces
from ptx_lsp.executor.machine.errors import ExecutionError, Kind
from ptx_lsp.executor.machine.memory import Bytes, Space
from ptx_lsp.executor.machine.observer import Use
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.syntax import nodes

Indices: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Threads:
    """The lanes of `mask` that exist; `lanes` are their numbers in the wave, block by block."""

    wave: Wave
    mask: Bools
    lanes: Indices

    @property
    def count(self) -> int:
        return self.lanes.size

    @property
    def blocks(self) -> Indices:
        """The block of each, counted in the wave."""
        return self.lanes // self.wave.shape[1]

    def of(self, value: Array) -> Array:
        """The element of each thread."""
        return self.wave.broadcast(value).reshape(-1)[self.lanes]

    def compute(self, program: Program) -> list[Array]:
        """The outputs of a program, an element for each thread."""
        return [self.of(value) for value in program.run(self.wave.registers)]

    def write(self, number: int, values: Array) -> None:
        """Gives a register of each thread its element."""
        old = self.wave.registers[number]
        result = np.array(self.wave.broadcast(old)).reshape(-1)
        result[self.lanes] = values.astype(old.dtype, copy=False)
        self.wave.registers[number] = result.reshape(self.wave.shape)

    def subset(self, chosen: Bools) -> Threads:
        """A subset of the threads."""
        lanes = self.lanes[chosen]
        mask = np.zeros(self.mask.size, np.bool_)
        mask[lanes] = True
        return Threads(self.wave, mask.reshape(self.mask.shape), lanes)

    def error(self, message: str, kind: Kind, wrong: Bools | None = None) -> ExecutionError:
        """The error to raise for some threads (None: all)."""
        mask = self.mask if wrong is None else self.subset(wrong).mask
        return ExecutionError(message, kind, lanes=self.wave.thread_ids(mask))


@dataclass(frozen=True, eq=False)
class MemorySlice:
    """Memory that the threads at `positions` of a row access: their offsets in `data`, in bytes."""

    data: Bytes
    offsets: Indices
    positions: Indices
    address: ResolvedAddress


def threads(wave: Wave, mask: Bools | None) -> Threads:
    here = wave.exists if mask is None else mask
    return Threads(wave, here, np.flatnonzero(here))


def memory_slices(
    spaces: Spaces, row: Threads, addresses: Array, space: Space, size: int, use: Use | None = "read"
) -> list[MemorySlice]:
    """The memory of an access of `size` bytes by each thread. `use` is for observers (None: not reported)."""
    parts: list[MemorySlice] = []
    found = spaces.resolve(row.wave, addresses.astype(np.uint64), space, size, row.mask, use)
    for reach, part in found:
        positions = np.arange(row.count) if part is None else np.flatnonzero(part)
        parts.append(MemorySlice(reach.data.reshape(-1), reach.offsets.astype(np.int64), positions, reach))
    return parts


def shared_offsets(
    spaces: Spaces, row: Threads, addresses: Array, space: Space, size: int, use: Use | None = "read"
) -> Indices:
    """The offset in the wave's shared memory that each thread accesses. Raises ExecutionError for other
    memory.
    """
    offsets = np.zeros(row.count, np.int64)
    for part in memory_slices(spaces, row, addresses, space, size, use):
        if not np.may_share_memory(part.data, row.wave.shared):
            wrong = np.zeros(row.count, np.bool_)
            wrong[part.positions] = True
            raise row.error("the address is not in shared memory", "out-of-bounds", wrong)
        offsets[part.positions] = part.offsets
    return offsets


def by_name(node: nodes.Instruction, match: Match) -> dict[str, nodes.Expression]:
    """The operands by the names that they have in the row, those inside brackets too."""
    found: dict[str, nodes.Expression] = {}
    for operand, (place, _) in zip(node.operands, match.places, strict=True):
        found[place.name] = operand
        if isinstance(operand, nodes.Address):
            parts = place.parts
            if len(parts) > len(operand.items):
                parts = tuple(part for part in parts if not part.groups)
            for part, item in zip(parts, operand.items, strict=False):
                found.setdefault(part.name, item)
    return found


def pointer(
    operand: nodes.Expression, space: str, operands: Operands
) -> tuple[Space, Program]:
    """The program that computes an address in a state space: ".shared::cta"; "" or several: a generic
    address.
    """
    found: Space = SPACES.get(space.partition("::")[0], "") if "|" not in space else ""
    return located(operand, found, operands)
