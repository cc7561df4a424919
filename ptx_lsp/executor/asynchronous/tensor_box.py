"""The bytes of a tensor that belong to a box, and their positions in shared memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ptx_lsp.executor.arithmetic.program import Array, Bools
from ptx_lsp.executor.instructions.threads import Indices
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.memory import Bytes
from ptx_lsp.executor.machine.tensor_map import ELEMENTS, FIELDS, LETTERS

_SIZES = (1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4, 8)
"""The bytes of an element, by the number of its type, of 16 with `.b4x16`; padded ones are not there."""
_PACKED = 16
"""How many elements of `.b4x16` are copied as one."""
_NAN = {2: 0x7FFF, 4: 0x7FFFFFFF, 8: (1 << 63) - 1}
_FLOATS = (".f16", ".f32", ".f32.ftz", ".f64", ".bf16", ".tf32", ".tf32.ftz")


@dataclass(frozen=True, eq=False)
class Box:
    """Bytes in the order of shared memory: their positions in the tensor, which of them are inside it, and
    the fill value of the others.
    """

    places: Indices
    valid: Bools
    fill: Bytes


class Description:
    """The decoded contents of a tensor map."""

    def __init__(self, raw: Bytes) -> None:
        """Raises ExecutionError for 128 bytes that are not a tensor map, or for an unsupported one."""
        data = np.frombuffer(raw.tobytes(), FIELDS)[0]
        if bytes(data["letters"]) != LETTERS:
            raise ExecutionError("the address does not hold a tensor map", "out-of-bounds")
        self.address = int(data["global_address"])
        self.rank = int(data["rank"]) + 1
        number = int(data["elemtype"])
        if number >= len(_SIZES) or int(data["interleave_layout"]):
            what = f"elements of type `{ELEMENTS[number]}`" if number >= len(_SIZES) else "interleaving"
            raise ExecutionError(f"a tensor map with {what} is not supported yet", "unsupported")
        self.type = ELEMENTS[number]
        self.size = _SIZES[number]
        self.sizes = _integers(data["global_dim"])[: self.rank]
        self.strides = [self.size, *_integers(data["global_stride"])][: self.rank]
        self.box = _integers(data["box_dim"])[: self.rank]
        self.steps = _integers(data["element_stride"])[: self.rank]
        self.steps[0] = 1  # without interleaving rows are read in one piece
        self.swizzle = int(data["swizzle_mode"])
        self.atomicity = int(data["swizzle_atomicity"])
        self.fills_nan = bool(data["fill_mode"])
        self.is_im2col = bool(data["is_im2col"])
        self.sizes[0], self.box[0] = self._units(self.sizes[0]), self._units(self.box[0])
        self.lower, self.upper = _integers(data["lower"]), _integers(data["upper"])
        self.channels, self.pixels = self._units(int(data["channels"])), int(data["pixels"])
        if self.fills_nan and self.type not in _FLOATS:
            raise ExecutionError("a tensor of integers cannot be filled with NaN", "unsupported")

    def override(self, given: Mapping[str, Sequence[int]]) -> None:
        """Replaces the address, the sizes and the strides where operands give others."""
        if "newAddress" in given:
            self.address = given["newAddress"][0] & (1 << 64) - 1
        if "newSizes" in given:
            self.sizes = [one & 0xFF for one in given["newSizes"]]
            self.sizes[0] = self._units(self.sizes[0])
        if "newLowerStrides" in given:
            upper = given["newUpperStrides"][0]
            self.strides[1:] = [
                ((lower & 0xFFFFFFFF) + ((upper >> 4 * at & 15) << 32)) << 4
                for at, lower in enumerate(given["newLowerStrides"])
            ]

    def tile(self, coordinates: Sequence[int]) -> Box:
        """The box that begins at the coordinates, innermost first."""
        self._expect(coordinates, im2col=False)
        coordinates = [self._units(coordinates[0]), *coordinates[1:]]
        axes = [
            start + np.arange(0, size, step)
            for start, size, step in zip(coordinates, self.box, self.steps, strict=True)
        ]
        return self._box(np.meshgrid(*axes[::-1], indexing="ij")[::-1])

    def rows(self, column: int, rows: Sequence[int]) -> Box:
        """Four rows of a matrix (`.tile::gather4` and `.tile::scatter4`)."""
        if self.rank != 2 or self.box[1] != 1:
            raise ExecutionError("four rows require a matrix with boxes of one row", "unsupported")
        across, down = np.meshgrid(self._units(column) + np.arange(self.box[0]), np.array(rows))
        return self._box([across, down])

    def columns(self, coordinates: Sequence[int], offsets: Sequence[int]) -> Box:
        """Pixels in order from the coordinates on (`.im2col`), each moved by `offsets` (W, H, D)."""
        self._expect(coordinates, im2col=True)
        spatial = range(1, self.rank - 1)
        low = [self.lower[at - 1] for at in spatial]
        counts = [
            max(0, (self.sizes[at] - 1 + self.upper[at - 1] - low[at - 1]) // self.steps[at] + 1)
            for at in spatial
        ]
        left = np.arange(self.pixels)
        pixel: list[Indices] = []
        for at, (first, count) in enumerate(zip(low, counts, strict=True), 1):
            started = (coordinates[at] - first) // self.steps[at]
            inside = coordinates[at] - first - started * self.steps[at]
            position = left + started
            offset = offsets[at - 1] if at <= len(offsets) else 0
            pixel.append(first + inside + position % max(count, 1) * self.steps[at] + offset)
            left = position // max(count, 1)
        pixel.append(coordinates[-1] + left)
        channel = self._units(coordinates[0]) + np.arange(self.channels)
        shape = (self.pixels, self.channels)
        spread = [np.broadcast_to(one.reshape(-1, 1), shape) for one in pixel]
        return self._box([np.broadcast_to(channel, shape), *spread])

    def swizzled(self, first: int, count: int) -> Indices:
        """The positions in shared memory of the bytes of a box at address `first`."""
        at = first + np.arange(count)
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

    def _units(self, count: int) -> int:
        """A size or coordinate of the innermost dimension, in what is copied as one."""
        if self.type != ".b4x16":
            return count
        if count % _PACKED:
            message = (
                f"a row of `.b4x16` is copied in pieces of {_PACKED} elements, so its "
                f"size cannot be {count}"
            )
            raise ExecutionError(message, "unsupported")
        return count // _PACKED

    def _expect(self, coordinates: Sequence[int], *, im2col: bool) -> None:
        if len(coordinates) != self.rank or self.is_im2col != im2col:
            kind = "im2col" if self.is_im2col else "tile"
            raise ExecutionError(
                f"the tensor map is for `.{self.rank}d` and `.{kind}`", "unsupported"
            )

    def _box(self, index: Sequence[Indices]) -> Box:
        """The bytes of elements; `index` has the places of all of them in each dimension."""
        inside = np.ones(index[0].shape, np.bool_)
        places = np.zeros(index[0].shape, np.int64)
        for one, size, stride in zip(index, self.sizes, self.strides, strict=True):
            inside &= (one >= 0) & (one < size)
            places += one * stride
        places = np.where(inside, places, 0).reshape(-1, 1) + np.arange(self.size)
        valid = np.repeat(inside.reshape(-1), self.size)
        value = _NAN[self.size] if self.fills_nan else 0
        fill = np.frombuffer(value.to_bytes(self.size, "little"), np.uint8)
        return Box(places.reshape(-1), valid, np.tile(fill, inside.size))


def flushed(values: Bytes, type: str) -> Bytes:
    """Floats of a type with `.ftz`: subnormals become zeros."""
    if not type.endswith(".ftz"):
        return values
    bits = values.view(np.uint32)
    small = (bits & np.uint32(0x7F800000)) == 0
    return np.where(small, bits & np.uint32(0x80000000), bits).astype(np.uint32).view(np.uint8)


def _integers(values: Array) -> list[int]:
    return [int(one) for one in values.tolist()]
