"""`mma`: the layouts of the manual, shape by shape, and sums in exact fractions."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module

import numpy as np
import numpy.typing as npt
import pytest

from tests.executor.warp_kernel import run_warp
from tests.oracle.exact.fragments import LEFT, RIGHT, SUM, Formula

MPFR = import_module("gmpy2")  # it has no types

Place = tuple[int, int]
Layout = Callable[[int, int], Place]
"""From the lane and the number of an element to its row and column."""
Matrix = npt.NDArray[np.float64]


def _by_lane(formula: Formula) -> Layout:
    return lambda lane, i: formula(lane >> 2, lane % 4, i)


_sums = _by_lane(SUM[16])  # of 8 rows they are the first
LAYOUTS = {place: (_by_lane(LEFT[place]), _by_lane(RIGHT[place])) for place in LEFT}
WIDTHS = {
    "f64": 64, "f16": 16, "bf16": 16, "tf32": 32, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "e4m3": 8, "e5m2": 8,
    "e2m3": 8, "e3m2": 8, "e2m1": 8,
}
TYPES = import_module("ml_dtypes")  # it has no types
SMALL = {
    "e4m3": ("float8_e4m3fn", 254), "e5m2": ("float8_e5m2", 255), "e2m3": ("float6_e2m3fn", 64),
    "e3m2": ("float6_e3m2fn", 64), "e2m1": ("float4_e2m1fn", 16),
}


def drawn(type: str, shape: tuple[int, int], some: random.Random) -> tuple[npt.NDArray[np.uint64], Matrix]:
    """Bits and what they stand for."""
    count = shape[0] * shape[1]
    normal = np.array([some.gauss(0, 1) * 2.0 ** some.randrange(-6, 7) for _ in range(count)])
    if type in SMALL:
        name, codes = SMALL[type]
        bits = np.array([some.randrange(codes) & (0x7B if type == "e5m2" else 255) for _ in range(count)])
        values = bits.astype(np.uint8).view(getattr(TYPES, name)).astype(np.float64)
        if type == "e4m3":
            values = np.where(np.isnan(values), 0.0, values)
            bits = np.where(bits & 0x7F == 0x7F, 0, bits)
        return (bits << (2 if type == "e2m1" else 0)).astype(np.uint64).reshape(shape), values.reshape(shape)
    if type[0] in "su":
        width = int(type[1:])
        low = -(1 << width - 1) if type[0] == "s" else 0
        values = np.array([some.randrange(low, low + (1 << width)) for _ in range(count)])
        bits = (values & (1 << width) - 1).astype(np.uint64)
        return bits.reshape(shape), values.astype(np.float64).reshape(shape)
    raw: npt.NDArray[np.unsignedinteger]
    match type:
        case "f64":
            raw, values = normal.view(np.uint64), normal
        case "f16":
            half = normal.astype(np.float16)
            raw, values = half.view(np.uint16), half.astype(np.float64)
        case _:
            dropped = 16 if type == "bf16" else 13
            single = normal.astype(np.float32).view(np.uint32) >> np.uint32(dropped) << np.uint32(dropped)
            values = single.view(np.float32).astype(np.float64)
            raw = single >> np.uint32(16) if type == "bf16" else single
    return raw.astype(np.uint64).reshape(shape), values.reshape(shape)


def registers(bits: npt.NDArray[np.uint64], layout: Layout, width: int) -> npt.NDArray[np.unsignedinteger]:
    """Lanes by registers."""
    count = bits.size // 32
    each = max(32 // width, 1)
    found = np.zeros((32, -(-count // each)), np.uint64 if width == 64 else np.uint32)
    for lane in range(32):
        for i in range(count):
            found[lane, i // each] |= bits[layout(lane, i)].astype(found.dtype) << found.dtype.type(
                i % each * width if width < 64 else 0
            )
    return found


def rounded(value: Fraction, type: str) -> float:
    precision, least, most = (24, -148, 128) if type == "f32" else (11, -23, 16)
    with MPFR.context(precision=precision, emin=least, emax=most, subnormalize=True):
        return float(MPFR.mpfr(MPFR.mpq(value.numerator, value.denominator)))


CASES = [
    ("m16n8k8", "f32", "f16", "f16", ""), ("m16n8k16", "f32", "f16", "f16", ""),
    ("m16n8k16", "f16", "f16", "f16", ""), ("m16n8k8", "f16", "f16", "f16", ""),
    ("m16n8k8", "f32", "bf16", "bf16", ""), ("m16n8k16", "f32", "bf16", "bf16", ""),
    ("m16n8k4", "f32", "tf32", "tf32", ""), ("m16n8k8", "f32", "tf32", "tf32", ""),
    ("m16n8k32", "f32", "e4m3", "e5m2", ""), ("m16n8k16", "f16", "e5m2", "e4m3", ""),
    ("m16n8k32", "f32", "e2m1", "e3m2", ".kind::f8f6f4"),
    ("m16n8k32", "f16", "e2m3", "e2m1", ".kind::f8f6f4"),
]


@pytest.mark.parametrize(("shape", "sum", "left", "right", "kind"), CASES)
def test_floats(shape: str, sum: str, left: str, right: str, kind: str) -> None:
    some = random.Random(1)
    k = int(shape.partition("k")[2])
    a_bits, a = drawn(left, (16, k), some)
    b_bits, b = drawn(right, (k, 8), some)
    c = np.array([[some.gauss(0, 4) for _ in range(8)] for _ in range(16)])
    c = c.astype(np.float16 if sum == "f16" else np.float32)
    a_layout, b_layout = LAYOUTS[shape, WIDTHS[left]]
    c_width = 16 if sum == "f16" else 32
    c_bits = c.view(np.uint16 if sum == "f16" else np.uint32).astype(np.uint64)
    inputs = {
        "a": registers(a_bits, a_layout, WIDTHS[left]), "b": registers(b_bits, b_layout, WIDTHS[right]),
        "c": registers(c_bits, _sums, c_width),
    }
    type = ".b32" if sum == "f16" else ".f32"
    found = run_warp(
        f"mma.sync.aligned.{shape}.row.col{kind}.{sum}.{left}.{right}.{sum} {{d}}, {{a}}, {{b}}, {{c}}",
        inputs, {"d": (type, 2 if sum == "f16" else 4)}, {"c": type}, "sm_120a" if kind else "sm_90",
    )["d"]
    for lane in range(32):
        for i in range(4):
            row, column = _sums(lane, i)
            exact = Fraction(float(c[row, column]))
            for at in range(k):
                exact += Fraction(a[row, at]) * Fraction(b[at, column])
            if sum == "f16":
                half = found[lane, i // 2] >> np.uint32(16 * (i % 2))
                got = float(half.astype(np.uint16).view(np.float16))
            else:
                got = float(found[lane, i].view(np.float32))
            assert got == rounded(exact, sum), (row, column)


@pytest.mark.parametrize("mode", ["", ".rz", ".rm", ".rp"])
@pytest.mark.parametrize("shape", ["m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"])
def test_doubles(shape: str, mode: str) -> None:
    """Multiplied and added one after the other, as fma does."""
    some = random.Random(2)
    m, k = int(shape[1 : shape.index("n")]), int(shape.partition("k")[2])
    a_bits, a = drawn("f64", (m, k), some)
    b_bits, b = drawn("f64", (k, 8), some)
    c_bits, c = drawn("f64", (m, 8), some)
    a_layout, b_layout = LAYOUTS[shape, 64]
    inputs = {
        "a": registers(a_bits, a_layout, 64), "b": registers(b_bits, b_layout, 64),
        "c": registers(c_bits, _sums, 64),
    }
    types: dict[str, str] = dict.fromkeys("abcd", ".f64")
    found = run_warp(
        f"mma.sync.aligned.{shape}.row.col{mode}.f64.f64.f64.f64 {{d}}, {{a}}, {{b}}, {{c}}",
        inputs, {"d": (".f64", m // 4)}, types,
    )["d"].view(np.float64)
    name = {"": "RoundToNearest", ".rz": "RoundToZero", ".rm": "RoundDown", ".rp": "RoundUp"}[mode]
    with MPFR.context(precision=53, round=getattr(MPFR, name)):
        for lane in range(32):
            for i in range(m // 4):
                row, column = _sums(lane, i)
                want = MPFR.mpfr(c[row, column])
                for at in range(k):
                    want = MPFR.fma(MPFR.mpfr(a[row, at]), MPFR.mpfr(b[at, column]), want)
                assert float(want) == found[lane, i]


@pytest.mark.parametrize("limit", ["", ".satfinite"])
@pytest.mark.parametrize(
    ("shape", "left", "right"),
    [
        ("m8n8k16", "s8", "u8"), ("m16n8k16", "u8", "s8"), ("m16n8k32", "s8", "s8"), ("m8n8k32", "s4", "u4"),
        ("m16n8k32", "u4", "s4"), ("m16n8k64", "s4", "s4"),
    ],
)
def test_integers(shape: str, left: str, right: str, limit: str) -> None:
    some = random.Random(3)
    m, k = int(shape[1 : shape.index("n")]), int(shape.partition("k")[2])
    a_bits, a = drawn(left, (m, k), some)
    b_bits, b = drawn(right, (k, 8), some)
    c = np.array([[some.choice([5, 2**31 - 100, -(2**31) + 100]) for _ in range(8)] for _ in range(m)])
    a_layout, b_layout = LAYOUTS[shape, WIDTHS[left]]
    inputs = {
        "a": registers(a_bits, a_layout, WIDTHS[left]), "b": registers(b_bits, b_layout, WIDTHS[right]),
        "c": registers((c & 0xFFFFFFFF).astype(np.uint64), _sums, 32),
    }
    found = run_warp(
        f"mma.sync.aligned.{shape}.row.col{limit}.s32.{left}.{right}.s32 {{d}}, {{a}}, {{b}}, {{c}}",
        inputs, {"d": (".s32", m // 4)}, {"c": ".s32"},
    )["d"].view(np.int32)
    total = (a @ b).astype(np.int64) + c
    want = np.clip(total, -(2**31), 2**31 - 1) if limit else (total + 2**31) % 2**32 - 2**31
    for lane in range(32):
        assert found[lane].tolist() == [want[_sums(lane, i)] for i in range(m // 4)]


@pytest.mark.parametrize("operation", ["xor", "and"])
@pytest.mark.parametrize("shape", ["m8n8k128", "m16n8k128", "m16n8k256"])
def test_bits(shape: str, operation: str) -> None:
    some = random.Random(4)
    m, k = int(shape[1 : shape.index("n")]), int(shape.partition("k")[2])
    rows = [some.getrandbits(k) for _ in range(m)]
    columns = [some.getrandbits(k) for _ in range(8)]
    words = k // 128

    def word(bits: int, lane: int, at: int) -> int:
        return bits >> (lane % 4 * 32 + at * 128) & 0xFFFFFFFF

    a = np.zeros((32, words * m // 8), np.uint32)
    b = np.zeros((32, words), np.uint32)
    for lane in range(32):
        for at in range(words):
            b[lane, at] = word(columns[lane // 4], lane, at)
            for below in range(m // 8):
                a[lane, at * m // 8 + below] = word(rows[lane // 4 + 8 * below], lane, at)
    c = np.arange(32 * m // 4, dtype=np.uint32).reshape(32, -1)
    found = run_warp(
        f"mma.sync.aligned.{shape}.row.col.s32.b1.b1.s32.{operation}.popc {{d}}, {{a}}, {{b}}, {{c}}",
        {"a": a, "b": b, "c": c}, {"d": (".s32", m // 4)}, {"c": ".s32"},
    )["d"]
    for lane in range(32):
        for i in range(m // 4):
            row, column = _sums(lane, i)
            both = rows[row] ^ columns[column] if operation == "xor" else rows[row] & columns[column]
            assert found[lane, i] == both.bit_count() + c[lane, i]


@pytest.mark.parametrize("b_layout", ["row", "col"])
@pytest.mark.parametrize("a_layout", ["row", "col"])
@pytest.mark.parametrize("sum", ["f16", "f32"])
def test_four_products_at_once(a_layout: str, b_layout: str, sum: str) -> None:
    """`mma.m8n8k4` of `.f16`: lanes 4n to 4n + 3 and 16 more have one of four."""
    generator = np.random.default_rng(5)
    a = generator.integers(-8, 9, (4, 8, 4)).astype(np.float16)
    b = generator.integers(-8, 9, (4, 4, 8)).astype(np.float16)
    c = generator.integers(-8, 9, (4, 8, 8)).astype(np.float16 if sum == "f16" else np.float32)
    held = {name: np.zeros((32, 4), np.float16) for name in "ab"}
    sums = np.zeros((32, 8), c.dtype)
    places: dict[tuple[int, int], tuple[int, int, int]] = {}
    for lane in range(32):
        one, low = lane % 16 // 4, lane % 4 + (4 if lane >= 16 else 0)
        for i in range(4):
            upper = i + (4 if lane >= 16 else 0)
            held["a"][lane, i] = a[one, low, i] if a_layout == "row" else a[one, upper, lane % 4]
            held["b"][lane, i] = b[one, lane % 4, upper] if b_layout == "row" else b[one, i, low]
        for i in range(8):
            row = low if sum == "f16" else (lane & 1) + (i & 2) + (4 if lane >= 16 else 0)
            column = i if sum == "f16" else (i & 4) + (lane & 2) + (i & 1)
            places[lane, i] = one, row, column
            sums[lane, i] = c[one, row, column]
    type = ".b32" if sum == "f16" else ".f32"
    inputs = {name: value.view(np.uint32) for name, value in held.items()} | {"c": sums.view(np.uint32)}
    found = run_warp(
        f"mma.sync.aligned.m8n8k4.{a_layout}.{b_layout}.{sum}.f16.f16.{sum} {{d}}, {{a}}, {{b}}, {{c}}",
        inputs, {"d": (type, 4 if sum == "f16" else 8)}, {"c": type},
    )["d"].view(c.dtype)
    want = a.astype(float) @ b.astype(float) + c
    for (lane, i), place in places.items():
        assert found[lane, i] == want[place]
