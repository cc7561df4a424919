"""The fields of a tensor map.

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

from collections.abc import Mapping
from typing import Literal, TypedDict, cast

import numpy as np

from ptx_lsp.executor.machine.memory import Bytes

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
BITS = {
    ".u8": 8, ".u16": 16, ".u32": 32, ".s32": 32, ".u64": 64, ".s64": 64, ".f16": 16, ".f32": 32,
    ".f32.ftz": 32, ".f64": 64, ".bf16": 16, ".tf32": 32, ".tf32.ftz": 32, ".b4x16": 4, ".b4x16_p64": 4,
    ".b6x16_p32": 6, ".b6p2x16": 6,
}
"""Of an element in global memory."""


class Fields(TypedDict):
    """Fields by the names of `tensormap.replace`, and those for columns. Lists may end with the rank."""

    global_address: int
    global_stride: list[int]
    global_dim: list[int]
    box_dim: list[int]
    element_stride: list[int]
    elemtype: int
    rank: int
    interleave_layout: int
    swizzle_mode: int
    swizzle_atomicity: int
    fill_mode: int
    load_mode: int
    lower: list[int]
    upper: list[int]
    channels: int
    pixels: int


def decoded(raw: Bytes) -> Fields | None:
    """The fields of 128 bytes; None if they are not a tensor map."""
    data = np.frombuffer(raw.tobytes(), FIELDS)[0]
    if bytes(data["letters"]) != LETTERS:
        return None
    return cast("Fields", {name: data[name].tolist() for name in Fields.__annotations__})


def encoded(fields: Fields) -> Bytes:
    """The 128 bytes with these fields, which must have no problem (`map_problem`)."""
    data = np.zeros(1, FIELDS)
    for name, value in cast("Mapping[str, int | list[int]]", fields).items():
        if isinstance(value, list):
            data[name][0, : len(value)] = value
        else:
            data[name] = value
    data["letters"] = LETTERS
    return data.view(np.uint8)
