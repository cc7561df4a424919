"""Programs (`arithmetic.program`) as native code."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import cast

import numpy as np

from ptx_lsp.executor.arithmetic import floats
from ptx_lsp.executor.arithmetic.program import Array, DType, Program
from ptx_lsp.executor.native.ir import Code, NotLoweredError, Value, constant
from ptx_lsp.executor.native.traced import Traced, converted


def lowered(code: Code, program: Program, register: Callable[[int], Traced]) -> list[Value]:
    """The outputs of a program, each of the type that the program gives it. Raises NotLoweredError where an
    operation has no native code.
    """

    def applied(
        name: Hashable, dtype: DType, function: Callable[..., Array], operands: list[Traced]
    ) -> Traced:
        if name == ("fused", ".rn") and dtype.itemsize >= _LEAST_FUSED:
            return _fused(code, dtype, operands)
        found: object = function(*operands)
        if isinstance(found, Traced):  # of the type that NumPy would give it
            return found
        return Traced(code, constant(np.asarray(found).reshape(-1).astype(dtype)[0]), dtype)

    def known(array: Array) -> Traced:
        return Traced(code, constant(array.reshape(-1)[0]), array.dtype)

    def whole(value: Traced, dtype: DType) -> Value:
        return converted(code, value.value, value.dtype, dtype)

    try:
        found = program.interpreted(register, known, applied)
    except (AttributeError, TypeError) as error:  # what no array of traced values can do
        raise NotLoweredError(str(error)) from error
    types = [program.dtype(slot) for slot in program.outputs]
    return [whole(*one) for one in zip(found, types, strict=True)]


_LEAST_FUSED = 4


def called(code: Code, function: Callable[..., Array], operands: list[Traced]) -> Value:
    """The result of a function, of the type of its first operand. Raises NotLoweredError."""
    try:
        found: object = function(*operands)
    except (AttributeError, TypeError) as error:
        raise NotLoweredError(str(error)) from error
    if not isinstance(found, Traced):
        raise NotLoweredError("a constant")
    return converted(code, found.value, found.dtype, operands[0].dtype)


def _fused(code: Code, dtype: DType, operands: list[Traced]) -> Traced:
    """a * b + c, rounded once: there is an instruction for what NumPy has none."""
    values = [converted(code, one.value, one.dtype, dtype) for one in operands]
    found = Traced(code, code.intrinsic("fma", *values), dtype)
    if dtype.itemsize == _LEAST_FUSED:
        return found
    same = [Traced(code, one, dtype) for one in values]
    propagated = cast("Callable[..., Traced]", floats.propagated)
    return propagated(found, *same)
