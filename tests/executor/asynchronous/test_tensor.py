"""Copies of boxes of tensors, by tensor maps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ptx_lsp.executor import ExecutionError, TensorMap, launch, tensor_map
from ptx_lsp.executor.asynchronous.tensor_box import Description, flushed
from ptx_lsp.executor.machine.tensor_map_fields import Atomicity, Swizzle

KERNELS = Path(__file__).parents[1] / "kernels"
Array = npt.NDArray[np.generic]
_HEAD = """.version 8.8
.target sm_100a
.address_size 64
.entry k(.param .align 64 .b8 map[128], .param .u64 out) {
.reg .u64 %map, %out, %s<4>; .reg .u32 %t, %r<20>; .reg .b16 %h<4>; .reg .pred %p<4>;
.shared .align 1024 .b8 memory[8192];
.shared .align 8 .b64 bar;
ld.param.u64 %out, [out];
mov.b64 %map, map; cvta.param.u64 %map, %map;
mov.u32 %t, %tid.x; setp.ne.u32 %p3, %t, 0;
mov.u32 %r0, memory; mov.u32 %r1, bar;
mov.u32 %r10, X; mov.u32 %r11, Y;
"""
_LOAD = """@%p3 bra ready;
mbarrier.init.shared::cta.b64 [bar], 1;
mbarrier.arrive.expect_tx.shared::cta.b64 %s0, [bar], BYTES;
LOAD;
ready: bar.sync 0;
wait: mbarrier.try_wait.parity.shared::cta.b64 %p0, [bar], 0;
@!%p0 bra wait;
@%p3 ret;
cp.async.bulk.global.shared::cta.bulk_group [%out], [%r0], BYTES;
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
"""
_TILE = (
    "cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    " [%r0], [%map, {{{at}}}], [%r1]"
)


def loaded(map: TensorMap, size: int, load: str, x: int = 0, y: int = 0) -> npt.NDArray[np.uint8]:
    """The bytes that a load puts into shared memory."""
    out = np.zeros(size, np.uint8)
    run(_LOAD.replace("BYTES", str(size)).replace("LOAD", load), map, out, x, y)
    return out


def run(body: str, map: TensorMap, out: Array, x: int = 0, y: int = 0) -> None:
    text = _HEAD.replace("X", str(x)).replace("Y", str(y)) + body + "\nret;\n}\n"
    launch(text, entry="k", grid=1, block=32, args=[map, out], limit=1 << 20)


def matrix(rows: int, columns: int) -> npt.NDArray[np.uint16]:
    return np.arange(rows * columns, dtype=np.uint16).reshape(rows, columns)


@pytest.mark.parametrize(("x", "y"), [(0, 0), (8, 3), (60, 30), (-4, -2)])
def test_tiles(x: int, y: int) -> None:
    """A box of 4 rows of 16; elements outside of the matrix are zeros."""
    array = matrix(32, 64)
    map = tensor_map(array, box=(4, 16))
    got = loaded(map, 128, _TILE.format(rank=2, at="%r10, %r11"), x, y).view(np.uint16)
    padded = np.zeros((48, 96), np.uint16)
    padded[8:40, 16:80] = array
    assert np.array_equal(got.reshape(4, 16), padded[y + 8 : y + 12, x + 16 : x + 32])


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
def test_ranks_and_steps(rank: int) -> None:
    shape = (3, 4, 5, 6, 32)[-rank:]
    array = np.arange(int(np.prod(shape)), dtype=np.uint32).reshape(shape)
    box, steps = (2, 2, 4, 3, 16)[-rank:], (1, 1, 2, 2, 1)[-rank:]
    start = (1, 2, 0, 1, 8)[-rank:]
    want = array[tuple(slice(s, s + b, e) for s, b, e in zip(start, box, steps, strict=True))]
    at = ", ".join(str(one) for one in start[::-1])
    got = loaded(tensor_map(array, box=box, steps=steps), want.nbytes, _TILE.format(rank=rank, at=at))
    assert np.array_equal(got.view(np.uint32).reshape(want.shape), want)


def test_nan_outside() -> None:
    array = np.ones((4, 8), np.float16)
    map = tensor_map(array, box=(1, 8), fill="nan")
    got = loaded(map, 16, _TILE.format(rank=2, at="4, 0")).view(np.uint16)
    assert got.tolist() == [0x3C00] * 4 + [0x7FFF] * 4


# Which 16-byte piece of the source is where, line after line of 128 bytes: the tables of the manual.
SWIZZLES: list[tuple[Swizzle, Atomicity, int, str]] = [
    ("none", "16B", 128, "01234567 01234567"),
    ("32B", "16B", 32, "01234567 10325476 01234567"),
    ("96B", "16B", 64, "01234567 10325476 01234567"),
    ("64B", "16B", 64, "01234567 10325476 23016745 32107654 01234567"),
    ("128B", "16B", 128, "01234567 10325476 23016745 32107654 45670123 54761032 67452301 76543210 01234567"),
    ("128B", "32B", 128, "01234567 23016745 45670123 67452301 01234567"),
    ("128B", "64B", 128, "01234567 45670123 01234567"),
]


@pytest.mark.parametrize(("swizzle", "atomicity", "inner", "want"), SWIZZLES)
def test_swizzles(swizzle: Swizzle, atomicity: Atomicity, inner: int, want: str) -> None:
    lines = len(want.split())
    array = (np.arange(lines * 128) // 16).astype(np.uint8).reshape(-1, inner)
    map = tensor_map(array, box=array.shape, swizzle=swizzle, atomicity=atomicity)
    got = loaded(map, array.size, _TILE.format(rank=2, at="0, 0"))
    pieces = got.reshape(lines, 8, 16)
    assert (pieces == pieces[:, :, :1]).all()
    assert ["".join(str(one % 8) for one in line) for line in pieces[:, :, 0].tolist()] == want.split()


def test_rows_of_8_bytes_are_flipped() -> None:
    array = np.arange(128 * 4 // 8, dtype=np.uint64).reshape(4, 16)
    map = tensor_map(array, box=(4, 16), swizzle="128B", atomicity="32B flip 8B")
    got = loaded(map, 512, _TILE.format(rank=2, at="0, 0")).view(np.uint64).reshape(4, 16)
    assert got[1].tolist() == [21, 20, 23, 22, 17, 16, 19, 18, 29, 28, 31, 30, 25, 24, 27, 26]


def test_four_rows() -> None:
    array = matrix(16, 32)
    map = tensor_map(array, box=(1, 8))
    load = (
        "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes"
        " [%r0], [%map, {%r10, 2, 5, 0, 19}], [%r1]"
    )
    got = loaded(map, 64, load, 1).view(np.uint16).reshape(4, 8)
    assert np.array_equal(got[:3], array[[2, 5, 0], 1:9])
    assert not got[3].any()


def test_im2col() -> None:
    """64 pixels of 8 channels under a 3x3 filter with a border of one, as the manual draws it."""
    n, h, w, c = 9, 14, 9, 16
    array = np.arange(n * h * w * c, dtype=np.uint16).reshape(n, h, w, c)
    map = tensor_map(array, box=(1, 1, 1, 8), lower=(-1, -1), upper=(-1, -1), channels=8, pixels=64)
    load = (
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
        " [%r0], [%map, {0, 4, 7, 7}], [%r1], {%h1, %h2}"
    )
    got = loaded(map, 64 * 16, "mov.u16 %h1, 1; mov.u16 %h2, 0;\n" + load).view(np.uint16).reshape(64, 8)
    order = [(i, y, x) for i in range(n + 9) for y in range(-1, h - 1) for x in range(-1, w - 1)]
    first = order.index((7, 7, 4))
    for row, (i, y, x) in zip(got, order[first : first + 64], strict=True):
        inside = i < n and 0 <= y < h and 0 <= x + 1 < w
        assert row.tolist() == (array[i, y, x + 1, :8].tolist() if inside else [0] * 8)


def test_stores_leave_out_what_is_outside() -> None:
    array = np.zeros((8, 16), np.uint32)
    out = np.zeros(4, np.uint32)
    map = tensor_map(array, box=(2, 16))
    run("""mad.lo.u32 %r2, %t, 4, %r0; add.u32 %r3, %t, 1; st.shared.u32 [%r2], %r3;
bar.sync 0; @%p3 ret;
cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%map, {%r10, %r11}], [%r0];
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%map, {%r10, %r11}], [%r0];
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;""", map, out, 12, 7)
    want = np.zeros((8, 16), np.uint32)
    want[7, 12:] = [2, 4, 6, 8]
    assert np.array_equal(array, want)


def test_a_map_is_changed_in_shared_memory() -> None:
    array = np.arange(64, dtype=np.uint32).reshape(4, 16)
    out = np.zeros(32, np.uint32)
    map = tensor_map(array, box=(1, 16))
    run("""@%p3 ret;
add.u32 %r2, %r0, 1024; mov.u32 %r3, 0;
again: add.u64 %s1, %map, 0; cvt.u64.u32 %s2, %r3; add.u64 %s1, %s1, %s2;
ld.u32 %r4, [%s1]; add.u32 %r5, %r2, %r3; st.shared.u32 [%r5], %r4;
add.u32 %r3, %r3, 4; setp.lt.u32 %p1, %r3, 128; @%p1 bra again;
cvt.u64.u32 %s1, %r2; tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%s1], 1, 2;
tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%s1], 1, 3;
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%out], [%r2], 128;
""", map, out)
    changed = TensorMap(map.array, out.view(np.uint8))
    got = loaded(changed, 128, _TILE.format(rank=2, at="0, 2")).view(np.uint32)
    assert got.tolist() == [*range(32, 48), *[0] * 16]


def test_what_is_no_tensor_map() -> None:
    array = matrix(4, 8)
    with pytest.raises(ExecutionError, match="the address does not hold a tensor map"):
        run(_LOAD.replace("BYTES", "16").replace("LOAD", _TILE.format(rank=2, at="0, 0")),
            TensorMap(array, np.zeros(128, np.uint8)), np.zeros(4, np.uint32))
    expected = r"the tensor map is for `\.2d` and `\.tile`, not `\.1d` and `\.tile`"
    with pytest.raises(ExecutionError, match=expected):
        loaded(tensor_map(array, box=(1, 8)), 16, _TILE.format(rank=1, at="0"))


@pytest.mark.parametrize(
    ("array", "box", "part"),
    [
        (matrix(4, 8), (1,), "as many sizes"),
        (matrix(4, 8), (1, 4), "multiple of 16 bytes"),
        (matrix(4, 9), (1, 8), "rows a multiple of 16 bytes apart"),
        (matrix(4, 8), (300, 8), "1 to 256"),
        (matrix(8, 8)[::2], (1, 8), "must be contiguous"),
    ],
)
def test_what_the_manual_does_not_allow(array: Array, box: tuple[int, ...], part: str) -> None:
    with pytest.raises(ExecutionError, match=part):
        tensor_map(array, box=box)


def test_attributes_given_by_operands() -> None:
    """Another address, other sizes, and strides of 16 bytes times (lower + (upper << 32))."""
    array = np.arange(128, dtype=np.uint32).reshape(8, 16)
    load = (
        "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes"
        ".override::global_address.override::global_dim_stride"
        " [%r0], [%map, %s3, {%h1, %h2}, {%r12}, %h3, {0, 0}], [%r1]"
    )
    body = """ld.u64 %s3, [%map]; add.u64 %s3, %s3, 16;
mov.u16 %h1, 6; mov.u16 %h2, 2; mov.u16 %h3, 0; mov.u32 %r12, 8;
"""
    out = np.zeros(96, np.uint8)
    text = _HEAD.replace("8.8", "9.4").replace("sm_100a", "sm_107a").replace("X", "0").replace("Y", "0")
    text += body + _LOAD.replace("BYTES", "96").replace("LOAD", load) + "\nret;\n}\n"
    launch(text, entry="k", grid=1, block=32, args=[tensor_map(array, box=(3, 8)), out])
    want = np.zeros((3, 8), np.uint32)
    want[:2, :6] = [array[0, 4:10], array[2, 4:10]]
    assert np.array_equal(out.view(np.uint32).reshape(3, 8), want)


def test_elements_of_4_bits() -> None:
    """16 of them are 8 bytes; two are in each byte of the array, and a box counts elements."""
    array = np.arange(64, dtype=np.uint8).reshape(4, 16)
    map = tensor_map(array, box=(2, 32), type=".b4x16")
    got = loaded(map, 32, _TILE.format(rank=2, at="16, 1")).reshape(2, 16)
    assert got.tolist() == [[*range(24, 32), *[0] * 8], [*range(40, 48), *[0] * 8]]
    with pytest.raises(ExecutionError, match=r"in pieces of 16 elements, so its size cannot be 8"):
        loaded(map, 32, _TILE.format(rank=2, at="8, 1"))


@pytest.mark.parametrize("seed", [0, 3])
def test_pipeline_of_tiles(seed: int) -> None:
    """A warp that loads and eight that add up, over two stages with mbarriers; the last tiles lie outside."""
    array = (np.arange(30 * 96) * 7 % 4001).astype(np.uint16).reshape(30, 96)
    out = np.zeros((8, 32), np.uint32)
    map = tensor_map(array, box=(8, 32), swizzle="64B")
    findings = launch(
        KERNELS / "tma_pipeline.ptx", entry="tma_pipeline", grid=1, block=288, seed=seed, check=True,
        args=[map, out, np.uint32(3), np.uint32(4)],
    )
    padded = np.zeros((32, 96), np.uint32)
    padded[:30] = array
    assert np.array_equal(out, padded.reshape(4, 8, 3, 32).sum(axis=(0, 2)))
    assert findings == ()


def described(box: tuple[int, ...], steps: tuple[int, ...] | None = None) -> Description:
    words = np.zeros((4, 4, 8), np.float32)
    return Description(tensor_map(words, box=box, steps=steps).fields)


def test_upper_strides_are_of_4_bits_each() -> None:
    words = np.zeros((4, 4, 8), np.float32)
    found = Description(
        tensor_map(words, box=(1, 1, 4)).fields,
        {"newSizes": [8, 4, 4], "newLowerStrides": [0x80000002, 3], "newUpperStrides": [0xA9]},
    )
    assert found.strides == [4, (9 << 32 | 0x80000002) << 4, (10 << 32 | 3) << 4]


def test_rows_are_read_in_one_piece() -> None:
    found = described((1, 4, 4), (1, 2, 2)).tile([0, 0, 0])
    assert found.places[::4].tolist() == [0, 4, 8, 12, 64, 68, 72, 76]


def test_subnormal_numbers_keep_their_sign() -> None:
    bits = np.array([0x80000001, 0x007FFFFF, 0x80800000, 1 << 31], np.uint32)
    want = [1 << 31, 0, 0x80800000, 1 << 31]
    assert flushed(bits.view(np.uint8), ".f32.ftz").view(np.uint32).tolist() == want
    assert flushed(bits.view(np.uint8), ".f32").view(np.uint32).tolist() == bits.tolist()
