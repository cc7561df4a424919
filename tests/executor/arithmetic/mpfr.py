"""Correctly rounded arithmetic from MPFR (gmpy2), and floats of each format as bits."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Sequence
from importlib import import_module
from typing import Literal

MPFR = import_module("gmpy2")  # it has no types

Operation = Literal["add", "sub", "mul", "fma", "div", "rcp", "sqrt", "cvt"]
FORMATS = {
    16: (11, -23, 16, "<e", "<H"), 32: (24, -148, 128, "<f", "<I"), 64: (53, -1073, 1024, "<d", "<Q"),
}
"""By width: precision, exponents of MPFR, and how `struct` packs the float and its bits."""
MODES = {
    ".rn": "RoundToNearest", ".rz": "RoundToZero", ".rm": "RoundDown", ".rp": "RoundUp",
}


def bits(value: float, width: int) -> int:
    _, _, _, code, raw = FORMATS[width]
    return int(struct.unpack(raw, struct.pack(code, value))[0])


def number(raw: int, width: int) -> float:
    _, _, _, code, unsigned = FORMATS[width]
    return float(struct.unpack(code, struct.pack(unsigned, raw))[0])


def rounded(
    operation: Operation, operands: Sequence[float | int], width: int | str, mode: str
) -> int | None:
    """The bits of the exact result rounded once to a float of that width, or to "bf16"; None for a NaN."""
    precision, least, greatest = FORMATS[width][:3] if isinstance(width, int) else (8, -132, 128)
    # Made outside of the context, which would round them to its own exponents.
    numbers = [MPFR.mpz(one) if isinstance(one, int) else MPFR.mpfr(one, 53) for one in operands]
    with MPFR.context(
        precision=precision, emin=least, emax=greatest, subnormalize=True,
        round=getattr(MPFR, MODES[mode]),
    ):
        match operation:
            case "rcp":
                result = float(MPFR.div(MPFR.mpfr(1), *numbers))
            case "cvt":
                result = float(MPFR.mpfr(*numbers))
            case _:
                result = float(getattr(MPFR, operation)(*numbers))
    if math.isnan(result):
        return None
    return bits(result, width) if isinstance(width, int) else bits(result, 32) >> 16


def inputs(width: int, count: int, seed: int) -> list[int]:
    """Patterns of floats: edges, neighbours of powers of two, and random ones of all kinds."""
    precision = FORMATS[width][0]
    mantissa = precision - 1
    exponents = (1 << (width - precision)) - 1
    chosen = random.Random(seed)
    infinity = exponents << mantissa
    edges = [0, 1, 2, (1 << mantissa) - 1, 1 << mantissa, infinity, infinity - 1]
    edges += [bits(1.0, width), bits(1.0, width) - 1, bits(1.0, width) + 1, bits(3.0, width)]
    edges.append(infinity | 1 << (mantissa - 1))
    found = [edge | sign << (width - 1) for edge in edges for sign in (0, 1)]
    middle = exponents >> 1
    near = 30 if width > 16 else 7
    while len(found) < count:
        kind = chosen.randrange(4)
        exponent = (
            chosen.randrange(exponents + 1) if kind < 2 else middle + chosen.randrange(-near, near)
        )
        fraction = chosen.getrandbits(mantissa)
        if kind % 2:
            fraction &= -1 << chosen.randrange(mantissa)
        found.append(chosen.getrandbits(1) << (width - 1) | exponent << mantissa | fraction)
    chosen.shuffle(found)
    return found
