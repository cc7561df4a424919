"""Objects written as text, in the words of `Texture`, `Sampler`, `Surface` and `tensor_map`:

    texture(f32:arange(16),shape=4x4,filter=linear,address=wrap/clamp,normalized)
    sampler(address=border,border=7/7/7/7)
    surface(u8:zeros(32),shape=2x4x4,geometry=2d,as_floats)
    tensor(u16:arange(512),shape=16x32,box=4x16,swizzle=128B)      see `tensor_spec.py`
    multimem(u32:arange(16),gpus=2)                                an equal part for each GPU

1. First comes the buffer, as `specs.py` says; of a mipmap one for each level, the largest first.
2. `shape=` has the sizes of the axes, the outermost first, and the channels last where there are several; of
   a mipmap those of the largest level. Without it a buffer has one axis, or those of its file.
3. `KEY=VALUE` is an argument of that name; a tuple has `/` between its elements. A word alone is true.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar, get_args

import numpy as np

from ptx_lsp.executor.launching.specs import MOST_ELEMENTS, Array, SpecError, Value, value
from ptx_lsp.executor.launching.tensor_spec import tensor
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.multimem_memory import Multimem
from ptx_lsp.executor.machine.tensor_map import TensorMap
from ptx_lsp.executor.machine.texture import (
    AXES,
    SPATIAL,
    Address,
    Compare,
    Filter,
    Geometry,
    Opaque,
    Sampler,
    Surface,
    Texture,
)

Object: TypeAlias = Opaque | TensorMap | Multimem

_OBJECT = re.compile(r"(texture|sampler|surface|tensor|multimem)\((.*)\)")
_COMMA = re.compile(r",(?![^(\[]*[)\]])")
"""One outside of brackets."""
_SAMPLER_WORDS = ("address", "filter", "mip_filter", "border", "compare")
_WORDS = {
    "texture": (*_SAMPLER_WORDS, "shape", "geometry", "normalized", "as_floats"),
    "sampler": (*_SAMPLER_WORDS, "force_unnormalized"),
    "surface": ("shape", "geometry", "as_floats"),
}
_MOST_GPUS = 1024
"""More than any machine has."""
_FLAGS = ("normalized", "as_floats", "force_unnormalized")
WordT = TypeVar("WordT", Address, Filter, Compare, Geometry)


def argument(
    spec: str, seed: int = 0, most: int = MOST_ELEMENTS, file: Callable[[str], Array] | None = None
) -> Value | Object:
    """The value of a text: a scalar, a buffer, or such an object. `file` reads `@file`; without it, files are
    not allowed. Raises SpecError for an invalid text.
    """
    found = _OBJECT.fullmatch(spec)

    def read(text: str) -> Value:
        if text.startswith("@") and file is not None:
            return file(text[1:])
        return value(text, seed, most)

    if found is None:
        return read(spec)
    try:
        parts = _COMMA.split(found[2]) if found[2] else []
        match found[1]:
            case "tensor":
                return tensor(_first(found[1], parts, read), parts[1:])
            case "multimem":
                return _multimem(_first(found[1], parts, read), parts[1:])
            case kind:
                return _object(kind, parts, read)
    except (ValueError, ExecutionError) as error:
        raise SpecError(f"`{spec}`: {error}") from error


def bindings(
    pairs: Iterable[tuple[str, str]], seed: int = 0, most: int = MOST_ELEMENTS,
    file: Callable[[str], Array] | None = None,
) -> dict[str, Opaque]:
    """The objects bound to the names of variables. Raises SpecError as `argument` does, and for buffers."""
    found: dict[str, Opaque] = {}
    for name, spec in pairs:
        one = argument(spec, seed, most, file)
        if name in found:
            raise SpecError(f"`{name}={spec}`: duplicate `{name}`")
        if not isinstance(one, Opaque):
            raise SpecError(f"`{name}={spec}`: expected texture(...), sampler(...) or surface(...)")
        found[name] = one
    return found


def array_of(given: Value | Object) -> Array | None:
    """The part of an argument that a kernel can modify: a buffer, or the array of an object other than a
    texture.
    """
    if isinstance(given, Surface | TensorMap | Multimem):
        return given.array
    return given if isinstance(given, np.ndarray) else None


def _first(kind: str, parts: Sequence[str], read: Callable[[str], Value]) -> Array:
    if not parts:
        raise ValueError(f"a {kind} must begin with its buffer, such as f32:arange(16)")
    return _buffer(parts[0], read)


def _multimem(array: Array, words: Sequence[str]) -> Multimem:
    count = words[0].removeprefix("gpus=") if len(words) == 1 else ""
    if not count.isdecimal() or not int(count):
        raise ValueError("expected `gpus=N` after the buffer")
    if int(count) > _MOST_GPUS:
        raise ValueError(f"at most {_MOST_GPUS} GPUs are supported, not {count}")
    if not array.size or array.size % int(count):
        raise ValueError(f"{array.size} elements cannot be divided evenly among {count} GPUs")
    return Multimem(array.reshape(int(count), -1))


def _object(kind: str, parts: Sequence[str], read: Callable[[str], Value]) -> Opaque:
    words: dict[str, str] = {}
    buffers: list[Array] = []
    for part in parts:
        word, equals, rest = part.partition("=")
        if equals or word in _FLAGS:
            if word not in _WORDS[kind] or (word in _FLAGS) == bool(equals):
                raise ValueError(f"unknown option `{part}`; expected {', '.join(_WORDS[kind])}")
            if word in words:
                raise ValueError(f"duplicate `{word}`")
            words[word] = rest
        else:
            buffers.append(_buffer(part, read))
    if kind == "sampler":
        if buffers:
            raise ValueError("a sampler cannot have a buffer")
        return _sampler(words, force="force_unnormalized" in words)
    if not buffers or (kind == "surface" and len(buffers) > 1):
        raise ValueError(f"a {kind} must begin with its buffer, such as f32:arange(16)")
    geometry = _one_of(words["geometry"], get_args(Geometry)) if "geometry" in words else None
    levels = _shaped(buffers, words.get("shape"), geometry)
    if kind == "surface":
        return Surface(levels[0], geometry=geometry, as_floats="as_floats" in words)
    sampler = _sampler(words)
    return Texture(
        levels if len(levels) > 1 else levels[0], geometry=geometry, address=sampler.address,
        filter=sampler.filter, normalized="normalized" in words, as_floats="as_floats" in words,
        mip_filter=sampler.mip_filter, border=sampler.border, compare=sampler.compare,
    )


def _buffer(text: str, read: Callable[[str], Value]) -> Array:
    found = read(text)
    if not isinstance(found, np.ndarray):
        raise ValueError(f"`{text}` is a value, not a buffer")
    return found


def _shaped(buffers: Sequence[Array], text: str | None, geometry: Geometry | None) -> list[Array]:
    """The buffers as arrays; each level has half the sizes of the one before."""
    if text is None:
        return list(buffers)
    sizes = [int(one) for one in text.split("x") if one.isdecimal()]
    if len(sizes) != text.count("x") + 1:
        raise ValueError(f"`shape={text}`: expected sizes, such as shape=4x8")
    axes = AXES[geometry] if geometry is not None else len(sizes)
    spatial = SPATIAL[geometry] if geometry is not None else axes
    found: list[Array] = []
    for level, buffer in enumerate(buffers):
        halved = range(axes - spatial, axes)
        shape = [max(1, one >> level) if at in halved else one for at, one in enumerate(sizes)]
        if math.prod(shape) != buffer.size:
            raise ValueError(
                f"{'x'.join(map(str, shape))} does not match the {buffer.size} "
                "elements of the buffer"
            )
        found.append(buffer.reshape(shape))
    return found


def _sampler(words: Mapping[str, str], *, force: bool = False) -> Sampler:
    modes = [_one_of(one, get_args(Address)) for one in words.get("address", "clamp").split("/")]
    if len(modes) > 3:
        raise ValueError("`address` takes at most three modes, for x, y and z")
    border = [float(one) for one in words.get("border", "0/0/0/0").split("/")]
    if len(border) != 4:
        raise ValueError("`border` requires four numbers, such as border=0/0/0/1")
    filter, mip_filter = (
        _one_of(words.get(word, "point"), get_args(Filter)) for word in ("filter", "mip_filter")
    )
    return Sampler(
        modes[0] if len(modes) == 1 else tuple(modes), filter, force, mip_filter,
        (border[0], border[1], border[2], border[3]), _one_of(words.get("compare", "<="), get_args(Compare)),
    )


def _one_of(text: str, words: Sequence[WordT]) -> WordT:
    for word in words:
        if text == word:
            return word
    raise ValueError(f"unknown value `{text}`; expected {', '.join(words)}")
