"""Floating-point arithmetic against MPFR, in all roundings, at the edges and at random."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from tests.executor.arithmetic.instruction import run
from tests.executor.arithmetic.mpfr import MODES, Operation, inputs, number, rounded

OPERANDS: dict[Operation, int] = {
    "add": 2, "sub": 2, "mul": 2, "fma": 3, "div": 2, "rcp": 1, "sqrt": 1,
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("operation", OPERANDS)
def test_rounded_once(operation: Operation, width: int, mode: str) -> None:
    columns = [inputs(width, 1500, seed) for seed in range(OPERANDS[operation])]
    rows = [list(row) for row in zip(*columns, strict=True)]
    type = f".f{width}"
    found = run(f"{operation}{mode}{type}", rows, [type] * len(columns), [type])
    nan = (1 << (width - 1)) - 1
    wrong: list[str] = []
    for row, (got,) in zip(rows, found, strict=True):
        want = rounded(operation, [number(raw, width) for raw in row], width, mode)
        is_nan = math.isnan(number(got, width)) and (width == 64 or got == nan)
        if not is_nan if want is None else got != want:
            wrong.append(f"{[hex(raw) for raw in row]} -> {got:#x}, not {want}")
    assert wrong == []


@pytest.mark.parametrize(
    ("operation", "mode", "format"),
    [
        *((name, "", format) for name in ("add", "sub", "mul") for format in ("f16", "bf16")),
        ("fma", ".rn", "f16"),
        *(("fma", mode, "bf16") for mode in MODES),
    ],
)
def test_half_precision(operation: Operation, mode: str, format: str) -> None:
    """Alone, and in pairs."""
    columns = [inputs(16, 1000, seed) for seed in range(OPERANDS[operation])]
    rows = [list(row) for row in zip(*columns, strict=True)]
    target = 16 if format == "f16" else "bf16"
    found = run(f"{operation}{mode}.{format}", rows, [".b16"] * len(columns), [".b16"])
    for row, (got,) in zip(rows, found, strict=True):
        want = rounded(operation, [_half(raw, format) for raw in row], target, mode or ".rn")
        assert got == (0x7FFF if want is None else want), [hex(raw) for raw in row]
    pairs = [[a | b << 16 for a, b in zip(x, y, strict=True)] for x, y in pairwise(rows)]
    both = run(f"{operation}{mode}.{format}x2", pairs, [".b32"] * len(columns), [".b32"])
    assert [got for (got,) in both] == [a | b << 16 for (a,), (b,) in pairwise(found)]


def _half(raw: int, format: str) -> float:
    return number(raw, 16) if format == "f16" else number(raw << 16, 32)


@pytest.mark.parametrize("mode", MODES)
def test_conversion_to_brain_floats(mode: str) -> None:
    near = [raw << 16 | low for raw in inputs(16, 200, 2) for low in (1, 0x7FFF, 0x8000)]
    values = inputs(32, 1000, 1) + near
    found = run(f"cvt{mode}.bf16.f32", [[raw] for raw in values], [".f32"], [".b16"])
    for raw, (got,) in zip(values, found, strict=True):
        want = rounded("cvt", [number(raw, 32)], "bf16", mode)
        assert got == (0x7FFF if want is None else want), hex(raw)
