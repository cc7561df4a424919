"""Tensor maps: `tensor_map(array, box=...)` describes a tensor for `cp.async.bulk.tensor`.

To PTX a tensor map is 128 bytes that only its own instructions understand. Here they are, little-endian:

    byte    0    address of the tensor in global memory
    byte    8    bytes from one element to the next in dimensions 1 to 4, 64 bits each
    byte   40    sizes in elements of dimensions 0 to 4, 32 bits each; dimension 0 is the innermost
    byte   60    sizes of the box
    byte   80    steps through the box ("traversal strides")
    byte  100    element type, rank less 1, interleave layout, swizzle mode, swizzle atomicity, fill mode, all
                 numbered as for `tensormap.replace`; the number of the load mode in LOAD_MODES; 0
    byte  108    im2col: the lower corner in W, H, D, then the upper one, 16 bits each
    byte  120    im2col: channels of a pixel, pixels of a column, 16 bits each
    byte  124    the letters TMAP

Where channels are interleaved, dimension 0 is the width, the one before the last has slices of channels, and
strides and sizes are those of slices of 16 or 32 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.memory import Bytes, Memory, bytes_of

SIZE = 128
FIELDS = np.dtype([
    ("global_address", "<u8"),
    ("global_stride", "<u8", (4,)),
    ("global_dim", "<u4", (5,)),
    ("box_dim", "<u4", (5,)),
    ("element_stride", "<u4", (5,)),
    ("elemtype", "u1"),
    ("rank", "u1"),
    ("interleave_layout", "u1"),
    ("swizzle_mode", "u1"),
    ("swizzle_atomicity", "u1"),
    ("fill_mode", "u1"),
    ("load_mode", "u1"),
    ("unused", "u1"),
    ("lower", "<i2", (3,)),
    ("upper", "<i2", (3,)),
    ("channels", "<u2"),
    ("pixels", "<u2"),
    ("letters", "S4"),
])
LETTERS = b"TMAP"

ELEMENTS = (
    ".u8", ".u16", ".u32", ".s32", ".u64", ".s64", ".f16", ".f32", ".f32.ftz", ".f64", ".bf16", ".tf32",
    ".tf32.ftz", ".b4x16", ".b4x16_p64", ".b6x16_p32",
)
"""The types of elements, in the order of their numbers. The last one is `.b6p2x16` to stores."""
PADDED = (".b4x16_p64", ".b6x16_p32")
"""Types whose elements are unpacked in shared memory."""
Swizzle = Literal["none", "32B", "64B", "128B", "96B"]
Atomicity = Literal["16B", "32B", "32B flip 8B", "64B"]
Fill = Literal["zeros", "nan"]
Interleave = Literal["none", "16B", "32B"]
Wide = Literal["", "W", "W128"]
SWIZZLES: tuple[Swizzle, ...] = ("none", "32B", "64B", "128B", "96B")
ATOMICITIES: tuple[Atomicity, ...] = ("16B", "32B", "32B flip 8B", "64B")
FILLS: tuple[Fill, ...] = ("zeros", "nan")
INTERLEAVES: tuple[Interleave, ...] = ("none", "16B", "32B")
WIDES: tuple[Wide, ...] = ("", "W", "W128")
LOAD_MODES = (".tile", ".im2col", ".im2col::w", ".im2col::w::128")
"""How copies use a tensor map; stores of columns have other names for these modes."""
SLICES = (0, 16, 32)
"""The bytes of a slice of channels, by the interleave layout."""
_TYPES = {
    "u1": ".u8", "i1": ".u8", "u2": ".u16", "i2": ".u16", "u4": ".u32", "i4": ".s32", "u8": ".u64",
    "i8": ".s64", "f2": ".f16", "f4": ".f32", "f8": ".f64",
}

_BYTES = {name: int(dtype[1:]) for dtype, name in _TYPES.items()} | {
    ".bf16": 2, ".f32.ftz": 4, ".tf32": 4, ".tf32.ftz": 4,
}
"""Of the types whose elements are such as arrays have."""
_BITS = {".b4x16": 4, ".b4x16_p64": 4, ".b6x16_p32": 6, ".b6p2x16": 6}
"""Of the types whose elements are packed in the array, which has bytes."""
_MOST_CHANNELS, _MOST_PIXELS = 256, 1024


@dataclass(frozen=True, eq=False)
class TensorMap:
    """A tensor map for an array; its address is known once it is launched with."""

    array: npt.NDArray[np.generic]
    fields: Bytes

    def passed(self, memory: Memory, name: str, size: int) -> bytes:
        """Puts the array into global memory: the 128 bytes, or for a smaller parameter their address."""
        fields = self.fields.copy()
        fields.view(FIELDS)["global_address"] = memory.add(name, bytes_of(self.array))
        if size == SIZE:
            return fields.tobytes()
        return memory.add(f"{name} (tensor map)", fields).to_bytes(8, "little")


def tensor_map(
    array: npt.NDArray[np.generic],
    *,
    box: Sequence[int],
    steps: Sequence[int] | None = None,
    type: str = "",
    swizzle: Swizzle = "none",
    atomicity: Atomicity = "16B",
    fill: Fill = "zeros",
    lower: Sequence[int] = (),
    upper: Sequence[int] = (),
    channels: int = 0,
    pixels: int = 0,
    interleave: Interleave = "none",
    wide: Wide = "",
) -> TensorMap:
    """Describes an array of one to five dimensions, in one piece, for copies of boxes of it.

    `box` and `steps` are elements in the order of the array's shape, outermost first (PTX counts dimensions
    from the innermost). `type` is that of the elements where the array's own does not say it (".bf16"); the
    array of elements of 4 or 6 bits (".b4x16", ".b4x16_p64", ".b6x16_p32", ".b6p2x16") has bytes in which
    they are packed, and `box` counts elements.
    With `channels` and `pixels` the map is for im2col: the box is not used then, and `lower` and `upper`
    are the corners in the order D, H, W. `wide` makes it one for `.im2col::w` ("W") or `.im2col::w::128`
    ("W128"), whose corners have a width only.
    With `interleave` the array has one more dimension, the innermost: slices of channels of 16 or 32 bytes.
    The others are N, slices, D, H, W, and `box` and `steps` count slices.
    Pass it to `launch` for a parameter of 128 bytes, or as a pointer.
    Raises ExecutionError where the manual allows no such tensor.
    """
    rank = array.ndim - (interleave != "none")
    steps = (1,) * rank if steps is None else steps
    if not 1 <= rank <= 5 or not len(box) == len(steps) == rank:
        raise _wrong(
            f"the tensor requires an array of 1 to 5 dimensions and as many sizes, not {rank}"
        )
    if not array.flags.c_contiguous:
        raise _wrong("the array must be contiguous")
    if any(not 1 <= one <= 256 for one in box):
        raise _wrong("a box must have 1 to 256 elements in each dimension")
    if any(not 1 <= one <= 8 for one in steps):
        raise _wrong("a step must be from 1 to 8 elements")
    if max(len(lower), len(upper)) > 3 or any(not -(1 << 15) <= one < 1 << 15 for one in (*lower, *upper)):
        raise _wrong("a corner has at most three numbers, of 16 bits each")
    if not 0 <= channels <= _MOST_CHANNELS or not 0 <= pixels <= _MOST_PIXELS:
        raise _wrong(f"a column has at most {_MOST_CHANNELS} channels and {_MOST_PIXELS} pixels")
    if wide and not channels:
        raise _wrong("a tensor map for `.im2col::w` requires `channels`")
    name, bits = _element(array, type)
    strides, width = _rows(array, interleave, bits)
    if interleave == "none" and not channels and box[-1] * bits % 128:
        raise _wrong("the rows of a box must be a multiple of 16 bytes")
    if any(one % 16 for one in strides):
        raise _wrong(
            "the elements of a row must be adjacent, and rows a multiple of 16 bytes apart"
        )
    data = np.zeros(1, FIELDS)
    data["global_stride"][0, : rank - 1] = strides
    data["global_dim"][0, :rank] = (*array.shape[: rank - 1], width)[::-1]
    data["box_dim"][0, :rank] = tuple(box)[::-1]
    data["element_stride"][0, :rank] = tuple(steps)[::-1]
    data["elemtype"], data["rank"] = ELEMENTS.index(name), rank - 1
    data["swizzle_mode"] = SWIZZLES.index(swizzle)
    data["swizzle_atomicity"] = ATOMICITIES.index(atomicity)
    data["interleave_layout"] = INTERLEAVES.index(interleave)
    data["fill_mode"] = fill == "nan"
    if channels:
        data["load_mode"] = 1 + WIDES.index(wide)
        data["channels"], data["pixels"] = channels, pixels
        data["lower"][0, : len(lower)] = tuple(lower)[::-1]
        data["upper"][0, : len(upper)] = tuple(upper)[::-1]
    problem = map_problem(data[0])
    if problem:
        raise _wrong(problem)
    data["letters"] = LETTERS
    return TensorMap(array, data.view(np.uint8))


def _element(array: npt.NDArray[np.generic], type: str) -> tuple[str, int]:
    """The type of the elements of an array, and how many bits each of them has."""
    size = array.dtype.itemsize
    name = type or _TYPES.get(array.dtype.str[1:], "")
    if name in _BITS:
        if size != 1:
            raise _wrong(f"elements of type `{name}` must be packed in an array of bytes")
        return ".b6x16_p32" if name == ".b6p2x16" else name, _BITS[name]
    if name not in ELEMENTS:
        raise _wrong(f"`{name or array.dtype}` is not an element type of tensors")
    if _BYTES[name] != size:
        raise _wrong(
            f"elements of type `{name}` have {_BYTES[name]} bytes, but those of the array {size}"
        )
    return name, 8 * size


def _rows(
    array: npt.NDArray[np.generic], interleave: Interleave, bits: int
) -> tuple[tuple[int, ...], int]:
    """The strides in bytes of all dimensions but the innermost, which come first to PTX, and the size of the
    innermost.
    """
    if interleave == "none":
        total = array.shape[-1] * array.itemsize * 8
        if total % bits:
            raise _wrong(f"rows of {total // 8} bytes do not hold a whole number of elements of {bits} bits")
        return array.strides[-2::-1], total // bits
    size, slice_bytes = array.strides[-2], SLICES[INTERLEAVES.index(interleave)]
    if size != slice_bytes:
        raise _wrong(
            f"with {interleave} interleave the innermost dimension is a slice of {slice_bytes} bytes,"
            f" not {size}"
        )
    return array.strides[-3::-1], array.shape[-2]


def map_problem(map: np.void) -> str:
    """Why the manual does not allow a tensor map (a record of FIELDS) with such a layout; "" if it does."""
    return next(_problems(map), "")


def _problems(map: np.void) -> Iterator[str]:
    rank = int(map["rank"]) + 1
    mode, name = LOAD_MODES[int(map["load_mode"])], ELEMENTS[int(map["elemtype"])]
    swizzle, flips = SWIZZLES[int(map["swizzle_mode"])], int(map["swizzle_atomicity"]) == 2
    slice_bytes = SLICES[int(map["interleave_layout"])]
    width = int(map["global_dim"][1])
    if mode != ".tile" and rank < 3:
        yield f"`{mode}` requires a tensor of 3 to 5 dimensions, not {rank}"
    if "::w" in mode:
        if slice_bytes:
            yield f"`{mode}` does not allow interleaved channels"
        if swizzle == "none":
            yield f"`{mode}` requires a swizzle mode"
        if flips:
            yield f"`{mode}` does not allow swizzling with 8-byte flips"
        if mode == ".im2col::w::128" and swizzle == "96B":
            yield f"`{mode}` does not allow swizzle mode 96B"
        first, last = int(map["lower"][0]), width - 1 + int(map["upper"][0])
        if first > last:
            yield f"the bounding box has no pixels: it begins at width {first} and ends at {last}"
    if slice_bytes:
        if rank < 3:
            yield f"{slice_bytes}-byte interleave requires a tensor of 3 to 5 dimensions, not {rank}"
        if slice_bytes == 32 and swizzle != "32B":
            yield f"32-byte interleave requires swizzle mode 32B, not {swizzle}"
        if swizzle == "96B":
            yield "swizzle mode 96B does not allow interleaved channels"
        if slice_bytes == 32:
            yield from _unaligned(map, 32, "32-byte interleave")
    if name in PADDED:
        yield from _padding_problems(map, name, is_interleaved=slice_bytes > 0, is_flipped=flips)


def _padding_problems(map: np.void, name: str, *, is_interleaved: bool, is_flipped: bool) -> Iterator[str]:
    """Of elements of 4 or 6 bits with padding. What sm_103a and sm_107a allow in stores is allowed here."""
    least, alignment = (64, 16) if name == ".b6x16_p32" else (128, 32)
    row, size = "a box", int(map["box_dim"][0])
    if int(map["load_mode"]):
        row, size = "a pixel", int(map["channels"])
    if is_interleaved:
        yield f"elements of type `{name}` cannot be interleaved"
    if int(map["global_dim"][0]) % least:
        yield f"rows of `{name}` must have a multiple of {least} elements, not {int(map['global_dim'][0])}"
    if size not in (least, 128):
        yield f"{row} must have 128 elements of type `{name}` in a row, not {size}"
    swizzle = SWIZZLES[int(map["swizzle_mode"])]
    if swizzle not in ("none", "128B") and (swizzle != "64B" or least == 128):
        yield f"elements of type `{name}` do not allow swizzle mode {swizzle}"
    if is_flipped:
        yield f"elements of type `{name}` do not allow swizzling with 8-byte flips"
    yield from _unaligned(map, alignment, f"the type `{name}`")


def _unaligned(map: np.void, alignment: int, what: str) -> Iterator[str]:
    if int(map["global_address"]) % alignment:
        yield f"{what} requires an address that is a multiple of {alignment}"
    for stride in map["global_stride"][: int(map["rank"])].tolist():
        if stride % alignment:
            yield f"{what} requires strides that are multiples of {alignment} bytes, not {stride}"


def _wrong(message: str) -> ExecutionError:
    return ExecutionError(f"invalid tensor map: {message}", "launch")
