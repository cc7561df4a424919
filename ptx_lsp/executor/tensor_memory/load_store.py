"""`tcgen05.ld`, `tcgen05.ld.red`, `tcgen05.st` and `tcgen05.wait`."""

from __future__ import annotations

from abc import ABC

import numpy as np

from ptx_lsp.executor.arithmetic.literals import constant
from ptx_lsp.executor.arithmetic.program import Array, Bools, Program
from ptx_lsp.executor.instructions.access import sources
from ptx_lsp.executor.instructions.aligned import Aligned, Warps
from ptx_lsp.executor.instructions.threads import by_name, pointer
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.machine.observer import TensorUse
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.tensor_memory.in_flight import InFlight
from ptx_lsp.executor.tensor_memory.layouts import Numbers, Shape, shape
from ptx_lsp.executor.tensor_memory.memory import (
    COLUMNS,
    GROUP,
    LANES,
    Cells,
    TensorMemory,
    columns_text,
)
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.types import TYPES
from ptx_lsp.syntax import nodes

_QUARTERS = LANES // WARP_SIZE
_LOW = np.uint32(0xFFFF)
_HALF = np.uint32(16)
_NAN = np.uint32(0x7FFFFFFF)


class Access(Aligned, ABC):
    """A load or store of a shape at an address, the same for all lanes of a warp."""

    spaces: Spaces
    stores = False

    def __init__(self, shape: Shape, address: Program, split: int, *, packs: bool) -> None:
        """`split` is how far the second address is from the first; `packs` is `.pack::16b`."""
        super().__init__()
        self._shape = shape
        self._address = address
        self._split = split
        self._packs = packs

    def cells(self, warps: Warps) -> tuple[Numbers, Numbers, Numbers]:
        """The block, the lane and the column of each register (warps by threads by registers); with `packs`
        the left one of two columns.
        """
        wave, shape = warps.wave, self._shape
        words = np.asarray(warps.of(self._address.run(wave.registers)[0]), np.int64) & 0xFFFFFFFF
        differ = (words != words[:, :1]).any(axis=1)
        if differ.any():
            raise _error(warps, differ, "the lanes of the warp have different addresses")
        quarter = warps.of(wave.threads)[:, 0].astype(np.int64) // WARP_SIZE % _QUARTERS
        blocks = warps.of(wave.block_rows)[:, 0].astype(np.int64)
        lane, first = words[:, 0] >> 16, words[:, 0] & 0xFFFF
        inside = lane - WARP_SIZE * quarter
        wrong = (inside < 0) | (inside + shape.height > WARP_SIZE) | (inside % 16 != 0)
        if wrong.any():
            own = WARP_SIZE * int(quarter[wrong][0])
            raise _error(
                warps, wrong, f"the address is in lane {lane[wrong][0]} of Tensor Memory, but warp"
                f" {quarter[wrong][0]} of a warpgroup may access only {shape.height} of lanes {own} to"
                f" {own + 31}",
            )
        each = 2 if self._packs else 1
        width = shape.width * each
        memory = TensorMemory.of(wave)
        for begin in (first, first + self._split) if shape.second.any() else (first,):
            wrong = memory.unallocated(blocks, begin, width)
            if wrong.any():
                held = memory.held_text(int(blocks[wrong][0])) or "nothing"
                at = int(begin[wrong][0])
                beyond = f" (there are {COLUMNS})" if at + width > COLUMNS else ""
                raise _error(
                    warps, wrong, f"it accesses {columns_text(at, width)} of Tensor Memory{beyond}, but the"
                    f" block holds {held}",
                )
            if self.spaces.observer is not None:
                self._tell(warps, blocks, np.asarray(lane, np.int64), begin, width)
        columns = first[:, None, None] + shape.columns * each + shape.second * self._split
        return blocks[:, None, None] + 0 * columns, lane[:, None, None] + shape.rows, columns

    def _tell(self, warps: Warps, blocks: Numbers, first_lane: Numbers, begin: Numbers, width: int) -> None:
        groups = (1 << self._shape.height // GROUP) - 1
        places = zip(blocks.tolist(), first_lane.tolist(), begin.tolist(), strict=True)
        self.spaces.tell_tensor(warps.wave, [
            TensorUse(
                leader, block, groups << lane // GROUP, first, width, reads=not self.stores,
                writes=self.stores,
            )
            for leader, (block, lane, first) in zip(_leaders(warps).tolist(), places, strict=True)
        ])


class LoadCells(Access):
    """`tcgen05.ld`"""

    destinations: tuple[int | None, ...] = ()

    def execute(self, warps: Warps) -> None:
        self._load(warps)

    def _load(self, warps: Warps) -> Cells:
        block, lane, column = self.cells(warps)
        cells = TensorMemory.of(warps.wave).cells
        found = cells[block, lane, column]
        if self._packs:
            found = found & _LOW | cells[block, lane, column + 1] << _HALF
        for at, number in enumerate(self.destinations):
            warps.write(number, found[:, :, at])
        return found


class Reduce(LoadCells):
    """`tcgen05.ld.red`: also the least or greatest of what each thread loads."""

    result: int | None = None
    modifiers: frozenset[str] = frozenset()

    def execute(self, warps: Warps) -> None:
        warps.write(self.result, self._reduced(self._load(warps)))

    def _reduced(self, found: Cells) -> Array:
        greatest = ".max" in self.modifiers
        if ".f32" not in self.modifiers:
            signed = ".s32" in self.modifiers
            values = found.view(np.int32) if signed else found
            return (values.max(axis=2) if greatest else values.min(axis=2)).view(np.uint32)
        if ".abs" in self.modifiers:
            found = found & np.uint32(0x7FFFFFFF)
        is_nan = (found & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000)
        ordered = np.where(found >> np.uint32(31) == 1, ~found, found | np.uint32(1 << 31))
        if greatest:
            at = np.where(is_nan, np.uint32(0), ordered).argmax(axis=2)
        else:
            at = np.where(is_nan, np.uint32(0xFFFFFFFF), ordered).argmin(axis=2)
        best = np.take_along_axis(found, at[:, :, None], axis=2)[:, :, 0]
        none = is_nan.any(axis=2) if ".NaN" in self.modifiers else is_nan.all(axis=2)
        return np.where(none, _NAN, best)


class StoreCells(Access):
    """`tcgen05.st`"""

    stores = True

    def __init__(
        self, shape: Shape, address: Program, split: int, values: Program, *, packs: bool
    ) -> None:
        super().__init__(shape, address, split, packs=packs)
        self._values = values

    def execute(self, warps: Warps) -> None:
        wave = warps.wave
        values = np.stack(
            [np.asarray(warps.of(value), np.uint32) for value in self._values.run(wave.registers)], axis=2
        )
        lanes = _leaders(warps)
        store = _Store(TensorMemory.of(wave).cells, self.cells(warps), values, packs=self._packs)
        InFlight.of(wave).stores.begin(lanes, store)


class _Store:
    """Values on their way from each of some warps."""

    def __init__(
        self, cells: Cells, at: tuple[Numbers, Numbers, Numbers], values: Cells, *, packs: bool
    ) -> None:
        self._cells = cells
        self._at = at
        self._values = values
        self._packs = packs

    def read(self, chosen: Bools) -> None:
        """Reads nothing: the values are known from the beginning."""

    def land(self, chosen: Bools) -> None:
        block, lane, column = (one[chosen] for one in self._at)
        values = self._values[chosen]
        if self._packs:
            self._cells[block, lane, column] = values & _LOW
            self._cells[block, lane, column + 1] = values >> _HALF
        else:
            self._cells[block, lane, column] = values


class WaitCells(Aligned):
    """`tcgen05.wait::ld` and `tcgen05.wait::st`."""

    def __init__(self, *, stores: bool) -> None:
        super().__init__()
        self._stores = stores

    def execute(self, warps: Warps) -> None:
        flight = InFlight.existing(warps.wave)
        if self._stores and flight is not None:
            flight.stores.wait_all(np.flatnonzero(warps.wave.full_mask(warps.lanes)))


def load_store(
    node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces
) -> Aligned:
    """The action of `tcgen05.ld`, `tcgen05.ld.red` or `tcgen05.st`."""
    modifiers = match.candidate.choices.modifiers
    if ".spcompress" in match.candidate.entry.name:
        raise ExecutionError("a load that compresses is not supported", "unsupported")
    given = by_name(node, match)
    name = next(one for one in modifiers if one.startswith((".16x", ".32x")))
    times = int(next(one for one in modifiers if one.startswith(".x"))[2:])
    found = shape(name, times)
    address = pointer(given["taddr"], "", operands)[1]
    split = constant(given["immHalfSplitoff"]) if "immHalfSplitoff" in given else 0
    packs = ".pack::16b" in modifiers or ".unpack::16b" in modifiers
    if match.entry.name == "tcgen05.st":
        values = sources([(given["r"], TYPES[".b32"])], operands)
        store = StoreCells(found, address, int(split or 0), values, packs=packs)
        store.spaces = spaces
        return store
    made = Reduce if match.entry.name == "tcgen05.ld.red" else LoadCells
    load = made(found, address, int(split or 0), packs=packs)
    load.spaces = spaces
    load.destinations = operands.numbers(given["r"])
    if isinstance(load, Reduce):
        load.result, load.modifiers = operands.number(given["redval"]), modifiers
    return load


def _leaders(warps: Warps) -> Numbers:
    """The first lane of each warp."""
    full = warps.wave.full_mask(warps.lanes).reshape(-1, WARP_SIZE)[:, 0]
    return np.asarray(np.flatnonzero(full) * WARP_SIZE, np.int64)


def _error(warps: Warps, wrong: Bools, message: str) -> ExecutionError:
    wave = warps.wave
    chosen = wave.full_mask(warps.lanes).reshape(-1, WARP_SIZE).all(axis=1)
    lanes = np.zeros_like(chosen)
    lanes[np.flatnonzero(chosen)[wrong]] = True
    mask = np.repeat(lanes, WARP_SIZE).reshape(wave.shape)
    return ExecutionError(message, "tensor-memory", lanes=wave.thread_ids(mask))
