"""Textures, samplers and surfaces as a launch takes them.

The last axis of an array may have one, two or four channels. Before it come, by geometry, outermost first:

    1d  (x)          2d  (y, x)          3d  (z, y, x)        2dms   (sample, y, x)
    a1d (layer, x)   a2d (layer, y, x)   cube (face, y, x)    a2dms  (layer, sample, y, x)
                                         acube (cube, face, y, x)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Array
from ptx_lsp.executor.machine.errors import ExecutionError

Geometry = Literal["1d", "2d", "3d", "a1d", "a2d", "cube", "acube", "2dms", "a2dms"]
Address = Literal["wrap", "mirror", "clamp_ogl", "clamp", "border"]
"""In the order in which `txq.addr_mode_0` numbers them: clamp is clamp_to_edge, border clamp_to_border."""
Filter = Literal["point", "linear"]
Compare = Literal["<", "<=", ">", ">=", "==", "!="]

AXES: dict[str, int] = {
    "1d": 1, "2d": 2, "3d": 3, "a1d": 2, "a2d": 3, "cube": 3, "acube": 4, "2dms": 3, "a2dms": 4,
}
SPATIAL: dict[str, int] = {
    "1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2, "cube": 2, "acube": 2, "2dms": 2, "a2dms": 2,
}
_TYPES: dict[str, tuple[int, int]] = {
    "i1": (0x10D7, 0x10D0), "i2": (0x10D8, 0x10D1), "i4": (0x10D9, 0), "u1": (0x10DA, 0x10D2),
    "u2": (0x10DB, 0x10D3), "u4": (0x10DC, 0), "f2": (0x10DD, 0x10DD), "f4": (0x10DE, 0x10DE),
}
"""OpenCL's numbers of channel types: as they are, and for integers that are read as numbers up to 1."""
_ORDERS = {1: 0x10B0, 2: 0x10B2, 4: 0x10B5}


@dataclass(frozen=True)
class Sampler:
    """How a texture is read. `address` has a mode for x, y and z, or one for all; `filter` is between texels,
    `mip_filter` between levels. `force_unnormalized` overrides that a texture is normalized. `compare` is the
    relation of a depth operand to a texel that gives 1.
    """

    address: Address | Sequence[Address] = "clamp"
    filter: Filter = "point"
    force_unnormalized: bool = False
    mip_filter: Filter = "point"
    border: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    compare: Compare = "<="

    def mode(self, axis: int) -> Address:
        """The address mode of x (0), y or z."""
        if isinstance(self.address, str):
            return self.address
        return self.address[axis] if axis < len(self.address) else "clamp"


class Image:
    """An array as texture and surface instructions see it: layers, z, y, x and channels."""

    def __init__(
        self, array: npt.NDArray[np.generic], geometry: Geometry, *, as_floats: bool
    ) -> None:
        axes = AXES[geometry]
        if array.size == 0:
            raise _wrong("the array is empty")
        if array.ndim not in (axes, axes + 1):
            raise _wrong(
                f"a {geometry} array requires {axes} axes and optionally one of "
                f"channels, not {array.ndim}"
            )
        channels = array.shape[-1] if array.ndim > axes else 1
        if channels not in _ORDERS or array.dtype.str[1:] not in _TYPES or not array.flags.c_contiguous:
            raise _wrong("the array must be contiguous, of 8 to 32 bits, with 1, 2 or 4 channels")
        spatial = SPATIAL[geometry]
        sizes = array.shape[axes - spatial : axes]
        layers = int(np.prod(array.shape[: axes - spatial]))
        self.geometry = geometry
        self.as_floats = as_floats and array.dtype.kind in "iu"
        self.sizes = tuple(reversed(sizes))
        """The sizes in x, y and z, as far as there are such."""
        self.outer = array.shape[: axes - spatial]
        """The sizes of what comes before: layers, faces, samples."""
        self.data: Array = array.reshape(layers, *(1,) * (3 - spatial), *sizes, channels)
        if geometry in ("cube", "acube") and (self.outer[-1] != 6 or sizes[0] != sizes[1]):
            raise _wrong("a cube map requires six square faces")

    @property
    def is_float(self) -> bool:
        """Whether reading it gives floats."""
        return self.as_floats or self.data.dtype.kind == "f"

    def size(self, query: str) -> int:
        """The value of `.width`, `.height`, `.depth`, `.array_size`, `.num_samples`, `.channel_data_type` or
        `.channel_order`.
        """
        if query in (".width", ".height", ".depth"):
            axis = (".width", ".height", ".depth").index(query)
            return self.sizes[axis] if axis < len(self.sizes) else 0
        match query:
            case ".array_size":
                return self.outer[0] if self.geometry.startswith("a") else 0
            case ".num_samples":
                return self.outer[-1] if self.geometry.endswith("ms") else 0
            case ".channel_data_type":
                return _TYPES[self.data.dtype.str[1:]][self.as_floats]
            case _:
                return _ORDERS[self.data.shape[-1]]


class Texture:
    """A texture: an array, or the levels of a mipmap, with the sampler that it brings along.

    `normalized`: coordinates are between 0 and 1. `as_floats`: integers of 8 and 16 bits are read as numbers
    between 0 (or -1) and 1. `Sampler` documents the rest. Raises ExecutionError for an array that does not
    match the geometry.
    """

    def __init__(
        self,
        array: npt.NDArray[np.generic] | Sequence[npt.NDArray[np.generic]],
        *,
        geometry: Geometry | None = None,
        address: Address | Sequence[Address] = "clamp",
        filter: Filter = "point",
        normalized: bool = False,
        as_floats: bool = False,
        mip_filter: Filter = "point",
        border: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0),
        compare: Compare = "<=",
    ) -> None:
        levels = [array] if isinstance(array, np.ndarray) else list(array)
        geometry = geometry or _geometry(levels[0])
        self.levels = [Image(one, geometry, as_floats=as_floats) for one in levels]
        self.is_mipmap = not isinstance(array, np.ndarray)
        self.normalized = normalized
        self.sampler = Sampler(address, filter, False, mip_filter, border, compare)
        for number, level in enumerate(self.levels):
            if level.sizes != tuple(max(1, one >> number) for one in self.levels[0].sizes):
                raise _wrong(
                    f"level {number} of a mipmap must have half the sizes of the preceding level"
                )

    def property(self, query: str, level: int = 0) -> int:
        """The result of a `txq` query."""
        match query:
            case ".normalized_coords":
                return int(self.normalized)
            case ".num_mipmap_levels":
                return len(self.levels) if self.is_mipmap else 0
            case _:
                return self.levels[min(max(level, 0), len(self.levels) - 1)].size(query)


class Surface:
    """A surface: an array that kernels read and write. `as_floats`: see `Texture`."""

    def __init__(
        self, array: npt.NDArray[np.generic], *, geometry: Geometry | None = None, as_floats: bool = False
    ) -> None:
        self.array = array
        self.image = Image(array, geometry or _geometry(array), as_floats=as_floats)
        if not np.shares_memory(self.image.data, array):
            raise _wrong("a surface requires a contiguous array")

    def property(self, query: str) -> int:
        """The result of a `suq` query."""
        return 0 if query == ".memory_layout" else self.image.size(query)


Opaque = Texture | Sampler | Surface
"""The object of a `.texref`, a `.samplerref`, a `.surfref` or a 64-bit handle."""

ADDRESSES: tuple[Address, ...] = get_args(Address)


def sampler_property(sampler: Sampler, query: str) -> int:
    """The result of a `txq` query of a sampler."""
    match query:
        case ".filter_mode":
            return int(sampler.filter == "linear")
        case ".force_unnormalized_coords":
            return int(sampler.force_unnormalized)
        case _:
            return ADDRESSES.index(sampler.mode(int(query[-1])))


def _geometry(array: npt.NDArray[np.generic]) -> Geometry:
    found: dict[int, Geometry] = {1: "1d", 2: "2d", 3: "3d"}
    if array.ndim not in found:
        raise _wrong(f"an array of {array.ndim} axes requires `geometry`")
    return found[array.ndim]


def _wrong(message: str) -> ExecutionError:
    return ExecutionError(f"invalid texture or surface: {message}", "launch")
