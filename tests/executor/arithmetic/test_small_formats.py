"""Conversions to and from floats of 8 bits and less: against ml_dtypes, and by searching among all values."""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from fractions import Fraction
from importlib import import_module
from itertools import pairwise

import numpy as np
import pytest

from ptx_lsp.executor import launch
from tests.executor.arithmetic.instruction import HEADER, run
from tests.executor.arithmetic.mpfr import bits, inputs, number

TYPES = import_module("ml_dtypes")  # it has no types
FORMATS = {
    "e4m3": ("float8_e4m3fn", 8), "e5m2": ("float8_e5m2", 8), "e2m3": ("float6_e2m3fn", 6),
    "e3m2": ("float6_e3m2fn", 6), "e2m1": ("float4_e2m1fn", 4),
}


def values(format: str) -> list[float]:
    """What each pattern stands for."""
    name, width = FORMATS[format]
    patterns = np.arange(1 << width, dtype=np.uint8)
    return [float(one) for one in patterns.view(getattr(TYPES, name)).astype(np.float32)]


def packed(format: str) -> str:
    return ".b8" if format == "e2m1" else ".b16"


def singles(format: str) -> list[int]:
    """Patterns of `.f32`: values of the format, what lies halfway between them, and others of all kinds."""
    finite = sorted(one for one in values(format) if math.isfinite(one))
    halves = [(low + high) / 2 for low, high in pairwise(finite)]
    near = [bits(one, 32) for one in finite + halves]
    near += [raw + step for raw in near for step in (-1, 1) if 0 < raw < 0xFFFFFFFF]
    some = random.Random(5)
    sizes = [bits(some.gauss(0, 1) * finite[-1] * 2.0 ** -some.randrange(14), 32) for _ in range(600)]
    return near + sizes + inputs(32, 300, 6)


def limited(raw: int, format: str) -> float:
    """The number, limited to what the format holds (.satfinite)."""
    most = max(one for one in values(format) if math.isfinite(one))
    return min(max(number(raw, 32), -most), most)


@pytest.mark.parametrize("format", FORMATS)
def test_rounded_to_nearest(format: str) -> None:
    name, width = FORMATS[format]
    raws = singles(format)
    found = run(
        f"cvt.rn.satfinite.{format}x2.f32", [[raw, 0x3F800000] for raw in raws], [".f32", ".f32"],
        [packed(format)],
    )
    one = values(format).index(1.0)
    shift = 4 if format == "e2m1" else 8
    for raw, (got,) in zip(raws, found, strict=True):
        value = number(raw, 32)
        want = int(np.float32(limited(raw, format)).astype(getattr(TYPES, name)).view(np.uint8))
        if math.isnan(value):  # the largest where there is no NaN
            want = 0x7F if width == 8 else (1 << width - 1) - 1
        assert got == want << shift | one, hex(raw)


@pytest.mark.parametrize("format", FORMATS)
def test_rounded_to_zero(format: str) -> None:
    raws = [raw for raw in singles(format) if not math.isnan(number(raw, 32))]
    rows = [list(pair) for pair in zip(raws, reversed(raws), strict=True)]
    found = run(f"cvt.rz.satfinite.{format}x2.f32", rows, [".f32", ".f32"], [packed(format)])
    every = values(format)
    sizes = sorted(one for one in every if one >= 0 and math.isfinite(one))
    for row, (got,) in zip(rows, found, strict=True):
        shift = 4 if format == "e2m1" else 8
        for raw, part in zip(row, (got >> shift, got & (1 << shift) - 1), strict=True):
            value = limited(raw, format)
            size = sizes[bisect_right(sizes, abs(value)) - 1]
            assert every[part] == math.copysign(size, value), hex(raw)
            assert math.copysign(1, every[part]) == math.copysign(1, value)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("target", ["f16x2", "bf16x2"])
def test_to_halves(format: str, target: str) -> None:
    width = 4 if format == "e2m1" else 8
    every = values(format)
    rows = [[low | high << width] for low, high in enumerate(reversed(range(len(every))))]
    found = run(f"cvt.rn.{target}.{format}x2", rows, [packed(format)], [".b32"])
    for (raw,), (got,) in zip(rows, found, strict=True):
        for at in (0, 1):
            value = every[raw >> at * width & (1 << width) - 1]
            part = got >> 16 * at & 0xFFFF
            if math.isnan(value):
                assert part == 0x7FFF
            else:
                assert part == (bits(value, 16) if target == "f16x2" else bits(value, 32) >> 16)


def stochastic(raw: int, format: str, random_bits: int) -> float:
    """Away from zero where the 16 uppermost bits that are cut off and the random ones carry."""
    value = limited(raw, format)
    sizes = sorted({abs(one) for one in values(format) if math.isfinite(one)})
    below = bisect_right(sizes, abs(value)) - 1
    if below == len(sizes) - 1:
        return math.copysign(sizes[-1], value)
    step = Fraction(sizes[below + 1]) - Fraction(sizes[below])
    cut = math.floor((Fraction(abs(value)) - Fraction(sizes[below])) / step * 65536)
    return math.copysign(sizes[below + (cut + random_bits >= 65536)], value)


@pytest.mark.parametrize("format", FORMATS)
def test_stochastic(format: str) -> None:
    some = random.Random(7)
    raws = [raw for raw in singles(format) if math.isfinite(number(raw, 32))]
    text = f"cvt.rs.satfinite.{format}x4.f32"
    width = 4 if format == "e2m1" else 8
    words = [some.getrandbits(32) for _ in range(6)]
    every = values(format)
    for word in words:
        groups = [raws[at : at + 4] for at in range(0, len(raws) - 3, 4)]
        found = run_vector(text, groups, word, ".b16" if width == 4 else ".b32")
        upper, lower = word >> 16, word & 0xFFFF
        if width == 4:
            upper, lower = (
                word >> 24 << 8 | word >> 8 & 0xFF, (word >> 16 & 0xFF) << 8 | word & 0xFF,
            )
        for group, got in zip(groups, found, strict=True):
            bits_of = [int(f"{upper:016b}"[::-1], 2), upper, int(f"{lower:016b}"[::-1], 2), lower]
            want = [stochastic(raw, format, one) for raw, one in zip(group, bits_of, strict=True)]
            parts = [every[got >> at * width & (1 << width) - 1] for at in (3, 2, 1, 0)]
            assert parts == want


def run_vector(text: str, groups: list[list[int]], word: int, result: str) -> list[int]:
    """Four sources in braces, each a constant of the program's own."""
    count = len(groups)
    size = 2 if result == ".b16" else 4
    source = HEADER + f"""
.entry k(.param .u64 x, .param .u64 y)
{{
  .reg .u64 %x, %y, %t;
  .reg .u32 %i;
  .reg .b32 %w;
  .reg .f32 %a, %b, %e, %f;
  .reg {result} %d;
  ld.param.u64 %x, [x];
  ld.param.u64 %y, [y];
  mov.u32 %i, %tid.x;
  mad.wide.u32 %x, %i, 16, %x;
  mad.wide.u32 %y, %i, {size}, %y;
  ld.global.v4.f32 {{%a, %b, %e, %f}}, [%x];
  mov.b32 %w, {word};
  {text} %d, {{%a, %b, %e, %f}}, %w;
  st.global{result} [%y], %d;
  ret;
}}
"""
    x = np.array(groups, np.uint32)
    y = np.zeros(count, f"u{size}")
    launch(source, entry="k", grid=1, block=count, args=[x, y])
    return [int(one) for one in y]


@pytest.mark.parametrize("mode", ["rz", "rp"])
def test_scales(mode: str) -> None:
    raws = [raw for raw in inputs(32, 500, 8) if math.isfinite(number(raw, 32))]
    found = run(
        f"cvt.{mode}.satfinite.ue8m0x2.f32", [[raw, raw ^ 1 << 31] for raw in raws], [".f32", ".f32"],
        [".b16"],
    )
    for raw, (got,) in zip(raws, found, strict=True):
        size = abs(Fraction(number(raw, 32)))
        powers = [Fraction(2) ** (code - 127) for code in range(255)]
        if mode == "rz":
            want = max((code for code, power in enumerate(powers) if power <= size), default=0)
        else:
            want = min((code for code, power in enumerate(powers) if power >= size), default=254)
        assert got == want << 8 | want, hex(raw)


def test_powers_of_two_as_brain_floats() -> None:
    found = run("cvt.rn.bf16x2.ue8m0x2", [[code << 8 | 127] for code in range(256)], [".b16"], [".b32"])
    for code, (got,) in enumerate(found):
        want = 0x7FFF if code == 255 else bits(2.0 ** (code - 127), 32) >> 16
        assert got == want << 16 | 0x3F80


@pytest.mark.parametrize("target", ["e4m3", "e5m2"])
@pytest.mark.parametrize("operation", ["add", "sub", "mul"])
@pytest.mark.parametrize("source", FORMATS)
def test_arithmetic(source: str, operation: str, target: str) -> None:
    """Each result is what the exact one is rounded to; what is too large is a NaN, or infinite."""
    some = random.Random(9)
    rows = [[some.getrandbits(16 if source == "e2m1" else 32), some.getrandbits(32)] for _ in range(300)]
    types = f"{target}x4.{source}x4" + (f".{target}x4" if operation == "mul" else "")
    holder = ".b16" if source == "e2m1" else ".b32"
    found = run(f"{operation}.rn.{types}", rows, [holder, ".b32"], [".b32"])
    first, second, every = values(source), values(target), values(target)
    name, _ = FORMATS[target]
    width, mask = FORMATS[source][1], len(first) - 1
    for (a, b), (got,) in zip(rows, found, strict=True):
        for at in range(4):
            x = first[a >> at * (4 if width == 4 else 8) & mask]
            y = second[b >> 8 * at & 255]
            exact = {"add": x + y, "sub": x - y, "mul": x * y}[operation]
            want = float(np.float64(exact).astype(getattr(TYPES, name)).astype(np.float32))
            assert np.array_equal(every[got >> 8 * at & 255], want, equal_nan=True), (x, y)
