"""Reading textures at coordinates, for many threads at once (CUDA Programming Guide, "Texture Fetching").

1. A coordinate x means the texel floor(x), or between texels x - 0.5. Normalized coordinates are multiplied
   by the size first; offsets are added then.
2. Weights of the linear filter have 8 bits of fraction, rounded to nearest; the products are summed in
   doubles and rounded once to `.f32`. Hardware sums with less precision.
3. `wrap` and `mirror` need normalized coordinates; with others they are `clamp`.
4. A level of detail is clamped to the levels there are, and rounded to nearest or mixed with 8 bits of
   fraction.
5. Faces of cube maps are filtered for themselves. Channels that an array lacks are 0, the fourth one 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Array, Bools
from ptx_lsp.executor.instructions.threads import Indices
from ptx_lsp.executor.machine.texture import Address, Compare, Image, Sampler, Texture

Floats: TypeAlias = npt.NDArray[np.float64]
Texels: TypeAlias = npt.NDArray[np.float64 | np.int64]

_LARGEST = float(1 << 40)


class Reader:
    """A texture as a sampler reads it. Coordinates come as x, y, z, an array each."""

    def __init__(self, texture: Texture, sampler: Sampler, *, of_integers: bool) -> None:
        """`of_integers`: the coordinates are texels (`.s32`)."""
        self._texture = texture
        self._sampler = sampler
        self._normalized = texture.normalized and not sampler.force_unnormalized and not of_integers
        self._point = of_integers or sampler.filter == "point" or not texture.levels[0].is_float

    def read(
        self, layer: Indices, at: Sequence[Array], offsets: Sequence[Array], depth: Array | None,
        lod: Floats,
    ) -> Texels:
        """Four channels for each thread: floats, or integers where the texture has such."""
        levels = self._texture.levels
        lod = np.clip(np.nan_to_num(lod), 0, len(levels) - 1)
        if self._sampler.mip_filter == "point" or (self._point and not levels[0].is_float):
            near = np.floor(lod + 0.5).astype(np.int64)
            return self._of_levels(near, layer, at, offsets, depth)
        low = np.floor(lod).astype(np.int64)
        weight = (np.rint((lod - low) * 256) / 256).reshape(-1, 1)
        fine = self._of_levels(low, layer, at, offsets, depth)
        coarse = self._of_levels(np.minimum(low + 1, len(levels) - 1), layer, at, offsets, depth)
        return fine * (1 - weight) + coarse * weight

    def gather(
        self, layer: Indices, at: Sequence[Array], offsets: Sequence[Array], depth: Array | None,
        channel: int,
    ) -> Texels:
        """One channel of the four texels that the linear filter mixes, counter-clockwise from the lower left:
        that with the smaller x and the larger y.
        """
        image = self._texture.levels[0]
        low = [np.floor(one - 0.5).astype(np.int64) for one in self._scaled(image, at, offsets)]
        corners = [(0, 1), (1, 1), (1, 0), (0, 0)]
        found = [
            self._texel(image, layer, [one + step for one, step in zip(low, steps, strict=True)], depth)
            for steps in corners
        ]
        return np.stack([one[:, channel] for one in found], axis=1)

    def detail(self, dx: Sequence[Array], dy: Sequence[Array]) -> Floats:
        """The level of detail that partial derivatives of the coordinates ask for."""
        lengths: list[Floats] = []
        for one in (dx, dy):
            total = np.zeros(one[0].shape, np.float64)
            for value, size in zip(one, self._texture.levels[0].sizes, strict=False):
                scaled = value.astype(np.float64) * (size if self._normalized else 1)
                total += scaled * scaled
            lengths.append(np.sqrt(total))
        with np.errstate(divide="ignore"):
            return np.log2(np.maximum(*lengths))

    def _of_levels(
        self, level: Indices, layer: Indices, at: Sequence[Array], offsets: Sequence[Array],
        depth: Array | None,
    ) -> Texels:
        floats = self._texture.levels[0].is_float or depth is not None
        result: Texels = np.zeros((level.size, 4), np.float64 if floats else np.int64)
        for number, image in enumerate(self._texture.levels):
            here = level == number
            if here.any():
                result[here] = self._filtered(
                    image, layer[here], [one[here] for one in at], [one[here] for one in offsets],
                    None if depth is None else depth[here],
                )
        return result

    def _filtered(
        self, image: Image, layer: Indices, at: Sequence[Array], offsets: Sequence[Array],
        depth: Array | None,
    ) -> Texels:
        scaled = self._scaled(image, at, offsets)
        if self._point:
            return self._texel(image, layer, [np.floor(one).astype(np.int64) for one in scaled], depth)
        low = [np.floor(one - 0.5) for one in scaled]
        weights = [
            np.rint((one - 0.5 - first) * 256) / 256 for one, first in zip(scaled, low, strict=True)
        ]
        total = np.zeros((layer.size, 4), np.float64)
        for corner in product((0, 1), repeat=len(low)):
            weight = np.ones(layer.size, np.float64)
            for step, one in zip(corner, weights, strict=True):
                weight *= one if step else 1 - one
            index = [first.astype(np.int64) + step for first, step in zip(low, corner, strict=True)]
            texel = self._texel(image, layer, index, depth)
            total += np.where(weight.reshape(-1, 1) == 0, 0, weight.reshape(-1, 1) * texel)
        return total

    def _scaled(
        self, image: Image, at: Sequence[Array], offsets: Sequence[Array]
    ) -> list[Floats]:
        """Coordinates in texels."""
        found: list[Floats] = []
        for axis, size in enumerate(image.sizes):
            one = np.nan_to_num(at[axis].astype(np.float64), posinf=_LARGEST, neginf=-_LARGEST)
            if self._normalized:
                one = one * size
            if offsets:
                one = one + offsets[axis].astype(np.float64)
            if self._sampler.mode(axis) == "clamp_ogl":
                one = np.clip(one, 0, size if not self._point else size - 1)
            found.append(np.clip(one, -_LARGEST, _LARGEST))
        return found

    def _texel(
        self, image: Image, layer: Indices, index: Sequence[Indices], depth: Array | None
    ) -> Texels:
        outside = np.zeros(layer.shape, np.bool_)
        places: list[Indices] = []
        for axis, (one, size) in enumerate(zip(index, image.sizes, strict=True)):
            mode = self._sampler.mode(axis)
            if not self._normalized and mode in ("wrap", "mirror"):
                mode = "clamp"
            place, beyond = _placed(one, size, mode)
            places.append(place)
            outside |= beyond
        places += [np.zeros(layer.shape, np.int64)] * (3 - len(places))
        layer = np.clip(layer, 0, image.data.shape[0] - 1)
        texel = _four(image, image.data[layer, places[2], places[1], places[0]])
        border = np.array(self._sampler.border).astype(texel.dtype)
        texel = np.where(outside.reshape(-1, 1), border, texel)
        if depth is not None:
            holds = _COMPARES[self._sampler.compare](depth.astype(np.float64), texel[:, 0])
            texel = np.concatenate([holds.astype(np.float64).reshape(-1, 1), texel[:, 1:]], axis=1)
        return texel


def on_cube(x: Array, y: Array, z: Array) -> tuple[Indices, Floats, Floats, Floats]:
    """The face that a direction points to, the normalized coordinates there, and its longest component."""
    x, y, z = (one.astype(np.float64) for one in (x, y, z))
    along_x = (np.abs(x) >= np.abs(y)) & (np.abs(x) >= np.abs(z))
    along_y = ~along_x & (np.abs(y) >= np.abs(z))
    major = np.where(along_x, x, np.where(along_y, y, z))
    negative = major < 0
    face = np.where(along_x, 0, np.where(along_y, 2, 4)) + negative
    s = np.where(along_x, np.where(negative, z, -z), np.where(along_y, x, np.where(negative, -x, x)))
    t = np.where(along_y, np.where(negative, -z, z), -y)
    length = np.abs(major)
    divisor = np.where(length == 0, 1, length)
    return face.astype(np.int64), (s / divisor + 1) / 2, (t / divisor + 1) / 2, length


def _placed(index: Indices, size: int, mode: Address) -> tuple[Indices, Bools]:
    """Texels inside of the texture, and for which the border stands."""
    outside = (index < 0) | (index >= size)
    match mode:
        case "wrap":
            return index % size, np.zeros_like(outside)
        case "mirror":
            round = index % (2 * size)
            return np.where(round < size, round, 2 * size - 1 - round), np.zeros_like(outside)
        case "clamp":
            return np.clip(index, 0, size - 1), np.zeros_like(outside)
        case _:
            return np.clip(index, 0, size - 1), outside


def _four(image: Image, raw: Array) -> Texels:
    """All four channels, as numbers; integers as they are."""
    count = raw.shape[1]
    if image.is_float:
        values = raw.astype(np.float64)
        if image.as_floats:
            values = np.maximum(values / np.iinfo(raw.dtype.str).max, -1.0)
        four = np.zeros((raw.shape[0], 4), np.float64)
    else:
        values = raw.astype(np.int64)
        four = np.zeros((raw.shape[0], 4), np.int64)
    four[:, 3] = 1
    four[:, :count] = values
    return four


_COMPARES: dict[Compare, Callable[[Array, Array], Bools]] = {
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal,
    "!=": np.not_equal,
}
