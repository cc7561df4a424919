"""Element-wise reductions of asynchronous operations (`red.async`, `cp.reduce.async.bulk`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ptx_lsp.executor.arithmetic import floats
from ptx_lsp.executor.arithmetic.atomic_ops import AtomicOp, Sum
from ptx_lsp.executor.arithmetic.program import FLOAT, SIGNED, UNSIGNED, Array, DType
from ptx_lsp.executor.instructions.threads import Indices
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.isa.types import Kind, Type

Reduction: TypeAlias = Callable[[Array, Array], Array]
"""From old values and operands to new values, all as unsigned integers."""


def reduction(operation: str, type: Type, *, flushes: bool = False) -> Reduction:
    """`.add`, `.min`, `.inc`, `.and` and so on, of a type; where it `flushes`, subnormal operands and results
    are zeros.
    """
    raw = UNSIGNED[type.width]
    if type.name == ".bf16":
        return _of_bfloat(operation)
    if type.width not in UNSIGNED or operation not in _REDUCTIONS:
        raise ExecutionError(f"`{operation}` of `{type.name}` is not supported yet", "unsupported")
    dtype = _array_type(type)
    update = _of_floats(operation, flushes=flushes) if dtype.kind == "f" else _REDUCTIONS[operation]

    def combine(old: Array, new: Array) -> Array:
        return update(old.view(dtype), new.view(dtype)).astype(dtype, copy=False).view(raw)

    return combine


def apply_sequentially(memory: Array, index: Indices, values: Array, combine: Reduction) -> None:
    """Applies a reduction to the elements of memory at `index`; lanes with the same element take turns."""
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


def _of_floats(operation: str, *, flushes: bool = False) -> AtomicOp:
    return {".add": Sum(flushes), ".min": floats.least, ".max": floats.greatest}[operation]


def _of_bfloat(operation: str) -> Reduction:
    update = _of_floats(operation)

    def combine(old: Array, new: Array) -> Array:
        a, b = ((one.astype(np.uint32) << np.uint32(16)).view(np.float32) for one in (old, new))
        return to_bf16(update(a, b))

    return combine


def _increase(old: Array, new: Array) -> Array:
    return np.where(np.greater_equal(old, new), np.uint32(0), np.add(old, np.uint32(1)))


def _decrease(old: Array, new: Array) -> Array:
    wraps = np.logical_or(np.equal(old, 0), np.greater(old, new))
    return np.where(wraps, new, np.subtract(old, np.uint32(1)))


_REDUCTIONS: dict[str, AtomicOp] = {
    ".add": np.add,
    ".inc": _increase,
    ".dec": _decrease,
    ".min": np.minimum,
    ".max": np.maximum,
    ".and": np.bitwise_and,
    ".or": np.bitwise_or,
    ".xor": np.bitwise_xor,
}
