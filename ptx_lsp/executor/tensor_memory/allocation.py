"""`tcgen05.alloc`, `tcgen05.dealloc` and `tcgen05.relinquish_alloc_permit`.

With `.cta_group::2` a warp of each block of a pair takes part, and both get the same columns. A warp waits
until there is room, and until a warp of the other block has come.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator

import numpy as np

from ptx_lsp.executor.arithmetic.program import Array, Bools, Program
from ptx_lsp.executor.instructions.access import sources
from ptx_lsp.executor.instructions.aligned import Aligned, Warps
from ptx_lsp.executor.instructions.threads import by_name, pointer, shared_offsets, threads
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.control import Collective
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.machine.memory import Space
from ptx_lsp.executor.machine.observer import TensorUse
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.tensor_memory.in_flight import InFlight
from ptx_lsp.executor.tensor_memory.memory import Allocation, TensorMemory, columns_text
from ptx_lsp.executor.tensor_memory.operands import ALL_LANES, Numbers, line_of
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.types import TYPES
from ptx_lsp.syntax import nodes

_SIZES = (32, 64, 128, 256, 512)


class Managing(Aligned, ABC):
    """An instruction that manages columns: a warp of a block, or of each of a pair, executes it."""

    def __init__(self, spaces: Spaces, group: int, values: Program, line: int) -> None:
        super().__init__()
        self.spaces = spaces
        self.line = line
        self._group = group
        self._values = values
        if group == 2:
            self.key = f"tcgen05 {type(self).__name__}"

    def incomplete(self, wave: Wave, mask: Bools | None, arrived: Bools | None) -> Bools | None:
        waiting = super().incomplete(wave, mask, arrived)
        full = wave.full_mask(mask)
        if self._group == 2 and wave.launch.cluster_blocks % 2 == 0:
            waiting = _both(waiting, _alone(full, full if arrived is None else arrived))
        return _both(waiting, full & ~self.has_room(wave, full)[:, None])

    def awaits(self, wave: Wave, lanes: Bools) -> str:
        if self._group == 2 and super().incomplete(wave, lanes, None) is None:
            return "a warp of the other block of the pair"
        return super().awaits(wave, lanes)

    def has_room(self, wave: Wave, full: Bools) -> Bools:
        """The blocks of which the lanes need not wait for columns."""
        return np.ones(wave.shape[0], np.bool_)

    def run_with(self, wave: Wave, mask: Bools, others: list[tuple[Collective, Bools]]) -> None:
        for _, lanes in others:
            mask = mask | lanes
        self.run(wave, mask)

    def operands(self, wave: Wave, mask: Bools) -> list[Numbers]:
        """The operands, lane by lane; those of a warp must agree."""
        found: list[Numbers] = []
        for value in self._values.run(wave.registers):
            numbers = wave.broadcast(np.asarray(value, np.int64))
            rows = numbers.reshape(-1, WARP_SIZE)
            differ = (rows != rows[:, :1]).any(axis=1) & mask.reshape(-1, WARP_SIZE).any(axis=1)
            if differ.any():
                lanes = np.repeat(differ, WARP_SIZE).reshape(wave.shape)
                raise _error(wave, "the lanes of the warp have different operands", lanes & mask)
            found.append(numbers)
        return found

    def groups(self, wave: Wave, mask: Bools) -> Iterator[tuple[list[int], Bools]]:
        """The blocks that act together, each with the lanes of the acting warps."""
        if self._group == 2 and wave.launch.cluster_blocks % 2:
            raise _error(wave, "`.cta_group::2` requires clusters with an even number of blocks", mask)
        for block in np.flatnonzero(mask.any(axis=1)).tolist():
            rows = [block] if self._group == 1 else [block & ~1, block | 1]
            if self._group == 2 and block != rows[0]:
                continue
            lanes = np.zeros(wave.shape, np.bool_)
            lanes[rows] = mask[rows]
            yield from self._one_by_one(wave, lanes, rows)

    def _one_by_one(self, wave: Wave, lanes: Bools, rows: list[int]) -> Iterator[tuple[list[int], Bools]]:
        """If several warps of a block act, they do so one after the other."""
        by_warp = lanes.reshape(wave.shape[0], -1, WARP_SIZE)
        warps = [np.flatnonzero(by_warp[row].any(axis=1)).tolist() for row in rows]
        for together in zip(*warps, strict=False):
            chosen = np.zeros_like(by_warp)
            for row, warp in zip(rows, together, strict=True):
                chosen[row, warp] = by_warp[row, warp]
            yield rows, chosen.reshape(wave.shape)


class Allocate(Managing):
    """`tcgen05.alloc`"""

    def __init__(
        self, spaces: Spaces, group: int, values: Program, line: int, target: tuple[Space, Program]
    ) -> None:
        """`target` is where the address is stored."""
        super().__init__(spaces, group, values, line)
        self._target = target

    def has_room(self, wave: Wave, full: Bools) -> Bools:
        memory = TensorMemory.of(wave)
        found = np.ones(wave.shape[0], np.bool_)
        (count,) = self.operands(wave, full)
        for block in np.flatnonzero(full.any(axis=1)).tolist():
            wanted = int(count[block][full[block]][0])
            if wanted in _SIZES:
                found[block] = memory.place(block, wanted) is not None
        if self._group == 2 and wave.launch.cluster_blocks % 2 == 0:
            found = np.repeat(found.reshape(-1, 2).all(axis=1), 2)
        return found

    def awaits(self, wave: Wave, lanes: Bools) -> str:
        block = int(np.argmax(lanes.any(axis=1)))
        if self.has_room(wave, lanes)[block]:
            return super().awaits(wave, lanes)
        (count,) = self.operands(wave, lanes)
        wanted = int(count[block][lanes[block]][0])
        held = TensorMemory.of(wave).held_text(block)
        return f"{wanted} free columns of Tensor Memory, of which the block holds {held},"

    def execute(self, warps: Warps) -> None:
        wave = warps.wave
        mask = wave.full_mask(warps.lanes)
        memory = TensorMemory.of(wave)
        (counts,) = self.operands(wave, mask)
        for rows, lanes in self.groups(wave, mask):
            count = int(counts[lanes][0])
            if count not in _SIZES:
                raise _error(wave, f"{count} columns: only 32, 64, 128, 256 or 512 can be allocated", lanes)
            first = memory.place(rows[0], count)
            if first is None:  # another warp of this step has taken them
                raise _error(wave, f"there is no room for {count} columns of Tensor Memory", lanes)
            for row in rows:
                own = np.zeros(wave.shape, np.bool_)
                own[row] = lanes[row]
                memory.allocate(row, Allocation(first, count, self.line, own))
            self._store(wave, lanes, first)

    def _store(self, wave: Wave, lanes: Bools, first: int) -> None:
        """Each warp stores the address, by its first lane."""
        leaders = lanes & (np.cumsum(lanes, axis=1) % WARP_SIZE == 1)
        row = threads(wave, leaders)
        space, program = self._target
        offsets = shared_offsets(self.spaces, row, row.compute(program)[0], space, 4, "write")
        wave.shared.reshape(-1).view(np.uint32)[offsets >> 2] = first


class Free(Managing):
    """`tcgen05.dealloc`"""

    def execute(self, warps: Warps) -> None:
        wave = warps.wave
        mask = wave.full_mask(warps.lanes)
        addresses, counts = self.operands(wave, mask)
        memory = TensorMemory.of(wave)
        flight = InFlight.existing(wave)
        for rows, lanes in self.groups(wave, mask):
            address, count = int(addresses[lanes][0]), int(counts[lanes][0])
            first = address & 0xFFFF
            for row in rows:
                own = np.zeros(wave.shape, np.bool_)
                own[row] = lanes[row]
                if address >> 16:
                    message = f"{address:#x} is not the address of an allocation: it has a lane"
                    raise _error(wave, message, own)
                memory.free(row, first, count, own)
                leader = int(np.argmax(own.reshape(-1)))
                use = TensorUse(leader, row, ALL_LANES, first, count, writes=True)
                self.spaces.tell_tensor(wave, [use])
                using = None if flight is None else flight.operations.using(row, first, count)
                if using is not None:
                    raise _error(
                        wave, f"{columns_text(first, count)} are given back while `{using.text}` in line"
                        f" {using.line} has not completed: wait for its `tcgen05.commit`", own,
                    )


class Relinquish(Managing):
    """`tcgen05.relinquish_alloc_permit`"""

    def execute(self, warps: Warps) -> None:
        for block in np.flatnonzero(warps.wave.full_mask(warps.lanes).any(axis=1)).tolist():
            TensorMemory.of(warps.wave).relinquish(block, self.line)


def managing(
    node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces
) -> Managing:
    """The action of an instruction that manages columns."""
    modifiers = match.candidate.choices.modifiers
    group = 2 if ".cta_group::2" in modifiers else 1
    given, line = by_name(node, match), line_of(node, operands)
    read = [(given[name], TYPES[".u32"]) for name in ("taddr", "nCols") if name in given]
    values = sources(read, operands)
    match match.entry.name:
        case "tcgen05.alloc":
            space = ".shared" if ".shared::cta" in modifiers else ""
            return Allocate(spaces, group, values, line, pointer(given["dst"], space, operands))
        case "tcgen05.dealloc":
            return Free(spaces, group, values, line)
        case _:
            return Relinquish(spaces, group, values, line)


def _alone(full: Bools, arrived: Bools) -> Bools:
    """The lanes of warps for which no warp of the other block has come: each needs one of its own."""
    count = arrived.reshape(arrived.shape[0], -1, WARP_SIZE).any(axis=2).sum(axis=1)
    peer = count.reshape(-1, 2)[:, ::-1].reshape(-1)
    number = np.cumsum(full.reshape(full.shape[0], -1, WARP_SIZE).any(axis=2), axis=1)
    return full & np.repeat(number > peer[:, None], WARP_SIZE, axis=1)


def _both(one: Bools | None, other: Bools) -> Bools | None:
    if not other.any():
        return one
    return other if one is None else one | other


def _error(wave: Wave, message: str, lanes: Array) -> ExecutionError:
    return ExecutionError(message, "tensor-memory", lanes=wave.thread_ids(lanes))
