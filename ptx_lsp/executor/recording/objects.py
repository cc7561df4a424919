"""Textures, samplers and surfaces as data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Literal, cast, get_args

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.memory import Bytes, bytes_of
from ptx_lsp.executor.machine.texture import (
    AXES,
    Address,
    Compare,
    Filter,
    Geometry,
    Image,
    Opaque,
    Sampler,
    Surface,
    Texture,
)
from ptx_lsp.executor.recording.fields import Fields, Json, RecordingError

Kind = Literal["texture", "sampler", "surface"]
_ELEMENTS = ("i1", "i2", "i4", "u1", "u2", "u4", "f2", "f4")
_MOST_AXES = max(AXES.values()) + 1


def arrays_of(value: Opaque) -> list[Bytes]:
    """The bytes of the levels of a texture, or of a surface."""
    return [bytes_of(one.data) for one in _images(value)]


def object_json(value: Opaque, places: Iterator[tuple[int, int]]) -> dict[str, Json]:
    """Describes an object; `places` has for each of its arrays the block and the offset there."""
    if isinstance(value, Sampler):
        return {"kind": "sampler", "sampler": _sampler_json(value)}
    images = [_image_json(one, next(places)) for one in _images(value)]
    first = _images(value)[0]
    found: dict[str, Json] = {
        "kind": "surface", "geometry": first.geometry, "as_floats": first.as_floats, "levels": images,
    }
    if isinstance(value, Texture):
        found |= {
            "kind": "texture", "is_mipmap": value.is_mipmap, "is_normalized": value.normalized,
            "sampler": _sampler_json(value.sampler),
        }
    return found


def object_of(fields: Fields, bytes_at: Callable[[Fields], Bytes]) -> Opaque:
    """The object that is described; `bytes_at` gives the bytes of an array. Raises RecordingError."""
    kind: Kind = fields.word("kind", get_args(Kind))
    if kind == "sampler":
        return _sampler(fields.inner("sampler"))
    levels = [_array(one, bytes_at(one)) for one in fields.each("levels")]
    geometry: Geometry = fields.word("geometry", get_args(Geometry))
    as_floats = fields.flag("as_floats")
    if not levels:
        raise RecordingError("the recording is damaged: a texture has no levels")
    try:
        if kind == "surface":
            return Surface(levels[0], geometry=geometry, as_floats=as_floats)
        sampler = _sampler(fields.inner("sampler"))
        return Texture(
            levels if fields.flag("is_mipmap") else levels[0], geometry=geometry, address=sampler.address,
            filter=sampler.filter, normalized=fields.flag("is_normalized"), as_floats=as_floats,
            mip_filter=sampler.mip_filter, border=sampler.border, compare=sampler.compare,
        )
    except ExecutionError as error:
        raise RecordingError(f"the recording is damaged: {error}") from error


def _images(value: Opaque) -> Sequence[Image]:
    if isinstance(value, Texture):
        return value.levels
    return [value.image] if isinstance(value, Surface) else []


def _image_json(image: Image, place: tuple[int, int]) -> Json:
    return {
        "type": image.data.dtype.str[1:], "block": place[0], "offset": place[1], "size": image.data.nbytes,
        "shape": [*image.outer, *reversed(image.sizes), image.data.shape[-1]],
    }


def _array(fields: Fields, data: Bytes) -> npt.NDArray[np.generic]:
    dtype = np.dtype(f"<{fields.word('type', _ELEMENTS)}")
    shape = fields.numbers("shape", range(1, _MOST_AXES + 1))
    if prod(shape) * dtype.itemsize != data.size:
        raise RecordingError("the recording is damaged: a texture has not the size of its contents")
    return data.view(dtype).reshape(shape)


def _sampler_json(one: Sampler) -> Json:
    return {
        "address": [one.address] if isinstance(one.address, str) else list(one.address),
        "filter": one.filter, "mip_filter": one.mip_filter, "is_unnormalized": one.force_unnormalized,
        "border": list(map(repr, map(float, one.border))), "compare": one.compare,
    }


def _sampler(fields: Fields) -> Sampler:
    address: tuple[Address, ...] = fields.words("address", get_args(Address))
    if not 1 <= len(address) <= 3:
        raise RecordingError("the recording is damaged: a sampler has up to three address modes")
    filter: Filter = fields.word("filter", get_args(Filter))
    mip_filter: Filter = fields.word("mip_filter", get_args(Filter))
    compare: Compare = fields.word("compare", get_args(Compare))
    return Sampler(
        address[0] if len(address) == 1 else address, filter, fields.flag("is_unnormalized"), mip_filter,
        cast("tuple[float, float, float, float]", fields.floats("border", 4)), compare,
    )
