"""The meaning of video instructions (PTX ISA, "Video Instructions"): in exact integers, truncated at the end.

An operand comes with its selector applied: `a.b1` is a byte, with a sign where its type has one. What SIMD
instructions select is theirs to pick out.
"""

from __future__ import annotations

from collections.abc import Callable

from ptx_lsp.isa.schema.meaning import Lanes, Operation

_PLACES = {
    "": (0, 32), ".b0": (0, 8), ".b1": (8, 8), ".b2": (16, 8), ".b3": (24, 8), ".h0": (0, 16),
    ".h1": (16, 16),
}
"""Of a selector behind d: the lowest bit and the width."""

Merged = Callable[..., Lanes]


def scalar(name: str) -> Merged:
    """`vadd`, `vsub`, `vabsdiff`, `vmin` or `vmax`."""

    def meaning(op: Operation, a: Lanes, b: Lanes, c: Lanes | None = None) -> Lanes:
        return _finished(op, _combined(op, name, a, b), c)

    return meaning


def shifted(name: str) -> Merged:
    """`vshl` or `vshr`."""

    def meaning(op: Operation, a: Lanes, b: Lanes, c: Lanes | None = None) -> Lanes:
        amount = b & 31 if op.has(".wrap") else op.select(b < 32, b, 32)
        return _finished(op, a << amount if name == "vshl" else a >> amount, c)

    return meaning


def compared(op: Operation, a: Lanes, b: Lanes, c: Lanes | None = None) -> Lanes:
    """`vset`"""
    return _finished(op, _comparison(op, a, b), c)


def multiplied(op: Operation, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    """`vmad`; a and b are negated already, and two minus signs cancel out."""
    of_product = op.negated("a") != op.negated("b")
    signed = ".s32" in (op.slot("atype"), op.slot("btype")) or of_product or op.negated("c")
    added = -_limited(-c, 32, signed=True) if op.negated("c") else _limited(c, 32, signed)
    total = a * b + added + op.has(".po") >> {"": 0, ".shr7": 7, ".shr15": 15}[op.slot("scale")]
    return _clamped(op, total, 32, signed) if op.has(".sat") else total


def simd(name: str, count: int) -> Merged:
    """`vadd2`, `vavrg4` and so on, of `count` parts."""
    operation = name.rstrip("24")

    def meaning(op: Operation, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
        results = [_combined(op, operation, x, y) for x, y in _pairs(op, count, a, b)]
        if op.has(".sat"):
            signed = op.slot("dtype") == ".s32"
            results = [_clamped(op, one, 32 // count, signed) for one in results]
        return _gathered(op, results, c)

    return meaning


def compared_parts(count: int) -> Merged:
    """`vset2` or `vset4`."""

    def meaning(op: Operation, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
        return _gathered(op, [_comparison(op, x, y) for x, y in _pairs(op, count, a, b)], c)

    return meaning


def _combined(op: Operation, name: str, a: Lanes, b: Lanes) -> Lanes:
    match name:
        case "vadd":
            return a + b
        case "vsub":
            return a - b
        case "vabsdiff":
            return abs(a - b)
        case "vmin":
            return op.select(a < b, a, b)
        case "vmax":
            return op.select(a < b, b, a)
        case _:  # vavrg: halves are rounded away from 0
            total = a + b
            return total + 1 - (total < 0) >> 1


def _comparison(op: Operation, a: Lanes, b: Lanes) -> Lanes:
    match op.slot("cmp"):
        case ".eq":
            return (a <= b) & (b <= a)
        case ".ne":
            return (a < b) | (b < a)
        case ".lt":
            return a < b
        case ".le":
            return a <= b
        case ".gt":
            return b < a
        case _:
            return b <= a


def _finished(op: Operation, value: Lanes, c: Lanes | None) -> Lanes:
    """Saturates a scalar result, and merges it into c or combines it with c."""
    at, width = _PLACES[op.selector("d")]
    if op.has(".sat"):
        value = _clamped(op, value, width, signed=op.slot("dtype") == ".s32")
    if c is None:
        return value
    match op.slot("op2"):
        case ".add":
            return value + c
        case ".min":
            return op.select(value < c, value, c)
        case ".max":
            return op.select(value < c, c, value)
        case _:
            mask = (1 << width) - 1
            return (value & mask) << at | c & ~(mask << at)


def _pairs(op: Operation, count: int, a: Lanes, b: Lanes) -> list[tuple[Lanes, Lanes]]:
    """The parts of a and b that are combined, the lowest first."""
    width = 32 // count
    mask = (1 << width) - 1
    parts = [one >> at * width & mask for one in (a, b) for at in range(count)]
    chosen: list[list[Lanes]] = []
    for name, first in (("a", 0), ("b", count)):
        digits = op.selector(name)[2:] or "76543210"[-first - count :][:count]
        signed = op.slot(f"{name}type") == ".s32"
        chosen.append([_limited(parts[int(digit)], width, signed) for digit in reversed(digits)])
    return list(zip(*chosen, strict=True))


def _gathered(op: Operation, results: list[Lanes], c: Lanes) -> Lanes:
    """Sums up the results that the mask names, or puts them into c."""
    count = len(results)
    named = op.selector("d")[2:] or "3210"
    total = c
    for at, value in enumerate(results):
        if str(at) not in named:
            continue
        if op.has(".add"):
            total = total + value
        else:
            mask, shift = (1 << 32 // count) - 1, at * 32 // count
            total = total & ~(mask << shift) | (value & mask) << shift
    return total


def _limited(value: Lanes, width: int, signed: bool) -> Lanes:
    """The value modulo 2**width, with or without a sign."""
    bits = value & (1 << width) - 1
    top = 1 << width - 1
    return (bits ^ top) - top if signed else bits


def _clamped(op: Operation, value: Lanes, width: int, signed: bool) -> Lanes:
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
    value = op.select(value < low, low, value)
    return op.select(value <= high, value, high)
