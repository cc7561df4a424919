"""Values written as text: `u32:5`, `f32:1.5`, `f32[]:1,2,3`, `f32:arange(32)`, `f32[]:arange:32`.

TYPE is `u`, `s`, `b` with 8, 16, 32 or 64, or `f16`, `f32`, `f64`. A buffer is TYPE`[]:` and its elements
with commas, or TYPE`:[`its elements`]`, or is made: `zeros(N)`, `ones(N)`, `arange(N)` or `arange(FIRST,
END)`, `full(N, VALUE)`, `random(N)` (floats from 0 to 1, integers of all bits; the same for the same seed).
`zeros:N` is the same as `zeros(N)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.generic]
Value: TypeAlias = Array | np.generic

TYPES = {
    **{f"{kind}{bits}": f"{'i' if kind == 's' else 'u'}{bits // 8}"
       for kind in "usb" for bits in (8, 16, 32, 64)},
    "f16": "f2", "f32": "f4", "f64": "f8",
}
MOST_ELEMENTS = 1 << 28
_MADE = re.compile(r"(\w+)\((.*)\)")


class SpecError(ValueError):
    """An invalid SPEC."""


def is_object(spec: str) -> bool:
    """Whether a text is a texture, tensor or similar object, which `object_specs` reads."""
    return spec.startswith(("texture(", "sampler(", "surface(", "tensor(", "multimem("))


def value(spec: str, seed: int = 0, most: int = MOST_ELEMENTS) -> Value:
    """The scalar or buffer, of a limited number of elements, that a text specifies. Raises SpecError."""
    type, colon, text = spec.partition(":")
    dtype = TYPES.get(type.removesuffix("[]"))
    if dtype is None or not colon:
        names = ", ".join(TYPES)
        raise SpecError(f"`{spec}`: expected TYPE:VALUE or TYPE[]:VALUES; the types are {names}")
    try:
        return _value(text, np.dtype(dtype), type.endswith("[]"), seed, most)
    except (ValueError, OverflowError) as error:
        raise SpecError(f"`{spec}`: {error}") from error


def _value(
    text: str, dtype: np.dtype[np.generic], is_buffer: bool, seed: int, most: int
) -> Value:
    made = _MADE.fullmatch(text)
    if made is not None:
        return _make(made[1], [one.strip() for one in made[2].split(",")], dtype, seed, most)
    if text.startswith("[") and text.endswith("]"):
        return numbers(text[1:-1].split(","), dtype)
    if not is_buffer:
        return numbers([text], dtype)[0]
    name, colon, count = text.partition(":")
    return _make(name, [count], dtype, seed, most) if colon else numbers(text.split(","), dtype)


def numbers(texts: Sequence[str], dtype: np.dtype[np.generic]) -> Array:
    """Elements from texts. Raises ValueError for one that is not a number, or that is out of range."""
    if dtype.kind == "f":
        with np.errstate(over="ignore"):  # infinity then
            return np.array([float(text) for text in texts]).astype(dtype)
    mask = (1 << 8 * dtype.itemsize) - 1
    found = [int(text, 0) for text in texts]
    for number in found:
        if not -(mask + 1) // 2 <= number <= mask:
            raise ValueError(f"{number} is out of range")
    unsigned = np.dtype(f"u{dtype.itemsize}")
    return np.array([number & mask for number in found], unsigned).view(dtype)


def _make(
    name: str, words: list[str], dtype: np.dtype[np.generic], seed: int, most: int
) -> Array:
    if name not in _MAKERS:
        raise ValueError(f"unknown function `{name}`; expected {', '.join(_MAKERS)}")
    counts, maker = _MAKERS[name]
    if len(words) not in counts or not all(words):
        raise ValueError(f"`{name}` takes {' or '.join(map(str, counts))} numbers")
    count = int(words[-1], 0) - int(words[0], 0) if len(words) > 1 and name == "arange" else int(words[0], 0)
    if not 0 <= count <= most:
        raise ValueError(f"a buffer has at most {most} elements, not {count}")
    return maker(words, dtype, seed)


def _zeros(words: list[str], dtype: np.dtype[np.generic], seed: int) -> Array:
    return np.zeros(int(words[0], 0), dtype)


def _ones(words: list[str], dtype: np.dtype[np.generic], seed: int) -> Array:
    return np.ones(int(words[0], 0), dtype)


def _arange(words: list[str], dtype: np.dtype[np.generic], seed: int) -> Array:
    ends = [int(one, 0) for one in words]
    return np.arange(ends[0] if len(ends) > 1 else 0, ends[-1]).astype(dtype)


def _full(words: list[str], dtype: np.dtype[np.generic], seed: int) -> Array:
    return np.repeat(numbers([words[1]], dtype), int(words[0], 0))


def _random(words: list[str], dtype: np.dtype[np.generic], seed: int) -> Array:
    chosen = np.random.default_rng(seed)
    count = int(words[0], 0)
    if dtype.kind == "f":
        return chosen.random(count).astype(dtype)
    return np.frombuffer(chosen.bytes(count * dtype.itemsize), dtype).copy()


_Maker = Callable[[list[str], np.dtype[np.generic], int], Array]
_MAKERS: dict[str, tuple[tuple[int, ...], _Maker]] = {
    "zeros": ((1,), _zeros),
    "ones": ((1,), _ones),
    "arange": ((1, 2), _arange),
    "full": ((2,), _full),
    "random": ((1,), _random),
}
"""For each name how many numbers it may take."""
