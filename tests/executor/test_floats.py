"""Floating-point arithmetic against MPFR (gmpy2), in all roundings, at the edges and at random."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable

import gmpy2
import pytest

from tests.executor.instruction import run

FORMATS = {16: (11, -23, 16, "<e", "<H"), 32: (24, -148, 128, "<f", "<I"), 64: (53, -1073, 1024, "<d", "<Q")}
MODES = {
    ".rn": gmpy2.RoundToNearest, ".rz": gmpy2.RoundToZero, ".rm": gmpy2.RoundDown, ".rp": gmpy2.RoundUp,
}
Function = Callable[..., gmpy2.mpfr]
OPERATIONS: dict[str, tuple[int, Function]] = {
    "add": (2, gmpy2.add), "sub": (2, gmpy2.sub), "mul": (2, gmpy2.mul), "fma": (3, gmpy2.fma),
    "div": (2, gmpy2.div), "rcp": (1, lambda a: gmpy2.div(gmpy2.mpfr(1), a)), "sqrt": (1, gmpy2.sqrt),
}


def bits(value: float, width: int) -> int:
    _, _, _, code, raw = FORMATS[width]
    return int(struct.unpack(raw, struct.pack(code, value))[0])


def number(raw: int, width: int) -> float:
    _, _, _, code, unsigned = FORMATS[width]
    return float(struct.unpack(code, struct.pack(unsigned, raw))[0])


def inputs(width: int, count: int, seed: int) -> list[int]:
    """Patterns of floats: edges, neighbours of powers of two, and random ones of all kinds."""
    precision, least, greatest = FORMATS[width][:3]
    mantissa = precision - 1
    exponents = (1 << (width - precision)) - 1
    chosen = random.Random(seed)
    edges = [0, 1, 2, (1 << mantissa) - 1, 1 << mantissa, exponents << mantissa, (exponents << mantissa) - 1]
    edges += [bits(1.0, width), bits(1.0, width) - 1, bits(1.0, width) + 1, bits(3.0, width)]
    edges.append((exponents << mantissa) | 1 << (mantissa - 1))
    found = [edge | sign << (width - 1) for edge in edges for sign in (0, 1)]
    middle = exponents >> 1
    while len(found) < count:
        kind = chosen.randrange(4)
        exponent = chosen.randrange(exponents + 1) if kind < 2 else middle + chosen.randrange(-30, 30) // (
            1 if width > 16 else 4
        )
        fraction = chosen.getrandbits(mantissa)
        if kind % 2:
            fraction &= -1 << chosen.randrange(mantissa)
        found.append(chosen.getrandbits(1) << (width - 1) | exponent << mantissa | fraction)
    chosen.shuffle(found)
    return found


def expected(function: Function, operands: list[float], width: int, mode: str) -> int | None:
    """The bits of the exact result rounded once; None for a NaN."""
    precision, least, greatest = FORMATS[width][:3]
    numbers = [gmpy2.mpfr(one, 53) for one in operands]
    with gmpy2.context(
        precision=precision, emin=least, emax=greatest, subnormalize=True, round=MODES[mode]
    ):
        result = float(function(*numbers))
    return None if math.isnan(result) else bits(result, width)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_rounded_once(operation: str, width: int, mode: str) -> None:
    arity, function = OPERATIONS[operation]
    count = 1500
    columns = [inputs(width, count, seed) for seed in range(arity)]
    rows = [list(row) for row in zip(*columns, strict=True)]
    type = f".f{width}"
    found = run(f"{operation}{mode}{type}", rows, [type] * arity, [type])
    nan = (1 << (width - 1)) - 1
    wrong: list[str] = []
    for row, (got,) in zip(rows, found, strict=True):
        want = expected(function, [number(raw, width) for raw in row], width, mode)
        is_nan = math.isnan(number(got, width)) and (width == 64 or got == nan)
        if not is_nan if want is None else got != want:
            wrong.append(f"{[hex(raw) for raw in row]} -> {got:#x}, not {want if want is None else hex(want)}")
    assert wrong == []
