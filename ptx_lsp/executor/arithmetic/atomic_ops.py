"""The new values that atomic operations write, from the old value and the operands.

Values of 16 bits and pairs of them are given as bits, those of 128 bits as rows of two halves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic import floats
from ptx_lsp.executor.arithmetic.program import FLOAT, SIGNED, UNSIGNED, Array, DType
from ptx_lsp.isa.types import Kind, Type

AtomicOp: TypeAlias = Callable[..., Array]
"""The read-modify-write function of an atomic operation."""
Halves: TypeAlias = npt.NDArray[np.uint16]


def array_type(type: Type) -> DType:
    """The array type of memory elements."""
    if type.kind is Kind.FLOAT and type.width > 16:
        return FLOAT[type.width]
    return (SIGNED if type.kind is Kind.SIGNED else UNSIGNED)[min(type.width, 64)]


def atomic_op(modifiers: frozenset[str], type: Type) -> AtomicOp:
    """The read-modify-write function that the modifiers name, for values of a type."""
    name = next(name for name in _ATOMIC_OPS if name in modifiers)
    if type.width == 128 and name == ".cas":
        return _compare_and_swap_wide
    element = type.name.removesuffix("x2")
    if element in (".f16", ".bf16"):
        return _HALVES[element, name]
    if type.kind is Kind.FLOAT and name == ".add":
        return Sum()
    return _ATOMIC_OPS[name]


@dataclass(frozen=True)
class Sum:
    """A sum of floats; where it `flushes`, subnormal operands and results are zeros."""

    flushes: bool = False

    def __call__(self, old: floats.Floats, b: floats.Floats) -> Array:
        if not self.flushes:
            return floats.propagated(old + b, old, b)
        return floats.propagated(floats.flushed(floats.flushed(old) + floats.flushed(b)), old, b)

    def accumulated(self, operands: floats.Floats) -> Array | None:
        """See `accumulated` below: one by one where NaNs or subnormals need more than a sum."""
        after: floats.Floats = np.add.accumulate(operands)
        if np.isnan(after[-1]):
            return None
        if self.flushes and (_some_are_subnormal(operands) or _some_are_subnormal(after)):
            return None
        return after


def accumulated(function: AtomicOp, operands: Array) -> Array | None:
    """The first operand and what it becomes with each of the others; None where they go one by one."""
    if isinstance(function, np.ufunc):
        return function.accumulate(operands)
    if not isinstance(function, Sum):
        return None
    return function.accumulated(operands.view(f"f{operands.dtype.itemsize}"))


def _some_are_subnormal(values: floats.Floats) -> bool:
    return bool(((np.abs(values) < np.finfo(values.dtype).smallest_normal) & (values != 0)).any())


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


_ATOMIC_OPS: dict[str, AtomicOp] = {
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


def _of_halves(function: Callable[..., floats.Floats]) -> AtomicOp:
    def compute(old: Array, b: Array) -> Array:
        result = function(old.view(np.float16), np.ascontiguousarray(b).view(np.float16))
        bits = np.where(np.isnan(result), np.uint16(0x7FFF), result.view(np.uint16))
        return bits.view(old.dtype)

    return compute


def _of_brains(function: Callable[..., floats.Floats]) -> AtomicOp:
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


_HALVES: dict[tuple[str, str], AtomicOp] = {
    (".f16", ".add"): _of_halves(np.add),
    (".f16", ".min"): _of_halves(floats.least),
    (".f16", ".max"): _of_halves(floats.greatest),
    (".bf16", ".add"): _of_brains(_brain_sum),
    (".bf16", ".min"): _of_brains(floats.least),
    (".bf16", ".max"): _of_brains(floats.greatest),
}
