"""NumPy code as native code: functions on arrays are called with values that record what happens to them.

So what `arithmetic` says in NumPy operations is the only description of an instruction, however it is
executed. Where a function asks whether something holds in any lane, the answer is yes: it does so only to
skip what would change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ptx_lsp.executor.arithmetic.program import BOOL, DType
from ptx_lsp.executor.native.ir import (
    Code,
    NotLoweredError,
    Value,
    constant,
    integer,
    suffix,
    vector_of,
    vector_type,
)


class Traced(NDArrayOperatorsMixin):
    """An array with an element for each lane of a warp."""

    shape: Final[tuple[int, ...]] = ()

    def __init__(self, code: Code, value: Value, dtype: DType) -> None:
        self.code = code
        self.value = value
        self.dtype = dtype

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **settings: object
    ) -> Traced:
        lower = _UFUNCS.get(ufunc.__name__)
        if lower is None or method != "__call__" or settings.keys() - {"out"}:
            raise NotLoweredError(ufunc.__name__)
        kinds = [_kind(one) for one in inputs]
        *types, result = ufunc.resolve_dtypes((*kinds, None))
        operands = [self._operand(one, dtype) for one, dtype in zip(inputs, types, strict=True)]
        return Traced(self.code, lower(self.code, types[0], operands), result)

    def __array_function__(
        self, function: Callable[..., object], types: object, given: Sequence[object],
        settings: dict[str, object],
    ) -> Traced:
        if function is np.where and not settings:
            condition, yes, no = given
            *_, dtype = np.maximum.resolve_dtypes((_kind(yes), _kind(no), None))
            a, b = self._operand(yes, dtype), self._operand(no, dtype)
            return Traced(self.code, self.code.select(self._operand(condition, BOOL), a, b), dtype)
        if function is np.clip and not settings:
            value, low, high = given
            return _call(np.minimum, _call(np.maximum, value, low), high)
        if function is np.full_like and not settings:
            _, value = given
            return Traced(self.code, self._operand(value, self.dtype), self.dtype)
        raise NotLoweredError(function.__name__)

    def any(self) -> bool:
        return True

    def astype(self, dtype: DType, *, copy: bool = True) -> Traced:
        wanted: DType = np.dtype(dtype)
        return Traced(self.code, converted(self.code, self.value, self.dtype, wanted), wanted)

    def view(self, dtype: DType) -> Traced:
        wanted = np.dtype(dtype)
        if wanted.itemsize != self.dtype.itemsize:
            raise NotLoweredError("view")
        if BOOL in (wanted, self.dtype) and wanted != self.dtype:
            raise NotLoweredError("view")
        return Traced(self.code, self.code.convert("bitcast", self.value, vector_type(wanted)), wanted)

    def _operand(self, value: object, dtype: DType) -> Value:
        if isinstance(value, Traced):
            return converted(self.code, value.value, value.dtype, dtype)
        found = np.asarray(value)
        if found.size != 1:
            raise NotLoweredError("an array")
        return constant(found.reshape(-1).astype(dtype)[0])


def _call(function: Callable[..., object], *operands: object) -> Traced:
    """What a function of NumPy's makes of values of which one is traced."""
    found = function(*operands)
    assert isinstance(found, Traced)
    return found


def _kind(value: object) -> DType | type:
    """What decides the type of a result: a type, or `int` and `float` for numbers of Python."""
    if isinstance(value, Traced):
        return value.dtype
    if isinstance(value, bool | int | float) and not isinstance(value, np.generic):
        return type(value)
    return np.asarray(value).dtype


def converted(code: Code, value: Value, before: DType, after: DType) -> Value:
    """`astype`"""
    type = vector_type(after)
    if before == after:
        return value
    if after == BOOL:
        if before.kind == "f":
            return code.compare("fcmp une", value, constant(before.type(0)))
        return code.compare("icmp ne", value, 0)
    match before.kind, after.kind:
        case "f", "f" if before.itemsize == 4 * after.itemsize:
            return code.convert("fptrunc", _rounded_to_odd(code, value), type)
        case "f", "f":
            return code.convert("fpext" if after.itemsize > before.itemsize else "fptrunc", value, type)
        case "f", kind:
            return code.convert("fptosi" if kind == "i" else "fptoui", value, type)
        case kind, "f":
            return code.convert("sitofp" if kind == "i" else "uitofp", value, type)
        case kind, _:
            if before != BOOL and after.itemsize <= before.itemsize:
                return code.convert("trunc", value, type)
            return code.convert("sext" if kind == "i" else "zext", value, type)


def _rounded_to_odd(code: Code, value: Value) -> Value:
    """Doubles as floats: if inexact, the neighbour with an odd last bit, so that rounding to a half does not
    round twice. For processors without such a conversion LLVM calls a function that need not exist.
    """
    single = code.convert("fptrunc", value, vector_of("float"))
    back = code.convert("fpext", single, value.type)
    is_larger = code.compare("fcmp ogt", code.intrinsic("fabs", back), code.intrinsic("fabs", value))
    is_inexact = code.compare("fcmp one", back, value)
    bits = code.convert("bitcast", single, vector_of("i32"))
    toward_zero = code.binary("sub", bits, code.convert("zext", is_larger, bits.type))
    odd = code.binary("or", toward_zero, code.convert("zext", is_inexact, bits.type))
    return code.convert("bitcast", odd, single.type)


# -- ufuncs: from values of the type with which NumPy computes them ----------------------------------

_Lower = Callable[[Code, DType, list[Value]], Value]


def _by_kind(whole: str, real: str) -> _Lower:
    def lower(code: Code, dtype: DType, operands: list[Value]) -> Value:
        a, b = operands
        return code.binary(real if dtype.kind == "f" else whole, a, b)

    return lower


def _compared(condition: str, real: str) -> _Lower:
    def lower(code: Code, dtype: DType, operands: list[Value]) -> Value:
        a, b = operands
        if dtype.kind == "f":
            return code.compare(f"fcmp {real}", a, b)
        sign = "" if condition in ("eq", "ne") else "s" if dtype.kind == "i" else "u"
        return code.compare(f"icmp {sign}{condition}", a, b)

    return lower


def _function(name: str) -> _Lower:
    def lower(code: Code, dtype: DType, operands: list[Value]) -> Value:
        if dtype.kind != "f":
            raise NotLoweredError(name)
        return code.intrinsic(name, *operands)

    return lower


def _root(code: Code, dtype: DType, operands: list[Value]) -> Value:
    """The square root; behind a fence, since LLVM takes any NaN that replaces that of a negative number for
    the same one, and leaves it as it is.
    """
    return code.intrinsic("arithmetic.fence", _function("sqrt")(code, dtype, operands))


def _shifted(code: Code, dtype: DType, operands: list[Value], operation: str) -> Value:
    """As NumPy shifts by as many bits as there are, or more."""
    a, by = operands
    bits = 8 * dtype.itemsize
    if by.each is not None and by.each < bits:
        return code.binary(operation, a, by)
    fits = code.compare("icmp ult", by, bits)
    if operation == "ashr":
        limited = code.select(fits, by, integer(bits - 1, by.type))
        return code.binary(operation, a, limited)
    limited = code.select(fits, by, integer(0, by.type))
    return code.select(fits, code.binary(operation, a, limited), integer(0, a.type))


def _left(code: Code, dtype: DType, operands: list[Value]) -> Value:
    return _shifted(code, dtype, operands, "shl")


def _right(code: Code, dtype: DType, operands: list[Value]) -> Value:
    return _shifted(code, dtype, operands, "ashr" if dtype.kind == "i" else "lshr")


def _divided(code: Code, dtype: DType, operands: list[Value]) -> Value:
    a, b = operands
    if dtype.kind != "f":
        raise NotLoweredError("divide")
    return code.binary("fdiv", a, b)


def _unsigned(operation: str) -> _Lower:
    def lower(code: Code, dtype: DType, operands: list[Value]) -> Value:
        a, b = operands
        if dtype.kind != "u":
            raise NotLoweredError(operation)
        return code.binary(operation, a, b)

    return lower


def _negative(code: Code, dtype: DType, operands: list[Value]) -> Value:
    (a,) = operands
    return code.unary("fneg", a) if dtype.kind == "f" else code.binary("sub", integer(0, a.type), a)


def _absolute(code: Code, dtype: DType, operands: list[Value]) -> Value:
    (a,) = operands
    if dtype.kind == "f":
        return code.intrinsic("fabs", a)
    return code.intrinsic("abs", a) if dtype.kind == "i" else a


def _inverted(code: Code, dtype: DType, operands: list[Value]) -> Value:
    (a,) = operands
    return code.binary("xor", a, -1)


def _counted(code: Code, dtype: DType, operands: list[Value]) -> Value:
    (a,) = operands
    return code.convert("trunc", code.intrinsic("ctpop", a), vector_of("i8"))


def _is_nan(code: Code, dtype: DType, operands: list[Value]) -> Value:
    (a,) = operands
    return code.compare("fcmp uno", a, a) if dtype.kind == "f" else integer(0, vector_of("i1"))


def _size(code: Code, a: Value, dtype: DType) -> Value:
    if dtype.kind != "f":
        raise NotLoweredError("an integer")
    return code.intrinsic("fabs", a)


def _is_finite(code: Code, dtype: DType, operands: list[Value]) -> Value:
    limit = constant(dtype.type(np.inf))
    return code.compare("fcmp olt", _size(code, operands[0], dtype), limit)


def _is_infinite(code: Code, dtype: DType, operands: list[Value]) -> Value:
    limit = constant(dtype.type(np.inf))
    return code.compare("fcmp oeq", _size(code, operands[0], dtype), limit)


def _sign(code: Code, dtype: DType, operands: list[Value]) -> Value:
    whole = vector_of(f"i{8 * dtype.itemsize}")
    return code.compare("icmp slt", code.convert("bitcast", operands[0], whole), 0)


def _next(code: Code, dtype: DType, operands: list[Value]) -> Value:
    """The next float towards another."""
    whole = np.dtype(f"i{dtype.itemsize}")
    a, to = (Traced(code, one, dtype) for one in operands)
    zero, one = dtype.type(0), whole.type(1)
    bits = a.view(whole)
    away = _call(np.equal, _call(np.less, a, to), _call(np.greater, a, zero))
    moved = _call(np.where, away, _call(np.add, bits, one), _call(np.subtract, bits, one)).view(dtype)
    least = _call(np.copysign, np.ones((), whole).view(dtype), to)
    found = _call(np.where, _call(np.equal, a, zero), least, moved)
    found = _call(np.where, _call(np.equal, a, to), to, found)
    found = _call(np.where, _call(np.isnan, to), to, found)
    return _call(np.where, _call(np.isnan, a), a, found).value


def _extreme(operation: str) -> _Lower:
    """`minimum` and `maximum`: a NaN wins."""

    def lower(code: Code, dtype: DType, operands: list[Value]) -> Value:
        a, b = operands
        if dtype.kind == "f":
            relation = "ole" if operation == "less_equal" else "oge"
            first = code.compare(f"fcmp {relation}", a, b)
            unordered = code.compare("fcmp uno", a, a)
            return code.select(code.binary("or", first, unordered), a, b)
        relation = "le" if operation == "less_equal" else "ge"
        sign = "s" if dtype.kind == "i" else "u"
        return code.select(code.compare(f"icmp {sign}{relation}", a, b), a, b)

    return lower


def _reciprocal(code: Code, dtype: DType, operands: list[Value]) -> Value:
    (a,) = operands
    return code.binary("fdiv", constant(dtype.type(1)), a)


def _with_sign(code: Code, dtype: DType, operands: list[Value]) -> Value:
    a, sign = operands
    return code.call(a.type, f"llvm.copysign.{suffix(a.type)}", a, sign)


def _bitwise(operation: str) -> _Lower:
    def lower(code: Code, dtype: DType, operands: list[Value]) -> Value:
        a, b = operands
        return code.binary(operation, a, b)

    return lower


def _logical(operation: str) -> _Lower:
    def lower(code: Code, dtype: DType, operands: list[Value]) -> Value:
        a, b = (converted(code, one, dtype, BOOL) for one in operands)
        return code.binary(operation, a, b)

    return lower


def _square(code: Code, dtype: DType, operands: list[Value]) -> Value:
    (a,) = operands
    return code.binary("fmul" if dtype.kind == "f" else "mul", a, a)


def _power(code: Code, dtype: DType, operands: list[Value]) -> Value:
    a, by = operands
    if by.text != constant(dtype.type(2)).text:
        raise NotLoweredError("power")
    return _square(code, dtype, [a])


_UFUNCS: dict[str, _Lower] = {
    "add": _by_kind("add", "fadd"),
    "subtract": _by_kind("sub", "fsub"),
    "multiply": _by_kind("mul", "fmul"),
    "divide": _divided,
    "floor_divide": _unsigned("udiv"),
    "remainder": _unsigned("urem"),
    "negative": _negative,
    "absolute": _absolute,
    "square": _square,
    "power": _power,
    "reciprocal": _reciprocal,
    "sqrt": _root,
    "rint": _function("rint"),
    "trunc": _function("trunc"),
    "floor": _function("floor"),
    "ceil": _function("ceil"),
    "bitwise_and": _bitwise("and"),
    "bitwise_or": _bitwise("or"),
    "bitwise_xor": _bitwise("xor"),
    "invert": _inverted,
    "left_shift": _left,
    "right_shift": _right,
    "bitwise_count": _counted,
    "less": _compared("lt", "olt"),
    "less_equal": _compared("le", "ole"),
    "greater": _compared("gt", "ogt"),
    "greater_equal": _compared("ge", "oge"),
    "equal": _compared("eq", "oeq"),
    "not_equal": _compared("ne", "une"),
    "logical_and": _logical("and"),
    "logical_or": _logical("or"),
    "logical_xor": _logical("xor"),
    "isnan": _is_nan,
    "isfinite": _is_finite,
    "isinf": _is_infinite,
    "signbit": _sign,
    "copysign": _with_sign,
    "nextafter": _next,
    "minimum": _extreme("less_equal"),
    "maximum": _extreme("greater_equal"),
}

