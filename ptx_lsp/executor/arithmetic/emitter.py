"""Lowers exact integers (`integers`) to NumPy operations (`program`)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ptx_lsp.executor.arithmetic import wide
from ptx_lsp.executor.arithmetic.integers import Integers, limits
from ptx_lsp.executor.arithmetic.program import BOOL, SIGNED, UNSIGNED, Array, DType, Program

_RING: dict[str, np.ufunc] = {"+": np.add, "-": np.subtract, "*": np.multiply}
_BITWISE: dict[str, np.ufunc] = {"&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}
_RIGHT = {
    False: (wide.right, wide.high_right),
    True: (wide.right_signed, wide.high_right_signed),
}
_COMPARISON: dict[str, np.ufunc] = {"<": np.less, "<=": np.less_equal}


class Emitter:
    """Adds the operations that compute integers to a program; each value is requested in the form that its
    user needs.
    """

    def __init__(self, program: Program, dtypes: dict[int, DType]) -> None:
        """`dtypes` are those of the registers."""
        self.program = program
        self._dtypes = dtypes
        self._exact: dict[Integers, int] = {}
        self._modular: dict[tuple[Integers, int], int] = {}
        self._limbs: dict[Integers, tuple[int, int]] = {}

    def modular(self, value: Integers, bits: int) -> int:
        """The value modulo 2**bits, as an unsigned array; `bits` is 32 or 64."""
        key = (value, bits)
        if key not in self._modular:
            self._modular[key] = self._make_modular(value, bits)
        return self._modular[key]

    def exact(self, value: Integers) -> int:
        """The exact value, in the narrowest array type for its bounds."""
        if value not in self._exact:
            self._exact[value] = self._make_exact(value)
        return self._exact[value]

    def truth(self, value: Integers) -> int:
        """Whether the value is not 0."""
        if value.is_truth:
            return self.exact(value)
        if holder(value) is None:
            low, high = self.limbs(value)
            both = self.program.ufunc(np.bitwise_or, UNSIGNED[64], low, high)
            return self.program.cast(both, BOOL)
        if value.kind == "^" and value.parts[0].low >= 0 <= value.parts[1].low:
            return self._compare(np.not_equal, *value.parts)
        return self.program.cast(self.exact(value), BOOL)

    def limbs(self, value: Integers) -> tuple[int, int]:
        """The value modulo 2**128, as two unsigned arrays, the lower first."""
        if value not in self._limbs:
            self._limbs[value] = self._make_limbs(value)
        return self._limbs[value]

    # -- modulo a power of two ------------------------------------------------------------------

    def _make_modular(self, value: Integers, bits: int) -> int:
        program, dtype = self.program, UNSIGNED[bits]
        if value.value is not None:
            return program.constant(value.value, dtype)
        match value.kind:
            case "+" | "-" | "*" as kind:
                a, b = (self.modular(part, bits) for part in value.parts)
                return program.ufunc(_RING[kind], dtype, a, b)
            case "&" | "|" | "^" as kind if not all(part.is_truth for part in value.parts):
                a, b = (self.modular(part, bits) for part in value.parts)
                return program.ufunc(_BITWISE[kind], dtype, a, b)
            case "<<":
                a = self.modular(value.parts[0], bits)
                amount = program.cast(self.exact(value.parts[1]), dtype)
                return program.ufunc(np.left_shift, dtype, a, amount)
            case ">>" if bits + value.parts[1].high <= 64 and not _fits(value.parts[0], bits):
                a = self.modular(value.parts[0], 64)
                amount = program.cast(self.exact(value.parts[1]), UNSIGNED[64])
                return program.cast(program.ufunc(np.right_shift, UNSIGNED[64], a, amount), dtype)
            case "select":
                condition, yes, no = value.parts
                a, b = self.modular(yes, bits), self.modular(no, bits)
                return program.apply("where", _where, dtype, self.truth(condition), a, b)
            case "wrap" if value.number >= bits:
                return self.modular(value.parts[0], bits)
            case ">>" if holder(value) is None:
                return program.cast(self.limbs(value)[0], dtype)
            case _:
                return program.cast(self.exact(value), dtype)

    # -- exactly --------------------------------------------------------------------------------

    def _make_exact(self, value: Integers) -> int:
        program = self.program
        dtype = holder(value)
        if dtype is None:
            raise OverflowError(f"{value.kind} needs more than 64 bits")
        if value.value is not None:
            return program.constant(value.value, dtype)
        match value.kind:
            case "register":
                return self._register(value, dtype)
            case "float":
                return program.cast(value.number, dtype)
            case "<" | "<=" as kind:
                return self._compare(_COMPARISON[kind], *value.parts)
            case "&" | "|" | "^" as kind if all(part.is_truth for part in value.parts):
                a, b = (self.exact(part) for part in value.parts)
                return program.ufunc(_BITWISE[kind], BOOL, a, b)
            case ">>":
                return self._shifted(value, dtype)
            case "select":
                condition, yes, no = value.parts
                a, b = (program.cast(self.exact(part), dtype) for part in (yes, no))
                return program.apply("where", _where, dtype, self.truth(condition), a, b)
            case "wrap":
                return self._wrapped(value, dtype)
            case "divide" | "remainder":
                return self._divided(value, dtype)
            case "ones" | "highest":
                inner = value.parts[0]
                bits = self.modular(inner, 32 if _fits(inner, 32) else 64)
                function = np.bitwise_count if value.kind == "ones" else _highest
                return program.cast(program.apply(value.kind, function, UNSIGNED[8], bits), dtype)
            case _:
                bits = max(32, 8 * dtype.itemsize)
                return program.cast(self.modular(value, bits), dtype)

    def _register(self, value: Integers, dtype: DType) -> int:
        program = self.program
        own = self._dtypes[value.number]
        slot = program.register(value.number, own)
        if own == BOOL:
            return program.cast(slot, dtype)
        if value.signed:
            slot = program.view(slot, SIGNED[8 * own.itemsize])
        return program.cast(slot, dtype)

    def _compare(self, function: np.ufunc, a: Integers, b: Integers) -> int:
        both = Integers("+", min(a.low, b.low), max(a.high, b.high))
        dtype = holder(both)
        if dtype is None:
            arguments = (*self.limbs(a), *self.limbs(b))
            return self.program.apply(("wide", function.__name__), wide.comparison(function), BOOL,
                                      *arguments)
        left, right = (self.program.cast(self.exact(part), dtype) for part in (a, b))
        return self.program.ufunc(function, BOOL, left, right)

    def _shifted(self, value: Integers, dtype: DType) -> int:
        inner, amount = value.parts
        program = self.program
        own = holder(inner)
        if own is None:
            low, high = self.limbs(inner)
            by = program.cast(self.exact(amount), UNSIGNED[64])
            right = _RIGHT[inner.low < 0][0]
            slot = program.apply(right.__name__, right, UNSIGNED[64], low, high, by)
            return program.cast(slot, dtype)
        by = program.cast(self.exact(amount), own)
        return program.cast(program.ufunc(np.right_shift, own, self.exact(inner), by), dtype)

    def _wrapped(self, value: Integers, dtype: DType) -> int:
        program, width = self.program, value.number
        bits = 64 if width > 32 else 32
        slot = self.modular(value.parts[0], bits)
        if width not in (8, 16, 32, 64):
            mask = program.constant((1 << width) - 1, UNSIGNED[bits])
            slot = program.ufunc(np.bitwise_and, UNSIGNED[bits], slot, mask)
            if value.signed:
                top = program.constant(1 << width - 1, UNSIGNED[bits])
                slot = program.ufunc(np.bitwise_xor, UNSIGNED[bits], slot, top)
                slot = program.ufunc(np.subtract, UNSIGNED[bits], slot, top)
            return program.cast(slot, dtype)
        slot = program.cast(slot, UNSIGNED[width])
        return program.cast(program.view(slot, SIGNED[width]) if value.signed else slot, dtype)

    def _divided(self, value: Integers, dtype: DType) -> int:
        a, b = value.parts
        own = holder(Integers("+", min(a.low, b.low), max(a.high, b.high))) or SIGNED[64]
        arguments = [self.program.cast(self.exact(part), own) for part in (a, b)]
        function = _divide if value.kind == "divide" else _remainder
        result = self.program.apply(value.kind, function, own, *arguments)
        return self.program.cast(result, dtype)

    # -- in two limbs ---------------------------------------------------------------------------

    def _make_limbs(self, value: Integers) -> tuple[int, int]:
        program = self.program
        full = UNSIGNED[64]
        if value.value is not None:
            number = value.value
            return program.constant(number, full), program.constant(number >> 64, full)
        if holder(value) is not None:
            exact = self.exact(value)
            low = program.cast(exact, full)
            if value.low >= 0:
                return low, program.constant(0, full)
            return low, program.apply("sign", wide.sign, full, exact)
        if value.kind == ">>":
            inner, amount = value.parts
            arguments = (*self.limbs(inner), program.cast(self.exact(amount), full))
            right, high = _RIGHT[inner.low < 0]
            return (
                program.apply(right.__name__, right, full, *arguments),
                program.apply(high.__name__, high, full, *arguments),
            )
        low = self.modular(value, 64)
        match value.kind:
            case "<<":
                inner = self.limbs(value.parts[0])
                by = program.cast(self.exact(value.parts[1]), full)
                return low, program.apply("high_left", wide.high_left, full, *inner, by)
            case "select":
                condition, yes, no = value.parts
                a, b = self.limbs(yes)[1], self.limbs(no)[1]
                return low, program.apply("where", _where, full, self.truth(condition), a, b)
            case _:
                arguments = [slot for part in value.parts for slot in self.limbs(part)]
                name = ("high", value.kind)
                return low, program.apply(name, wide.HIGH[value.kind], full, *arguments)


def holder(value: Integers) -> DType | None:
    """The narrowest array type for all integers between the bounds; None where 64 bits are too few."""
    if value.is_truth:
        return BOOL
    for bits in (32, 64):
        for signed in (True, False):
            low, high = limits(bits, signed)
            if low <= value.low and value.high <= high:
                return (SIGNED if signed else UNSIGNED)[bits]
    return None


def _fits(value: Integers, bits: int) -> bool:
    return value.high < 1 << bits and value.low >= -(1 << bits - 1)


def _where(condition: Array, yes: Array, no: Array) -> Array:
    return np.where(condition, yes, no)


def _divide(a: Array, b: Array) -> Array:
    """Rounded towards zero; -1 where b is 0."""
    return _signs_apart(np.floor_divide, a, b, of_divisor=True)


def _remainder(a: Array, b: Array) -> Array:
    """With the sign of a; a where b is 0."""
    return _signs_apart(np.remainder, a, b, of_divisor=False)


def _signs_apart(function: Callable[..., Array], a: Array, b: Array, *, of_divisor: bool) -> Array:
    unsigned = UNSIGNED[8 * a.dtype.itemsize]
    zero = np.equal(b, 0)
    one = np.array(1, unsigned)
    x, y = np.absolute(a).view(unsigned), np.absolute(b).view(unsigned)  # the least becomes 2**(bits - 1)
    result = function(x, np.where(zero, one, y))
    if a.dtype.kind == "i":
        negative = np.less(a, 0)
        if of_divisor:
            negative = np.logical_xor(negative, np.less(b, 0))
        result = np.where(negative, np.negative(result), result)
    of_zero = np.negative(one) if of_divisor else a.view(unsigned)
    return np.where(zero, of_zero, result).view(a.dtype)


def _highest(bits: Array) -> Array:
    """One less than the number of bits that are needed; 255, that is -1, for 0."""
    filled = bits
    shift = 1
    while shift < 8 * bits.dtype.itemsize:
        filled = np.bitwise_or(filled, np.right_shift(filled, bits.dtype.type(shift)))
        shift *= 2
    return (np.bitwise_count(filled) - np.uint8(1)).view(np.int8)
