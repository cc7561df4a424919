"""Floating-point arithmetic against MPFR, in all roundings, at the edges and at random."""

from __future__ import annotations

import math

import pytest

from tests.executor.instruction import run
from tests.executor.mpfr import MODES, Operation, inputs, number, rounded

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
