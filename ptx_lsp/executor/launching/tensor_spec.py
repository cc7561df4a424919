"""Tensor maps written as text: `tensor(u16:arange(512),shape=16x32,box=4x16,swizzle=128B)`.

The words after the buffer are the arguments of `tensor_map`: sizes separated by `x`, corners by `/`, the
outermost first. Without `shape` the buffer is a row, or has the shape of its file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.tensor_map import TensorMap, tensor_map
from ptx_lsp.executor.machine.tensor_map_fields import (
    ATOMICITIES,
    FILLS,
    INTERLEAVES,
    SWIZZLES,
    WIDES,
)

_KEYS = (
    "shape", "box", "steps", "type", "swizzle", "atomicity", "fill", "lower", "upper", "channels", "pixels",
    "interleave", "wide",
)
_SIZES = re.compile(r"\d+(x\d+)*")
_CORNER = re.compile(r"-?\d+(/-?\d+)*")
ChoiceT = TypeVar("ChoiceT", bound=str)


def tensor(array: npt.NDArray[np.generic], words: Sequence[str]) -> TensorMap:
    """The tensor map of a buffer that words such as `box=4x16` describe. Raises ValueError for invalid words
    or an impossible tensor.
    """
    given: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in _KEYS:
            raise ValueError(f"`{word}`: expected KEY=VALUE; the keys are {', '.join(_KEYS)}")
        if key in given:
            raise ValueError(f"duplicate `{key}`")
        given[key] = value
    if "shape" in given:
        shape = _sizes("shape", given)
        if math.prod(shape) != array.size:
            raise ValueError(f"`shape={given['shape']}`: the buffer has {array.size} elements")
        array = array.reshape(shape)
    type = f".{given['type']}" if "type" in given else ""
    interleave = _choice("interleave", given, INTERLEAVES)
    rank = array.ndim - (interleave != "none")
    try:
        return tensor_map(
            array, box=_sizes("box", given) if "box" in given else (1,) * rank,
            steps=_sizes("steps", given) if "steps" in given else None, type=type,
            swizzle=_choice("swizzle", given, SWIZZLES), atomicity=_choice("atomicity", given, ATOMICITIES),
            fill=_choice("fill", given, FILLS), lower=_corner("lower", given), upper=_corner("upper", given),
            channels=_number("channels", given), pixels=_number("pixels", given), interleave=interleave,
            wide=_choice("wide", given, WIDES),
        )
    except ExecutionError as error:
        raise ValueError(str(error)) from error


def _sizes(key: str, given: dict[str, str]) -> tuple[int, ...]:
    text = given.get(key)
    if text is None:
        return ()
    if not _SIZES.fullmatch(text):
        raise ValueError(f"`{key}={text}`: expected sizes separated by `x`")
    return tuple(map(int, text.split("x")))


def _corner(key: str, given: dict[str, str]) -> tuple[int, ...]:
    text = given.get(key)
    if text is None:
        return ()
    if not _CORNER.fullmatch(text):
        raise ValueError(f"`{key}={text}`: expected numbers separated by `/`")
    return tuple(map(int, text.split("/")))


def _number(key: str, given: dict[str, str]) -> int:
    sizes = _sizes(key, given)
    if len(sizes) > 1:
        raise ValueError(f"`{key}={given[key]}`: expected one number")
    return sum(sizes)


def _choice(key: str, given: dict[str, str], choices: Sequence[ChoiceT]) -> ChoiceT:
    text = given.get(key, choices[0])
    for one in choices:
        if one.replace(" ", "-") == text:
            return one
    listed = ", ".join(one.replace(" ", "-") for one in choices if one)
    raise ValueError(f"`{key}={text}`: expected {listed}")
