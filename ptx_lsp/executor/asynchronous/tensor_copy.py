"""`cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`, and changes to tensor maps."""

from __future__ import annotations

from functools import partial

import numpy as np

from ptx_lsp.executor.arithmetic.literals import constant
from ptx_lsp.executor.arithmetic.program import UNSIGNED, Bools, Program
from ptx_lsp.executor.asynchronous.async_reduction import reduction
from ptx_lsp.executor.asynchronous.cluster import peers
from ptx_lsp.executor.asynchronous.mbarrier_steps import naming_threads
from ptx_lsp.executor.asynchronous.tensor_box import Box, Description, flushed, packed
from ptx_lsp.executor.asynchronous.transfer import Piece, Pieces, inspected, ranges
from ptx_lsp.executor.instructions.access import sources
from ptx_lsp.executor.instructions.threads import (
    Indices,
    Threads,
    by_name,
    pointer,
    shared_offsets,
    threads,
)
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.control import Action
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.memory import Bytes, Space
from ptx_lsp.executor.machine.observer import MemoryEvent, Use
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.tensor_map_fields import FIELDS, LETTERS, SIZE
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.schema.selector import Choices
from ptx_lsp.isa.types import TYPES
from ptx_lsp.syntax import nodes

_Pointer = tuple[Space, Program]


class TensorCopy:
    """A copy of a box between a tensor and shared memory, or its reduction into a tensor."""

    def __init__(
        self, spaces: Spaces, choices: Choices, map: _Pointer, shared: _Pointer, barrier: _Pointer | None,
        values: dict[str, Program],
    ) -> None:
        """`values` computes coordinates and other operands, by their names."""
        self._spaces = spaces
        self._choices = choices
        self._map, self._shared, self._barrier = map, shared, barrier
        self._values = values

    def run(self, wave: Wave, mask: Bools | None) -> None:
        row = threads(wave, mask)
        with naming_threads(row):
            self._begin(row)

    def _begin(self, row: Threads) -> None:
        space, program = self._map
        sizes = np.full(row.count, SIZE, np.int64)
        maps = ranges(
            self._spaces, row, row.compute(program)[0], space, sizes, use="read", alignment=64
        )
        given = {name: row.compute(program) for name, program in self._values.items()}
        space, program = self._shared
        places = shared_offsets(self._spaces, row, row.compute(program)[0], space, 16, None)
        loads = self._barrier is not None
        which = np.arange(row.count)
        barriers: Indices | None = None
        if self._barrier is not None:
            space, program = self._barrier
            addresses = shared_offsets(self._spaces, row, row.compute(program)[0], space, 8, "update")
            if "ctaMask" in given:
                ranks = addresses // row.wave.shared.shape[1] % row.wave.launch.cluster_blocks
                addresses = peers(row, addresses, given["ctaMask"][0])[1]
                which, places = peers(row, places, given["ctaMask"][0])
                if ".cta_group::2" in self._choices.modifiers:  # of a pair, the one with such a rank
                    stride = row.wave.shared.shape[1]
                    addresses += ((ranks[which] & 1) - (addresses // stride & 1)) * stride
            barriers = addresses >> 3
        pieces: list[Piece] = []
        described: Description | None = None
        for at, place in zip(which.tolist(), places.tolist(), strict=True):
            data, offset = maps[at]
            numbers = {
                name: [int(value.astype(np.int64)[at]) for value in values]
                for name, values in given.items()
            }
            with naming_threads(row.subset(np.arange(row.count) == at)):
                described = Description(data[offset : offset + SIZE], numbers)
                box = self._box(described, numbers, loads=loads)
            pieces.append(self._piece(row, at, place, described, box, loads=loads))
        if described is None:
            return
        sizes = np.array([piece.valid.size if piece.valid is not None else 0 for piece in pieces], np.int64)
        combine, element = None, UNSIGNED[8 * described.size]
        if "redOp" in self._choices:
            type = TYPES[_combined_type(described.type, self._choices["redOp"])]
            combine = reduction(self._choices["redOp"], type)
        pattern = inspected(self._choices.modifiers)
        Pieces(self._spaces, row.wave, pieces, barriers, sizes, combine, element, pattern).begin()

    def _box(self, described: Description, given: dict[str, list[int]], *, loads: bool) -> Box:
        mode = self._choices["load_mode"]
        coordinates = [_signed(one) for one in given["tensorCoords"]]
        # On sm_107a the rows of a scatter may be negative, which leaves them out.
        starts = coordinates[:1] if mode == ".tile::scatter4" else coordinates
        described.check_direction(starts, loads=loads)
        match mode:
            case "" | ".tile":
                return described.tile(coordinates)
            case ".tile::gather4" | ".tile::scatter4":
                return described.rows(coordinates[0], coordinates[1:])
            case ".im2col":
                return described.columns(coordinates, given["im2colInfo"])
            case ".im2col::w" | ".im2col::w::128":
                halo, offset = (one & 0xFFFF for one in given["im2colInfo"])
                return described.wide_columns(coordinates, mode, halo, offset)
            case ".im2col_no_offs":
                described.check_stored()
                return described.columns(coordinates, [])
            case _:
                described.check_stored()
                return described.wide_columns(coordinates, ".im2col::w")

    def _piece(
        self, row: Threads, at: int, place: int, described: Description, box: Box, *, loads: bool
    ) -> Piece:
        """What a thread moves, with the shared memory at `place` of the wave."""
        stride = row.wave.shared.shape[1]
        inside = place % stride
        shared = place - inside + described.shared_places(inside, box.units, loads=loads)
        here = np.arange(row.count) == at
        if int(shared.max()) >= place - inside + row.wave.launch.shared_bytes:
            raise row.error("the box does not fit in shared memory", "out-of-bounds", here)
        buffer = self._spaces.memory.find(described.address)
        if buffer is None:
            raise row.error("the address of the tensor is not in a buffer", "out-of-bounds", here)
        first = described.address - buffer.base
        places = first + box.places
        if bool((places[box.valid] >= buffer.data.size).any()):
            raise row.error(f"the tensor is larger than `{buffer.name}`", "out-of-bounds", here)
        memory, lane = row.wave.shared.reshape(-1), int(row.lanes[at])
        tensor: Bytes = buffer.data
        use: Use = "read" if loads else "update" if "redOp" in self._choices else "write"
        elements = places[box.valid][:: described.size]
        lanes = np.full(elements.shape, lane)
        self._spaces.tell(row.wave, MemoryEvent(
            use, ".global", buffer, tensor, described.size, lanes, elements, "copy"
        ))
        self._spaces.tell(row.wave, MemoryEvent(
            "write" if loads else "read", ".shared", None, memory, box.units * described.shared_unit,
            row.lanes[at : at + 1], np.array([place]), "copy",
        ))
        if loads:
            places = np.where(box.valid, places, first)
            flush = partial(flushed, type=described.type)
            return Piece(
                lane, tensor, places, memory, shared, box.valid, box.fill, change=flush
            )
        if not tensor.flags.writeable:
            raise row.error("the memory is read-only", "read-only", here)
        change = packed if described.shared_unit != described.unit else None
        return Piece(lane, memory, shared, tensor, places, box.valid, None, box.valid, change)


class Replace:
    """`tensormap.replace`: 128 bytes of zeros become a tensor map with no field set."""

    def __init__(
        self, spaces: Spaces, address: _Pointer, field: str, index: int, value: Program
    ) -> None:
        self._spaces = spaces
        self._address = address
        self._field, self._index = field, index
        self._value = value

    def run(self, wave: Wave, mask: Bools | None) -> None:
        row = threads(wave, mask)
        space, program = self._address
        sizes = np.full(row.count, SIZE, np.int64)
        maps = ranges(
            self._spaces, row, row.compute(program)[0], space, sizes, use="update", alignment=64
        )
        values = row.compute(self._value)[0].astype(np.uint64).tolist()
        for (data, offset), value in zip(maps, values, strict=True):
            field = np.frombuffer(data[offset : offset + SIZE].tobytes(), FIELDS).copy()
            if not data[offset : offset + SIZE].any():
                field["letters"] = LETTERS
            value &= (1 << 8 * field[self._field].dtype.itemsize) - 1
            if self._index >= 0:
                field[self._field][0, self._index] = value
            else:
                field[self._field] = value
            data[offset : offset + SIZE] = field.view(np.uint8)


class CopyMap:
    """`tensormap.cp_fenceproxy`: takes place immediately."""

    def __init__(self, spaces: Spaces, target: _Pointer, source: _Pointer) -> None:
        self._spaces = spaces
        self._target, self._source = target, source

    def run(self, wave: Wave, mask: Bools | None) -> None:
        row = threads(wave, mask)
        targets = self._ranges(row, self._target, "write")
        maps = self._ranges(row, self._source, "read")
        for (target, to), (source, at) in zip(targets, maps, strict=True):
            target[to : to + SIZE] = source[at : at + SIZE]

    def _ranges(self, row: Threads, pointer: _Pointer, use: Use) -> list[tuple[Bytes, int]]:
        space, program = pointer
        sizes = np.full(row.count, SIZE, np.int64)
        return ranges(
            self._spaces, row, row.compute(program)[0], space, sizes, use=use, alignment=64
        )


def tensor_copy(
    node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces
) -> Action:
    """The action of a copy or reduction of a box."""
    choices = match.candidate.choices
    given = by_name(node, match)
    values = {
        name: sources([(item, TYPES[type]) for item in _items(given[name])], operands)
        for name, type in _WIDTHS.items()
        if name in given
    }
    shared = given.get("dstMem") or given["srcMem"]
    return TensorCopy(
        spaces, choices, pointer(given["tensorMap"], "", operands), pointer(shared, ".shared", operands),
        pointer(given["mbar"], ".shared", operands) if "mbar" in given else None, values,
    )


_WIDTHS = {
    "tensorCoords": ".u32", "im2colInfo": ".u16", "ctaMask": ".u32", "newAddress": ".u64", "newSizes": ".u8",
    "newLowerStrides": ".u32", "newUpperStrides": ".u16",
}


def _items(operand: nodes.Expression) -> tuple[nodes.Expression, ...]:
    return operand.items if isinstance(operand, nodes.Vector) else (operand,)


def tensormap(
    node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces
) -> Action:
    """The action of `tensormap.replace` or `tensormap.cp_fenceproxy`."""
    if match.entry.name.endswith("cp_fenceproxy"):
        target, source = (
            pointer(operand, space, operands)
            for operand, space in zip(node.operands, (".global", ".shared"), strict=False)
        )
        return CopyMap(spaces, target, source)
    modifiers = match.candidate.choices.modifiers
    field = next(one for one in _FIELDS if f".{one}" in modifiers)
    space = next((one for one in (".global", ".shared::cta") if one in modifiers), "")
    index = -1
    if len(node.operands) == 3:
        number = constant(node.operands[1])
        assert isinstance(number, int)
        index = number
    wide = field in ("global_address", "global_stride")
    value = sources([(node.operands[-1], TYPES[".u64" if wide else ".u32"])], operands)
    return Replace(spaces, pointer(node.operands[0], space, operands), field, index, value)


_FIELDS = tuple(name for name in FIELDS.names or () if name not in ("unused", "letters"))


def _signed(value: int) -> int:
    return (value & 0xFFFFFFFF ^ 0x80000000) - 0x80000000


def _combined_type(type: str, operation: str) -> str:
    """The type that a reduction of a tensor's elements has."""
    if type.startswith((".b4", ".b6")):
        raise ExecutionError(f"`{operation}` does not allow elements of type `{type}`", "tensor-map")
    name = type.removesuffix(".ftz")
    if operation in (".and", ".or", ".xor"):
        return {".s32": ".b32", ".u32": ".b32", ".s64": ".b64", ".u64": ".b64"}.get(name, name)
    return name
