"""How asynchronous reductions combine what stands in memory with what comes: element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ptx_lsp.executor.errors import ExecutionError
from ptx_lsp.executor.program import FLOAT, SIGNED, UNSIGNED, Array, DType
from ptx_lsp.executor.threads import Indices
from ptx_lsp.executor.updates import Flushing
from ptx_lsp.isa.types import Kind, Type

Combine: TypeAlias = Callable[[Array, Array], Array]
"""From old values and operands to new values, all as unsigned integers."""


def combination(operation: str, type: Type, *, flushes: bool = False) -> Combine:
    """`.add`, `.min`, `.inc`, `.and` and so on, of a type; where it `flushes`, subnormal operands and results
    are zeros.
    """
    raw = UNSIGNED[type.width]
    if type.name == ".bf16":
        return _of_bfloat(operation)
    if type.width not in UNSIGNED or operation not in _UPDATES:
        raise ExecutionError(f"`{operation}` of `{type.name}` cannot be executed yet", "unsupported")
    dtype = _array_type(type)
    update = _add_flushed if flushes else _UPDATES[operation]

    def combine(old: Array, new: Array) -> Array:
        result = update(old.view(dtype), new.view(dtype)).astype(dtype, copy=False)
        if dtype.kind == "f":
            result = np.where(np.isnan(result), np.array(_NAN[type.width], raw).view(dtype), result)
        return result.view(raw)

    return combine


def in_turns(memory: Array, index: Indices, values: Array, combine: Combine) -> None:
    """Combines values with the elements of memory at `index`; those that meet take turns."""
    left = np.arange(index.size)
    while left.size:
        _, first = np.unique(index[left], return_index=True)
        now = left[first]
        memory[index[now]] = combine(memory[index[now]], values[now])
        left = np.delete(left, first)


def to_bf16(values: Array) -> Array:
    """Numbers of `.f32` rounded to the nearest `.bf16`, as bits; NaN is the canonical one."""
    bits = values.view(np.uint32)
    even = bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))
    rounded = np.where(np.isnan(values), np.uint32(0x7FFF), even >> np.uint32(16))
    return rounded.astype(np.uint16)


def _array_type(type: Type) -> DType:
    if type.kind is Kind.FLOAT:
        return FLOAT[type.width]
    return (SIGNED if type.kind is Kind.SIGNED else UNSIGNED)[type.width]


def _of_bfloat(operation: str) -> Combine:
    update = _UPDATES[operation]

    def combine(old: Array, new: Array) -> Array:
        a, b = ((one.astype(np.uint32) << np.uint32(16)).view(np.float32) for one in (old, new))
        return to_bf16(update(a, b).astype(np.float32))

    return combine


def _add_flushed(old: Array, new: Array) -> Array:
    return Flushing()(old.view(np.float32), new.view(np.float32))


def _increase(old: Array, new: Array) -> Array:
    return np.where(np.greater_equal(old, new), np.uint32(0), np.add(old, np.uint32(1)))


def _decrease(old: Array, new: Array) -> Array:
    wraps = np.logical_or(np.equal(old, 0), np.greater(old, new))
    return np.where(wraps, new, np.subtract(old, np.uint32(1)))


def _least(old: Array, new: Array) -> Array:
    return np.fmin(old, new) if old.dtype.kind == "f" else np.minimum(old, new)


def _greatest(old: Array, new: Array) -> Array:
    return np.fmax(old, new) if old.dtype.kind == "f" else np.maximum(old, new)


_NAN = {16: 0x7FFF, 32: 0x7FFFFFFF, 64: 0x7FF8000000000000}
_UPDATES: dict[str, Combine] = {
    ".add": np.add,
    ".inc": _increase,
    ".dec": _decrease,
    ".min": _least,
    ".max": _greatest,
    ".and": np.bitwise_and,
    ".or": np.bitwise_or,
    ".xor": np.bitwise_xor,
}
