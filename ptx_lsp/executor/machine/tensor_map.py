"""Tensor maps: `tensor_map(array, box=...)` describes a tensor for `cp.async.bulk.tensor`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.memory import Bytes, Memory, bytes_of
from ptx_lsp.executor.machine.tensor_map_fields import (
    ATOMICITIES,
    BITS,
    ELEMENTS,
    FIELDS,
    INTERLEAVES,
    SIZE,
    SLICES,
    SWIZZLES,
    WIDES,
    Atomicity,
    Fields,
    Fill,
    Interleave,
    Swizzle,
    Wide,
    encoded,
)
from ptx_lsp.executor.machine.tensor_map_limits import map_problem

_TYPES = {
    "u1": ".u8", "i1": ".u8", "u2": ".u16", "i2": ".u16", "u4": ".u32", "i4": ".s32", "u8": ".u64",
    "i8": ".s64", "f2": ".f16", "f4": ".f32", "f8": ".f64",
}


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
    if max(len(lower), len(upper)) > 3:
        raise _wrong("a corner has at most three numbers")
    if wide and not channels:
        raise _wrong("a tensor map for `.im2col::w` requires `channels`")
    name, bits = _element(array, type)
    strides, width = _rows(array, interleave, bits)
    fields: Fields = {
        "global_address": 0,
        "global_stride": list(strides),
        "global_dim": [width, *array.shape[: rank - 1][::-1]],
        "box_dim": [*box][::-1],
        "element_stride": [*steps][::-1],
        "elemtype": ELEMENTS.index(name),
        "rank": rank - 1,
        "interleave_layout": INTERLEAVES.index(interleave),
        "swizzle_mode": SWIZZLES.index(swizzle),
        "swizzle_atomicity": ATOMICITIES.index(atomicity),
        "fill_mode": int(fill == "nan"),
        "load_mode": 1 + WIDES.index(wide) if channels else 0,
        "lower": [*lower][::-1],
        "upper": [*upper][::-1],
        "channels": channels,
        "pixels": pixels,
    }
    problem = map_problem(fields)
    if problem:
        raise _wrong(problem)
    return TensorMap(array, encoded(fields))


def _element(array: npt.NDArray[np.generic], type: str) -> tuple[str, int]:
    """The type of the elements of an array, and how many bits each of them has."""
    size = array.dtype.itemsize
    name = type or _TYPES.get(array.dtype.str[1:], "")
    bits = BITS.get(name)
    if bits is None:
        raise _wrong(f"`{name or array.dtype}` is not an element type of tensors")
    if bits < 8:
        if size != 1:
            raise _wrong(f"elements of type `{name}` must be packed in an array of bytes")
        return ".b6x16_p32" if name == ".b6p2x16" else name, bits
    if bits != 8 * size:
        raise _wrong(f"elements of type `{name}` have {bits // 8} bytes, but those of the array {size}")
    return name, bits


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


def _wrong(message: str) -> ExecutionError:
    return ExecutionError(f"invalid tensor map: {message}", "launch")
