"""`ldmatrix`, `stmatrix`, `movmatrix`; `wmma`, whose fragments are our own; sparse and scaled matrices."""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt
import pytest

from ptx_lsp.executor import ExecutionError, launch
from tests.executor.matrices.test_matrix import LAYOUTS, drawn, registers
from tests.executor.warp_kernel import run_warp

HEADER = ".version 9.4\n.target sm_107a\n.address_size 64\n"


def moved(text: str, data: npt.NDArray[np.uint8], count: int) -> npt.NDArray[np.uint32]:
    """Fills shared memory with `data`, executes `text` (which finds its address in %s and a row for each lane
    in %row), and stores %d0 and on; for a `stmatrix` it is shared memory that is given back.
    """
    stores = "store" in text
    size = data.size
    source = f"""{HEADER}
.shared .align 128 .b8 memory[{size}];
.entry k(.param .u64 p, .param .u64 q)
{{
  .reg .u64 %p, %q, %t;
  .reg .u32 %lane, %s, %row, %i, %b;
  .reg .b32 %d<4>;
  .reg .pred %c;
  ld.param.u64 %p, [p];
  ld.param.u64 %q, [q];
  mov.u32 %lane, %tid.x;
  mov.u32 %s, memory;
  mov.u32 %i, %lane;
fill:
  cvt.u64.u32 %t, %i;
  add.u64 %t, %t, %p;
  ld.global.u8 %b, [%t];
  st.shared.u8 [%i], %b;
  add.u32 %i, %i, 32;
  setp.lt.u32 %c, %i, {size};
  @%c bra fill;
  bar.sync 0;
  mad.lo.u32 %row, %lane, 16, %s;
  {text.replace("store", "")}
  bar.sync 0;
"""
    if stores:
        source += f"""
  mov.u32 %i, %lane;
back:
  ld.shared.u8 %b, [%i];
  cvt.u64.u32 %t, %i;
  add.u64 %t, %t, %q;
  st.global.u8 [%t], %b;
  add.u32 %i, %i, 32;
  setp.lt.u32 %c, %i, {size};
  @%c bra back;
"""
    else:
        source += f"  mad.wide.u32 %q, %lane, {4 * count}, %q;\n"
        source += "".join(f"  st.global.b32 [%q+{4 * at}], %d{at};\n" for at in range(count))
    source += "  ret;\n}\n"
    result = np.zeros((32, count), np.uint32) if not stores else np.zeros(size // 4, np.uint32)
    launch(source, entry="k", grid=1, block=32, args=[data, result])
    return result


def names(count: int) -> str:
    return "{" + ", ".join(f"%d{at}" for at in range(count)) + "}"


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_load(count: int, transposed: bool) -> None:
    data = np.random.default_rng(1).integers(0, 256, 512).astype(np.uint8)
    text = f"ldmatrix.sync.aligned.m8n8.x{count}{'.trans' * transposed}.shared.b16 {names(count)}, [%row];"
    found = moved(text, data, count)
    matrices = data.view(np.uint16).reshape(4, 8, 8)
    for lane in range(32):
        for at in range(count):
            matrix = matrices[at].T if transposed else matrices[at]
            low, high = (int(matrix[lane // 4, lane % 4 * 2 + i]) for i in (0, 1))
            assert found[lane, at] == low | high << 16


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_store_is_the_inverse_of_load(count: int, transposed: bool) -> None:
    data = np.random.default_rng(2).integers(0, 256, 1024).astype(np.uint8)
    form = f"m8n8.x{count}{'.trans' * transposed}.shared.b16"
    text = f"""store
  ldmatrix.sync.aligned.{form} {names(count)}, [%row];
  bar.sync 0;
  stmatrix.sync.aligned.{form} [%row+512], {names(count)};"""
    found = moved(text, data, count).view(np.uint8)
    assert np.array_equal(found[512 : 512 + 128 * count], data[: 128 * count])
    assert np.array_equal(found[512 + 128 * count :], data[512 + 128 * count :])


def test_bytes_by_columns() -> None:
    """A 16x8 matrix held as sums of `mma` are; a row of memory is a column of it."""
    data = np.zeros(128, np.uint8)
    text = """store
  mul.lo.u32 %i, %lane, 4;
  mad.lo.u32 %d0, %i, 0x01010101, 0x03020100;
  stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%row], {%d0};"""
    found = moved(text, data, 1).view(np.uint8).reshape(8, 16)
    for lane in range(32):
        for i in range(4):
            row, column = lane // 4 + (8 if i >= 2 else 0), lane % 4 * 2 + i % 2
            assert found[column, row] == 4 * lane + i


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("format", ["b8", "b8x16.b6x16_p32", "b8x16.b4x16_p64"])
def test_load_of_bytes(format: str, count: int) -> None:
    generator = np.random.default_rng(3)
    width = {"b8": 8, "b8x16.b6x16_p32": 6, "b8x16.b4x16_p64": 4}[format]
    values = generator.integers(0, 1 << width, (count, 16, 16))
    data = np.zeros((count, 16, 16), np.uint8)
    for matrix, row in np.ndindex(count, 16):
        packed = sum(int(value) << width * at for at, value in enumerate(values[matrix, row]))
        data[matrix, row] = list(packed.to_bytes(16, "little"))
    text = f"ldmatrix.sync.aligned.m16n16.x{count}.trans.shared.{format} {names(2 * count)}, [%row];"
    found = moved(text, data.reshape(-1), 2 * count)
    for lane in range(32):
        for matrix in range(count):
            for at in range(2):
                want = values[matrix, lane % 4 * 4 : lane % 4 * 4 + 4, lane // 4 + 8 * at]
                assert found[lane, 2 * matrix + at].tobytes() == bytes(want.tolist())


def test_rows_of_8_by_16() -> None:
    data = np.random.default_rng(4).integers(0, 256, 128).astype(np.uint8)
    found = moved("ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64 {%d0}, [%row];", data, 1)
    for lane in range(32):
        pair = data.reshape(8, 16)[lane // 4, lane % 4 * 2 : lane % 4 * 2 + 2]
        want = [part for one in pair.tolist() for part in (one & 15, one >> 4)]
        assert found[lane, 0].tobytes() == bytes(want)


def test_integers_of_4_bits() -> None:
    """They become 8 bits, with their sign."""
    data = np.random.default_rng(5).integers(0, 256, 128).astype(np.uint8)
    found = moved("ldmatrix.sync.aligned.m8n16.x1.shared.s8.s4 {%d0}, [%row];", data, 1)
    for lane in range(32):
        pair = data.reshape(8, 16)[lane // 4, lane % 4 * 2 : lane % 4 * 2 + 2]
        nibbles = [part for one in pair.tolist() for part in (one & 15, one >> 4)]
        assert found[lane].view(np.int8).tolist() == [one - 16 if one > 7 else one for one in nibbles]


def test_transposed_in_registers() -> None:
    matrix = np.arange(64, dtype=np.uint16).reshape(8, 8)
    found = run_warp(
        "movmatrix.sync.aligned.m8n8.trans.b16 %d0, %a0", {"a": matrix.view(np.uint32).reshape(32, 1)},
        {"d": (".b32", 1)}, {},
    )["d"]
    assert np.array_equal(found.reshape(-1).astype(np.uint32).view(np.uint16).reshape(8, 8), matrix.T)


def test_lanes_that_are_not_there() -> None:
    source = HEADER + """
.entry k() {
  .reg .b32 %d; .reg .u32 %i; .reg .pred %p;
  mov.u32 %i, %tid.x; setp.lt.u32 %p, %i, 7; mov.b32 %d, 0;
  @%p movmatrix.sync.aligned.m8n8.trans.b16 %d, %d;
  ret;
}
"""
    with pytest.raises(ExecutionError) as caught:
        launch(source, entry="k", grid=1, block=32, args=[])
    assert caught.value.kind == "divergent"
    assert caught.value.line == 8
    assert len(caught.value.lanes) == 7


# -- wmma -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layouts", ["row.row", "row.col", "col.row", "col.col"])
@pytest.mark.parametrize("shape", [(16, 16, 16), (8, 32, 16), (32, 8, 16)])
@pytest.mark.parametrize("type", ["f16", "s8", "bf16"])
def test_fragments(type: str, shape: tuple[int, int, int], layouts: str) -> None:
    m, n, k = shape
    some = random.Random(6)
    a_bits, a = drawn(type, (m, k), some)
    b_bits, b = drawn(type, (k, n), some)
    _product(type, shape, layouts, (a_bits, a), (b_bits, b))


@pytest.mark.parametrize(
    ("type", "shape"), [("tf32", (16, 16, 8)), ("f64", (8, 8, 4)), ("s4", (8, 8, 32)), ("u4", (8, 8, 32))]
)
def test_more_fragments(type: str, shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    some = random.Random(7)
    _product(type, shape, "row.col", drawn(type, (m, k), some), drawn(type, (k, n), some))


Drawn = tuple[npt.NDArray[np.uint64], npt.NDArray[np.float64]]


def _memory(bits: npt.NDArray[np.uint64], type: str, stride: int) -> npt.NDArray[np.unsignedinteger]:
    """Rows with `stride` elements between their beginnings."""
    padded = np.zeros((bits.shape[0], stride), np.uint64)
    padded[:, : bits.shape[1]] = bits
    if type in ("s4", "u4"):
        return (padded[:, ::2] | padded[:, 1::2] << np.uint64(4)).astype(np.uint8)
    width = {"f16": 2, "bf16": 2, "s8": 1, "tf32": 4, "f64": 8}[type]
    return padded.astype(f"u{width}")


def _product(type: str, shape: tuple[int, int, int], layouts: str, left: Drawn, right: Drawn) -> None:
    m, n, k = shape
    a_layout, b_layout = layouts.split(".")
    name = f"m{m}n{n}k{k}"
    sum = {"s8": "s32", "s4": "s32", "u4": "s32", "f64": "f64"}.get(type, "f32")
    counts = {
        ("f16", "a"): 8, ("f16", "b"): 8, ("tf32", "a"): 4, ("tf32", "b"): 4,
        **{(one, side): 1 for one in ("f64", "s4", "u4") for side in "ab"},
    }
    for one, elements in (("bf16", 2), ("s8", 4)):
        counts[one, "a"], counts[one, "b"] = m * k // 32 // elements, k * n // 32 // elements
    held = ".f64" if type == "f64" else ".b32"
    sums = 8 if m * n == 256 else 2
    stride = 48
    lists = {
        name: "{" + ", ".join(f"%{name}{at}" for at in range(count)) + "}"
        for name, count in (("a", counts[type, "a"]), ("b", counts[type, "b"]), ("c", sums))
    }
    types = f"{sum}.{sum}" if type == "f16" else f"{sum}.{type}.{type}.{sum}"
    source = f"""{HEADER}
.entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd)
{{
  .reg .u64 %pa, %pb, %pc, %pd;
  .reg {held} %a<8>, %b<8>;
  .reg .{sum} %c<8>;
  ld.param.u64 %pa, [pa];
  ld.param.u64 %pb, [pb];
  ld.param.u64 %pc, [pc];
  ld.param.u64 %pd, [pd];
  wmma.load.a.sync.aligned.{a_layout}.{name}.global.{type} {lists["a"]}, [%pa], {stride};
  wmma.load.b.sync.aligned.{b_layout}.{name}.global.{type} {lists["b"]}, [%pb], {stride};
  wmma.load.c.sync.aligned.row.{name}.global.{sum} {lists["c"]}, [%pc];
  wmma.mma.sync.aligned.{a_layout}.{b_layout}.{name}.{types} {lists["c"]}, {lists["a"]}, {lists["b"]},
    {lists["c"]};
  wmma.store.d.sync.aligned.col.{name}.global.{sum} [%pd], {lists["c"]}, 40;
  ret;
}}
"""
    (a_bits, a), (b_bits, b) = left, right
    dtype = {"s32": np.int32, "f32": np.float32, "f64": np.float64}[sum]
    c = np.arange(m * n).reshape(m, n).astype(dtype)
    d = np.zeros((n, 40), dtype)
    buffers = [
        _memory(a_bits if a_layout == "row" else a_bits.T, type, stride),
        _memory(b_bits if b_layout == "row" else b_bits.T, type, stride), c, d,
    ]
    launch(source, entry="k", grid=1, block=32, args=buffers)
    want = a @ b + c
    assert np.allclose(d[:, :m].T, want, rtol=1e-6, atol=1e-4)
    assert not d[:, m:].any()


# -- sparse and scaled --------------------------------------------------------------------------------


SPARSE = [
    ("m16n8k16", "f16", 16, 1), ("m16n8k32", "f16", 16, 2), ("m16n8k16", "bf16", 16, 1),
    ("m16n8k8", "tf32", 32, 1), ("m16n8k16", "tf32", 32, 2), ("m16n8k32", "s8", 8, 2),
    ("m16n8k64", "u8", 8, 4), ("m16n8k64", "s4", 4, 2), ("m16n8k128", "u4", 4, 4), ("m16n8k64", "e4m3", 8, 4),
]


@pytest.mark.parametrize(("shape", "type", "width", "lanes"), SPARSE)
def test_sparse(shape: str, type: str, width: int, lanes: int) -> None:
    some = random.Random(8)
    k = int(shape.partition("k")[2])
    half_bits, half = drawn(type, (16, k // 2), some)
    b_bits, b = drawn(type, (k, 8), some)
    whole = np.zeros((16, k))
    chunk, kept = {"tf32": (2, 1), "s4": (8, 4), "u4": (8, 4)}.get(type, (4, 2))
    chunks = k // chunk
    codes = np.zeros((16, chunks), np.int64)
    for row, at in np.ndindex(16, chunks):
        if kept == 1:
            place = some.randrange(2)
            codes[row, at] = 0b1110 if place else 0b0100
            places = [place]
        else:
            pair = sorted(some.sample(range(4), 2))
            codes[row, at] = pair[0] | pair[1] << 2
            places = pair if kept == 2 else [2 * one + i for one in pair for i in (0, 1)]
        for number, place in enumerate(places):
            whole[row, at * chunk + place] = half[row, at * kept + number]
    selector = some.randrange(4 // lanes)
    metadata = np.full((32, 1), 0xFFFFFFFF, np.uint32)
    each = 4 if width >= 16 else 8  # chunks of a row that a lane has
    for lane in range(32):
        part = lane % 4 - selector * lanes
        if not 0 <= part < lanes:
            continue
        group = lane // 4
        if width >= 16:
            span = codes[:, part * each : part * each + each]
            nibbles = [*span[group], *span[group + 8]]
        else:
            nibbles = list(codes[group + 8 * (part % 2), part // 2 * 8 : part // 2 * 8 + 8])
        metadata[lane, 0] = sum(int(code) << 4 * at for at, code in enumerate(nibbles))
    each = 32 // width
    held = registers(half_bits, lambda lane, i: (
        lane // 4 + 8 * (i // each % 2), i // each // 2 * 4 * each + lane % 4 * each + i % each
    ), width)
    right = registers(b_bits, lambda lane, i: (
        i // each * 4 * each + lane % 4 * each + i % each, lane // 4
    ), width)
    integers = type[0] in "su"
    sum_type = "s32" if integers else "f32"
    c = np.zeros((32, 4), np.uint32)
    found = run_warp(
        f"mma.sp::ordered_metadata.sync.aligned.{shape}.row.col.{sum_type}.{type}.{type}.{sum_type}"
        f" {{d}}, {{a}}, {{b}}, {{c}}, %m0, {selector}",
        {"a": held, "b": right, "c": c, "m": metadata}, {"d": (f".{sum_type}", 4)}, {"c": f".{sum_type}"},
    )["d"]
    got = found.view(np.int32) if integers else found.view(np.float32)
    want = whole @ b
    for lane in range(32):
        for i in range(4):
            place = lane // 4 + (8 if i >= 2 else 0), lane % 4 * 2 + i % 2
            assert np.isclose(got[lane, i], want[place], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "shape", "vector", "scales", "types"),
    [
        ("mxf8f6f4", "m16n8k32", 1, "ue8m0", ("e4m3", "e2m1")),
        ("mxf4", "m16n8k64", 2, "ue8m0", ("e2m1",) * 2),
        ("mxf4nvf4", "m16n8k64", 4, "ue4m3", ("e2m1",) * 2),
    ],
)
def test_scaled(kind: str, shape: str, vector: int, scales: str, types: tuple[str, str]) -> None:
    some = random.Random(9)
    k = int(shape.partition("k")[2])
    width = 8 if k == 32 else 4
    (a_bits, a), (b_bits, b) = drawn(types[0], (16, k), some), drawn(types[1], (k, 8), some)
    if width == 4:
        a_bits, b_bits = a_bits >> np.uint64(2), b_bits >> np.uint64(2)
    byte = some.randrange(0, 4, vector) if vector < 4 else 0
    thread_a, thread_b = 1, 2
    codes = range(125, 130) if scales == "ue8m0" else range(40, 70)
    data = {side: np.array([[some.getrandbits(32)] for _ in range(32)], np.uint32) for side in "ab"}
    scale_a, scale_b = np.zeros((16, vector)), np.zeros((vector, 8))

    def put(side: str, lane: int) -> list[float]:
        chosen = [some.choice(codes) for _ in range(vector)]
        word = int(data[side][lane, 0])
        for at, code in enumerate(chosen):
            shift = 8 * (byte + at)
            word = word & ~(255 << shift) | code << shift
        data[side][lane, 0] = word
        if scales == "ue8m0":
            return [2.0 ** (code - 127) for code in chosen]
        return [(8 + code % 8) * 2.0 ** (code // 8 - 10) for code in chosen]

    for group in range(8):
        scale_a[group] = put("a", 4 * group + 2 * thread_a)
        scale_a[group + 8] = put("a", 4 * group + 2 * thread_a + 1)
        scale_b[:, group] = put("b", 4 * group + thread_b)
    a_layout, b_layout = LAYOUTS[shape, width]
    found = run_warp(
        f"mma.sync.aligned.{shape}.row.col.kind::{kind}.block_scale.scale_vec::{vector}X"
        f".f32.{types[0]}.{types[1]}.f32.{scales} {{d}}, {{a}}, {{b}}, {{c}},"
        f" %x0, {{{byte}, {thread_a}}}, %y0, {{{byte}, {thread_b}}}",
        {
            "a": registers(a_bits, a_layout, width), "b": registers(b_bits, b_layout, width),
            "c": np.zeros((32, 4), np.uint32), "x": data["a"], "y": data["b"],
        },
        {"d": (".f32", 4)}, {"c": ".f32"}, "sm_120a",
    )["d"].view(np.float32)
    want = (a * np.repeat(scale_a, k // vector, axis=1)) @ (b * np.repeat(scale_b, k // vector, axis=0))
    for lane in range(32):
        for i in range(4):
            place = lane // 4 + (8 if i >= 2 else 0), lane % 4 * 2 + i % 2
            assert np.isclose(found[lane, i], want[place], rtol=1e-6)
