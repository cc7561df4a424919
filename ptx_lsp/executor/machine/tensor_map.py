"""Tensor maps: `tensor_map(array, box=...)` describes a tensor for `cp.async.bulk.tensor`.

To PTX a tensor map is 128 bytes that only its own instructions understand. Here they are, little-endian:

    byte    0    address of the tensor in global memory
    byte    8    bytes from one element to the next in dimensions 1 to 4, 64 bits each
    byte   40    sizes in elements of dimensions 0 to 4, 32 bits each; dimension 0 is the innermost
    byte   60    sizes of the box
    byte   80    steps through the box ("traversal strides")
    byte  100    element type, rank less 1, interleave layout, swizzle mode, swizzle atomicity, fill mode, all
                 numbered as for `tensormap.replace`; 1 for im2col; 0
    byte  108    im2col: the lower corner in W, H, D, then the upper one, 16 bits each
    byte  120    im2col: channels of a pixel, pixels of a column, 16 bits each
    byte  124    the letters TMAP
"""

from __future__ import annotations

from collections.abc import Sequence
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
    ("is_im2col", "u1"),
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
"""The types of elements, in the order of their numbers."""
Swizzle = Literal["none", "32B", "64B", "128B", "96B"]
Atomicity = Literal["16B", "32B", "32B flip 8B", "64B"]
Fill = Literal["zeros", "nan"]
SWIZZLES: tuple[Swizzle, ...] = ("none", "32B", "64B", "128B", "96B")
ATOMICITIES: tuple[Atomicity, ...] = ("16B", "32B", "32B flip 8B", "64B")
FILLS: tuple[Fill, ...] = ("zeros", "nan")
_TYPES = {
    "u1": ".u8", "i1": ".u8", "u2": ".u16", "i2": ".u16", "u4": ".u32", "i4": ".s32", "u8": ".u64",
    "i8": ".s64", "f2": ".f16", "f4": ".f32", "f8": ".f64",
}

_BYTES = {name: int(dtype[1:]) for dtype, name in _TYPES.items()} | {
    ".bf16": 2, ".f32.ftz": 4, ".tf32": 4, ".tf32.ftz": 4,
}
"""Of the types whose elements are such as arrays have."""
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
) -> TensorMap:
    """Describes an array of one to five dimensions, in one piece, for copies of boxes of it.

    `box` and `steps` are elements in the order of the array's shape, outermost first (PTX counts dimensions
    from the innermost). `type` is that of the elements where the array's own does not say it (".bf16"); the
    array of ".b4x16" has bytes, with two elements in each, and `box` counts elements.
    With `channels` and `pixels` the map is for im2col: the box is not used then, and `lower` and `upper`
    are the corners in the order D, H, W. Pass it to `launch` for a parameter of 128 bytes, or as a pointer.
    Raises ExecutionError where the manual allows no such tensor.
    """
    rank = array.ndim
    size = array.dtype.itemsize
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
    small = 2 if type == ".b4x16" else 1
    if not channels and box[-1] * size % (16 * small):
        raise _wrong("the rows of a box must be a multiple of 16 bytes")
    strides = array.strides[::-1]
    if strides[0] != size or any(one % 16 for one in strides[1:]):
        raise _wrong(
            "the elements of a row must be adjacent, and rows a multiple of 16 bytes apart"
        )
    name = type or _TYPES.get(array.dtype.str[1:], "")
    if name not in ELEMENTS:
        raise _wrong(f"`{name or array.dtype}` is not an element type of tensors")
    if _BYTES.get(name, size) != size:
        raise _wrong(
            f"elements of type `{name}` have {_BYTES[name]} bytes, but those of the array {size}"
        )
    if max(len(lower), len(upper)) > 3 or any(not -(1 << 15) <= one < 1 << 15 for one in (*lower, *upper)):
        raise _wrong("a corner has at most three numbers, of 16 bits each")
    if not 0 <= channels <= _MOST_CHANNELS or not 0 <= pixels <= _MOST_PIXELS:
        raise _wrong(f"a column has at most {_MOST_CHANNELS} channels and {_MOST_PIXELS} pixels")
    data = np.zeros(1, FIELDS)
    data["global_stride"][0, : rank - 1] = strides[1:]
    data["global_dim"][0, :rank] = array.shape[::-1]
    data["global_dim"][0, 0] *= small
    data["box_dim"][0, :rank] = tuple(box)[::-1]
    data["element_stride"][0, :rank] = tuple(steps)[::-1]
    data["elemtype"], data["rank"] = ELEMENTS.index(name), rank - 1
    data["swizzle_mode"] = SWIZZLES.index(swizzle)
    data["swizzle_atomicity"] = ATOMICITIES.index(atomicity)
    data["fill_mode"] = fill == "nan"
    if channels:
        data["is_im2col"], data["channels"], data["pixels"] = 1, channels, pixels
        data["lower"][0, : len(lower)] = tuple(lower)[::-1]
        data["upper"][0, : len(upper)] = tuple(upper)[::-1]
    data["letters"] = LETTERS
    return TensorMap(array, data.view(np.uint8))


def _wrong(message: str) -> ExecutionError:
    return ExecutionError(f"invalid tensor map: {message}", "launch")
