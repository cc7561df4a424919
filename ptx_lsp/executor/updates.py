"""What an atomic operation writes: the new value, from the old one and the operands.

Values of 16 bits and pairs of them are given as bits, those of 128 bits as rows of two halves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor import floats
from ptx_lsp.executor.program import FLOAT, SIGNED, UNSIGNED, Array, DType
from ptx_lsp.isa.types import Kind, Type

Update: TypeAlias = Callable[..., Array]
"""The new value, from the old one and the operands."""
Halves: TypeAlias = npt.NDArray[np.uint16]


def array_type(type: Type) -> DType:
    """How the elements of memory are taken."""
    if type.kind is Kind.FLOAT and type.width > 16:
        return FLOAT[type.width]
    return (SIGNED if type.kind is Kind.SIGNED else UNSIGNED)[min(type.width, 64)]


def update(modifiers: frozenset[str], type: Type) -> Update:
    """What the operation among the modifiers does to a value of that type."""
    name = next(name for name in _UPDATES if name in modifiers)
    if type.width == 128 and name == ".cas":
        return _compare_and_swap_wide
    element = type.name.removesuffix("x2")
    if element in (".f16", ".bf16"):
        return _HALVES[element, name]
    return _UPDATES[name]


@dataclass(frozen=True)
class Flushing:
    """A sum with subnormal operands and results as zeros."""

    def __call__(self, old: floats.Floats, b: floats.Floats) -> Array:
        return floats.flushed(floats.flushed(old) + floats.flushed(b))


def accumulated(function: Update, operands: Array) -> Array | None:
    """The first operand and what it becomes with each of the others; None where they go one by one."""
    if isinstance(function, np.ufunc):
        return function.accumulate(operands)
    if not isinstance(function, Flushing):
        return None
    after: npt.NDArray[np.float32] = np.add.accumulate(operands.view(np.float32))
    least = np.finfo(np.float32).smallest_normal
    small = (np.abs(operands.view(np.float32)) < least) & (operands != 0)
    small |= (np.abs(after) < least) & (after != 0)
    return None if small.any() else after


def _increase(old: Array, b: Array) -> Array:
    return np.where(np.greater_equal(old, b), np.uint32(0), np.add(old, np.uint32(1)))


def _decrease(old: Array, b: Array) -> Array:
    wraps = np.logical_or(np.equal(old, 0), np.greater(old, b))
    return np.where(wraps, b, np.subtract(old, np.uint32(1)))


def compare_and_swap(old: Array, b: Array, c: Array) -> Array:
    return np.where(np.equal(old, b), c, old)


def _compare_and_swap_wide(old: Array, b: Array, c: Array) -> Array:
    return np.where(np.equal(old, b).all(axis=-1, keepdims=True), c, old)


def exchange(old: Array, b: Array) -> Array:
    return b


_UPDATES: dict[str, Update] = {
    ".add": np.add,
    ".inc": _increase,
    ".dec": _decrease,
    ".cas": compare_and_swap,
    ".exch": exchange,
    ".min": np.minimum,
    ".max": np.maximum,
    ".and": np.bitwise_and,
    ".or": np.bitwise_or,
    ".xor": np.bitwise_xor,
}


def _of_halves(function: Callable[..., floats.Floats]) -> Update:
    def compute(old: Array, b: Array) -> Array:
        result = function(old.view(np.float16), np.ascontiguousarray(b).view(np.float16))
        bits = np.where(np.isnan(result), np.uint16(0x7FFF), result.view(np.uint16))
        return bits.view(old.dtype)

    return compute


def _of_brains(function: Callable[..., floats.Floats]) -> Update:
    def compute(old: Array, b: Array) -> Array:
        x, y = (_widened(one.view(np.uint16)) for one in (old, np.ascontiguousarray(b)))
        result = function(x, y)
        upper = (result.view(np.uint32) >> np.uint32(16)).astype(np.uint16)
        bits = np.where(np.isnan(result), np.uint16(0x7FFF), upper)
        return bits.view(old.dtype)

    return compute


def _widened(bits: Halves) -> Array:
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def _brain_sum(x: floats.Floats, y: floats.Floats) -> floats.Floats:
    return floats.chopped(floats.odd_sum(x, y), 16, ".rn")


_HALVES: dict[tuple[str, str], Update] = {
    (".f16", ".add"): _of_halves(np.add),
    (".f16", ".min"): _of_halves(floats.least),
    (".f16", ".max"): _of_halves(floats.greatest),
    (".bf16", ".add"): _of_brains(_brain_sum),
    (".bf16", ".min"): _of_brains(floats.least),
    (".bf16", ".max"): _of_brains(floats.greatest),
}
