"""The bytes of a tensor that belong to a box, and their positions in shared memory."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.asynchronous.columns import Axis, halo_turns, walked
from ptx_lsp.executor.instructions.threads import Indices
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.memory import Bytes
from ptx_lsp.executor.machine.tensor_map_fields import (
    ELEMENTS,
    LOAD_MODES,
    PADDED,
    SLICES,
    Fields,
    decoded,
)
from ptx_lsp.executor.machine.tensor_map_limits import map_problem

_SIZES = (1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4, 8, 8, 4)
"""The bytes of an element by the number of its type; of packed ones a part of the bytes copied as one."""
_PACKED = 16
"""How many elements of 4 or 6 bits are copied as one."""
_PACKED_BYTES = {".b4x16": (8, 8), ".b4x16_p64": (8, 16), ".b6x16_p32": (12, 16)}
"""Their bytes in global and in shared memory."""
_OFFSETS = {3: 1 << 16, 4: 1 << 8, 5: 1 << 5}
"""By the rank of the tensor, what the offsets of `.im2col` are less than."""
_MOST_BYTES = 1 << 20
"""More than the shared memory of any block."""
_NAN = {2: 0x7FFF, 4: 0x7FFFFFFF, 8: (1 << 63) - 1}
_FLOATS = (".f16", ".f32", ".f32.ftz", ".f64", ".bf16", ".tf32", ".tf32.ftz")


@dataclass(frozen=True, eq=False)
class Box:
    """The bytes of units, which are copied as one, in the order of shared memory: their positions in the
    tensor, which of them are inside it, and the fill value of the others.
    """

    units: int
    places: Indices
    valid: Bools
    fill: Bytes


class Description:
    """The decoded contents of a tensor map."""

    def __init__(self, raw: Bytes, given: Mapping[str, Sequence[int]] | None = None) -> None:
        """`given` has the operands that replace fields. Raises ExecutionError for 128 bytes that are not a
        tensor map, or for one that the manual does not allow.
        """
        map = decoded(raw)
        if map is None:
            raise ExecutionError("the address does not hold a tensor map", "out-of-bounds")
        _override(map, given or {})
        problem = map_problem(map)
        if problem:
            raise _misused(f"invalid tensor map: {problem}")
        self.address = map["global_address"]
        self.rank = map["rank"] + 1
        self.mode = LOAD_MODES[map["load_mode"]]
        self.type = ELEMENTS[map["elemtype"]]
        self.size = _SIZES[map["elemtype"]]
        self.slice_bytes = SLICES[map["interleave_layout"]]
        if self.slice_bytes:
            self.unit, self.shared_unit = self.slice_bytes, self.slice_bytes
        else:
            self.unit, self.shared_unit = _PACKED_BYTES.get(self.type, (self.size, self.size))
        self.sizes = map["global_dim"][: self.rank]
        self.strides = [self.unit, *map["global_stride"]][: self.rank]
        self.box = map["box_dim"][: self.rank]
        self.steps = map["element_stride"][: self.rank]
        self.swizzle, self.atomicity = map["swizzle_mode"], map["swizzle_atomicity"]
        self.fills_nan = bool(map["fill_mode"])
        self.lower, self.upper = map["lower"], map["upper"]
        self.channels, self.pixels = map["channels"], map["pixels"]
        if self.slice_bytes:
            self.box[-2] = self.channels = 1
            if self.slice_bytes == 16 and self.swizzle:
                raise ExecutionError("16-byte interleave with swizzling is not supported", "unsupported")
        else:
            self.steps[0] = 1  # rows are read in one piece
            self.sizes[0] = self._units(self.sizes[0])
            if self.mode == ".tile":
                self.box[0] = self._units(self.box[0])
            else:
                self.channels = self._units(self.channels)
        if self.fills_nan and self.type not in _FLOATS:
            raise ExecutionError("a tensor of integers cannot be filled with NaN", "unsupported")

    def check_direction(self, coordinates: Sequence[int], *, loads: bool) -> None:
        """Raises ExecutionError for what is not copied in this direction, or not from these coordinates."""
        if not loads:
            least = min(coordinates)
            if least < 0:
                raise _misused(f"the coordinates of stores must not be negative, but one is {least}")
            if (self.swizzle, self.atomicity) == (3, 2):
                raise _misused("swizzling with 8-byte flips is for loads only")
        if self.type in PADDED:
            self._check_padded(coordinates[0], loads=loads)

    def _check_padded(self, first: int, *, loads: bool) -> None:
        if not loads and self.type == ".b4x16_p64":
            raise _misused("elements of type `.b4x16_p64` can only be loaded; stores have `.b4x16`")
        least = 128 if loads else 64
        name = self.type if loads else ".b6p2x16"
        extent = self.box[0] if self.mode == ".tile" else self.channels
        if first % least:
            raise _misused(f"the first coordinate of `{name}` must be a multiple of {least}, not {first}")
        if loads and (extent, self.sizes[0] % 8) != (8, 0):
            raise _misused(
                f"loads of `{name}` require boxes of 128 elements and rows of a multiple of 128, not"
                f" {extent * _PACKED} and {self.sizes[0] * _PACKED}"
            )

    def tile(self, coordinates: Sequence[int]) -> Box:
        """The box that begins at the coordinates, innermost first."""
        self._expect(coordinates, ".tile")
        coordinates = [self._units(coordinates[0]), *coordinates[1:]]
        axes = [
            start + np.arange(0, size, step)
            for start, size, step in zip(coordinates, self.box, self.steps, strict=True)
        ]
        if math.prod(axis.size for axis in axes) * self.shared_unit > _MOST_BYTES:
            raise ExecutionError("the box does not fit in shared memory", "out-of-bounds")
        return self._box(np.meshgrid(*axes[::-1], indexing="ij")[::-1])

    def rows(self, column: int, rows: Sequence[int]) -> Box:
        """Four rows of a matrix (`.tile::gather4` and `.tile::scatter4`)."""
        if self.rank != 2 or self.box[1] != 1:
            raise _misused("four rows require a matrix with boxes of one row")
        across, down = np.meshgrid(self._units(column) + np.arange(self.box[0]), np.array(rows))
        return self._box([across, down])

    def columns(self, coordinates: Sequence[int], offsets: Sequence[int]) -> Box:
        """Pixels in order from the coordinates on (`.im2col`), each moved by `offsets` (W, H, D)."""
        self._expect(coordinates, ".im2col")
        first = 0 if self.slice_bytes else 1
        spatial = range(first, first + self.rank - 2)
        moved = [*offsets, *[0] * (self.rank - 2 - len(offsets))]
        most = _OFFSETS[self.rank]
        if max(moved) >= most:
            raise _misused(
                f"offsets of `.im2col` in {self.rank} dimensions must be less than {most}, not {max(moved)}"
            )
        found, images = walked(
            np.arange(self.pixels), [self._axis(at, at - first, coordinates) for at in spatial]
        )
        pixels = [one + by for one, by in zip(found, moved, strict=True)]
        return self._pixels(coordinates, [*pixels, coordinates[-1] + images])

    def wide_columns(self, coordinates: Sequence[int], mode: str, halo: int = 0, offset: int = 0) -> Box:
        """Pixels of one row of each image from the coordinates on (`.im2col::w`, `.im2col::w::128`), then
        `halo` more; all in a bounding box that lies `offset` further to the right.
        """
        self._expect(coordinates, mode)
        most = 32 if mode.endswith("::128") else 512
        if not 0 <= halo < most or not 0 <= offset < 32:
            what, value, end = ("wHalo", halo, most) if not 0 <= halo < most else ("wOffset", offset, 32)
            raise _misused(f"`{what}` of `{mode}` must be less than {end}, not {value}")
        turns = halo_turns(None if mode.endswith("::128") else self.pixels, halo)
        (width,), images = walked(turns, [self._axis(1, 0, coordinates, offset, is_wide=True)])
        return self._pixels(coordinates, [width, *coordinates[2:-1], coordinates[-1] + images])

    def check_stored(self) -> None:
        """Raises ExecutionError for columns to store whose bounding box is not all in the tensor."""
        if any(one < 0 for one in self.lower) or any(one > 0 for one in self.upper):
            raise _misused(
                "the bounding box of columns to store must lie in the tensor: lower corners must not be"
                " negative, and upper ones not positive"
            )

    def shared_places(self, first: int, units: int, *, loads: bool) -> Indices:
        """The positions in shared memory of the bytes of units of a box at address `first`. Of padded units
        loads write the data, and stores read all bytes.
        """
        inside = self.unit if loads else self.shared_unit
        places = np.arange(units).reshape(-1, 1) * self.shared_unit + np.arange(inside)
        return self.swizzled(first + places.reshape(-1))

    def swizzled(self, at: Indices) -> Indices:
        """The positions of bytes that would be at these ones without swizzling."""
        line = at >> 7
        match self.swizzle, self.atomicity:
            case 0, _:
                return at
            case (1 | 4), _:
                return at ^ (line & 1) << 4
            case 2, _:
                return at ^ (line & 3) << 4
            case _, 0:
                return at ^ (line & 7) << 4
            case _, 1:
                return at ^ (line & 3) << 5
            case _, 2:
                return at ^ (line & 3) << 5 ^ (line & 1) << 3
            case _:
                return at ^ (line & 1) << 6

    def _axis(
        self, dimension: int, at: int, coordinates: Sequence[int], offset: int = 0, *, is_wide: bool = False
    ) -> Axis:
        """The range of the bounding box in a dimension, corner `at` of W, H and D."""
        first, end = self.lower[at] + offset, self.sizes[dimension] + self.upper[at] + offset
        start = coordinates[dimension] + offset
        if start >= end or (start < first and not is_wide):
            raise _misused(
                f"coordinate {dimension} is {start - offset}, but the bounding box goes from"
                f" {first - offset} to {end - 1 - offset}"
            )
        return Axis(start, first, end, self.steps[dimension])

    def _pixels(self, coordinates: Sequence[int], pixel: Sequence[Indices | int]) -> Box:
        """The channels of pixels: `pixel` has their coordinates in all dimensions but that of channels."""
        columns = [np.asarray(one).reshape(-1, 1) for one in pixel]
        if self.slice_bytes:
            columns.insert(self.rank - 2, np.array([[coordinates[-2]]]))
        else:
            columns.insert(0, (self._units(coordinates[0]) + np.arange(self.channels)).reshape(1, -1))
        return self._box(np.broadcast_arrays(*columns))

    def _units(self, count: int) -> int:
        """A size or coordinate of the innermost dimension, in units."""
        if self.slice_bytes or self.type not in _PACKED_BYTES:
            return count
        if count % _PACKED:
            message = (
                f"a row of `{self.type}` is copied in pieces of {_PACKED} elements, so its "
                f"size cannot be {count}"
            )
            raise ExecutionError(message, "unsupported")
        return count // _PACKED

    def _expect(self, coordinates: Sequence[int], mode: str) -> None:
        if len(coordinates) != self.rank or self.mode != mode:
            raise _misused(
                f"the tensor map is for `.{self.rank}d` and `{self.mode}`, not `.{len(coordinates)}d` and"
                f" `{mode}`"
            )

    def _box(self, index: Sequence[Indices]) -> Box:
        """The bytes of units; `index` has the places of all of them in each dimension."""
        inside = np.ones(index[0].shape, np.bool_)
        for one, size in zip(index, self.sizes, strict=True):
            inside &= (one >= 0) & (one < size)
        index = [np.where(inside, one, 0) for one in index]
        if sum(int(one.max()) * stride for one, stride in zip(index, self.strides, strict=True)) >> 62:
            raise ExecutionError("the tensor is larger than global memory", "out-of-bounds")
        places = np.zeros(inside.shape, np.int64)
        for one, stride in zip(index, self.strides, strict=True):
            places += one * stride
        places = places.reshape(-1, 1) + np.arange(self.unit)
        valid = np.repeat(inside.reshape(-1), self.unit)
        value = _NAN[self.size] if self.fills_nan else 0
        fill = np.frombuffer(value.to_bytes(self.size, "little"), np.uint8)
        return Box(inside.size, places.reshape(-1), valid, np.tile(fill, valid.size // self.size))


def packed(values: Bytes) -> Bytes:
    """The lower 6 bits of each byte, without gaps: 16 bytes become 12 (`.b6p2x16`)."""
    bits = np.unpackbits(values.reshape(-1, 1), axis=1, count=6, bitorder="little")
    return np.packbits(bits.reshape(-1), bitorder="little")


def flushed(values: Bytes, type: str) -> Bytes:
    """Floats of a type with `.ftz`: subnormals become zeros."""
    if not type.endswith(".ftz"):
        return values
    bits = values.view(np.uint32)
    small = (bits & np.uint32(0x7F800000)) == 0
    return np.where(small, bits & np.uint32(0x80000000), bits).astype(np.uint32).view(np.uint8)


def _override(map: Fields, given: Mapping[str, Sequence[int]]) -> None:
    """Replaces the address, the sizes and the strides where operands give others."""
    if "newAddress" in given:
        map["global_address"] = given["newAddress"][0] & (1 << 64) - 1
    for at, size in enumerate(given.get("newSizes", ())):
        map["global_dim"][at] = size & 0xFF
    for at, lower in enumerate(given.get("newLowerStrides", ())):
        upper = given["newUpperStrides"][0] >> 4 * at & 15
        map["global_stride"][at] = (lower & 0xFFFFFFFF) + (upper << 32) << 4


def _misused(message: str) -> ExecutionError:
    return ExecutionError(message, "tensor-map")

