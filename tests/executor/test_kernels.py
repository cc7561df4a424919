"""Whole kernels against NumPy: by hand, and from clang, nvcc, Triton, numba and tinygrad."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ptx_lsp.executor import ExecutionError, launch
from ptx_lsp.executor.instrumentation.profile import Profile

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "oracle" / "corpus"
KERNELS = Path(__file__).parent / "kernels"
RANDOM = np.random.default_rng(7)


def floats(count: int) -> npt.NDArray[np.float32]:
    return RANDOM.standard_normal(count).astype(np.float32)


@pytest.mark.parametrize("count", [1000, 1024, 70_000])
def test_saxpy(count: int) -> None:
    x, y = floats(count), floats(count)
    want = (np.float64(2.5) * x + y).astype(np.float32)
    launch(
        ROOT / "examples" / "saxpy.ptx", entry="saxpy", grid=-(-count // 256), block=256,
        args=[np.uint32(count), np.float32(2.5), x, y],
    )
    assert np.array_equal(y, want)


@pytest.mark.parametrize(
    "source", ["examples/vecadd_clang_sm90.ptx", "tests/oracle/corpus/nvcc135_vecadd.sm120.ptx"]
)
def test_vector_add(source: str) -> None:
    count = 5000
    a, b, c = floats(count), floats(count), np.zeros(count, np.float32)
    launch(ROOT / source, entry="vecadd", grid=20, block=256, args=[a, b, c, np.uint32(count)])
    assert np.array_equal(c, a + b)
    c[:] = 0
    launch(ROOT / source, entry="vecadd_vec4", grid=5, block=256, args=[a, b, c, np.uint32(count // 4)])
    assert np.array_equal(c, a + b)


@pytest.mark.parametrize(("entry", "dtype"), [("i", "i4"), ("h", "u1"), ("x", "i8"), ("d", "f8")])
def test_grid_stride_loops(entry: str, dtype: str) -> None:
    count = 3333
    a, b = RANDOM.integers(0, 100, count), RANDOM.integers(0, 100, count)
    x, y, want = (array.astype(dtype) for array in (a, b, 3 * a + b))
    launch(
        CORPUS / "nvcc135_vecadd.sm120.ptx", entry=f"_Z5saxpyI{entry}EvT_PKS0_PS0_l", grid=4, block=128,
        args=[np.array(3, dtype)[()], x, y, np.int64(count)],
    )
    assert np.array_equal(y, want)


def test_block_sums_by_shuffles() -> None:
    count = 4 * 256
    x, sums = floats(count), np.zeros(4, np.float32)
    launch(
        CORPUS / "nvcc130_reduce.sm80.lineinfo.ptx", entry="_Z9block_sumIfLi256EEvPKT_PS0_i", grid=4,
        block=256, args=[x, sums, np.int32(count)],
    )
    assert np.allclose(sums.sum(), x.astype(np.float64).sum(), atol=1e-3)


def test_inclusive_scan() -> None:
    count = 3 * 256
    x = RANDOM.integers(-50, 50, count).astype(np.int32)
    out, sums = np.zeros(count, np.int32), np.zeros(3, np.int32)
    launch(
        CORPUS / "nvcc130_scan.sm75.O3.ptx", entry="_Z9scan_inclILi256EEvPKiPiS2_i", grid=3, block=256,
        args=[x, out, sums, np.int32(count)],
    )
    assert np.array_equal(out.reshape(3, 256), np.cumsum(x.reshape(3, 256), axis=1))


@pytest.mark.parametrize("source", ["clang_bitonic.sm_75.O0.ptx", "nvcc130_bitonic.sm90.G.ptx"])
def test_bitonic_sort_in_shared_memory(source: str) -> None:
    keys = RANDOM.integers(-1000, 1000, 1024).astype(np.int32)
    want = np.sort(keys)
    launch(CORPUS / source, entry="bitonic_shared", grid=1, block=1024, args=[keys, np.int32(1024)])
    assert np.array_equal(keys, want)


def test_matrix_product() -> None:
    a, b = floats(256 * 256), floats(256 * 256)
    c = np.zeros(256 * 256, np.float32)
    launch(
        CORPUS / "tinygrad_mm_f32_0.sm_89.ptx", entry="r_8_4_8_16_4_4_64_4", grid=(4, 8), block=(8, 16),
        args=[c, a, b],
    )
    want = a.reshape(256, 256).astype(np.float64) @ b.reshape(256, 256)
    assert np.allclose(c.reshape(256, 256), want, atol=1e-3)


def test_softmax() -> None:
    rows, columns = 4, 1000
    x, y = floats(rows * 1024).reshape(rows, 1024), np.zeros((rows, 1024), np.float32)
    launch(
        CORPUS / "triton_softmax_1024.sm100.ptx", entry="softmax_k", grid=rows, block=128,
        args=[y, x, np.int32(1024), np.int32(1024), np.int32(columns), np.uint64(0), np.uint64(0)],
        shared_bytes=64,
    )
    powers = np.exp(x[:, :columns].astype(np.float64) - x[:, :columns].max(axis=1, keepdims=True))
    assert np.allclose(y[:, :columns], powers / powers.sum(axis=1, keepdims=True), atol=1e-6)


def test_tiled_matrix_product() -> None:
    size = 64
    a, b = floats(size * size), floats(size * size)
    c = np.zeros(size * size, np.float32)
    launch(
        KERNELS / "matmul.ptx", entry="matmul", grid=(size // 16, size // 16), block=(16, 16),
        args=[a, b, c, np.uint32(size)],
    )
    want = np.zeros((size, size), np.float32)
    for k in range(size):  # in the order of the kernel, each step rounded once
        product = a.reshape(size, size)[:, k : k + 1].astype(np.float64) * b.reshape(size, size)[k]
        want = (product + want).astype(np.float32)
    assert np.array_equal(c.reshape(size, size), want)


def test_histogram() -> None:
    values = RANDOM.integers(0, 256, 10_000).astype(np.uint8)
    bins = np.zeros(256, np.uint32)
    launch(
        KERNELS / "histogram.ptx", entry="histogram", grid=7, block=256,
        args=[values, bins, np.uint32(values.size)],
    )
    assert np.array_equal(bins, np.bincount(values, minlength=256))


def test_spin_lock() -> None:
    """All threads of all blocks, and of one warp, wait for one another."""
    lock, total = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    launch(KERNELS / "spin_lock.ptx", entry="add_under_lock", grid=3, block=40, args=[lock, total])
    assert total[0] == 120
    assert lock[0] == 0


def test_a_lock_is_tried_by_few_at_a_time() -> None:
    """Four times the threads try about four times as often, not sixteen times."""
    tries: list[int] = []
    for blocks in (4, 16):
        profile = Profile()
        lock, total = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
        launch(
            KERNELS / "spin_lock.ptx", entry="add_under_lock", grid=blocks, block=64, args=[lock, total],
            observers=[profile],
        )
        assert total[0] == 64 * blocks
        tries.append(profile.opcodes["atom.global.cas.b32"])
    assert tries[1] < 6 * tries[0]


@pytest.mark.parametrize("seed", [0, 1])
def test_each_thread_waits_for_the_one_before_it(seed: int) -> None:
    flags = np.array([1, *[0] * 256], np.uint32)
    text = _one_store("""mov.u32 %r, %ctaid.x; mad.lo.u32 %r, %r, 128, %i; mul.wide.u32 %x, %r, 4;
add.u64 %rd, %rd, %x;
again: ld.acquire.gpu.global.u32 %r, [%rd]; setp.eq.u32 %p, %r, 0; @%p bra again;
add.u32 %r, %r, 1; st.release.gpu.global.u32 [%rd+4], %r;""")
    text = text.replace("ld.param", ".reg .u64 %x; .reg .u32 %i; mov.u32 %i, %tid.x; ld.param", 1)
    launch(text, entry="k", grid=2, block=128, args=[flags], limit=1 << 18, seed=seed)
    assert flags.tolist() == list(range(1, 258))


def test_a_flag_is_soon_seen_by_all() -> None:
    """Those that find what they wait for are followed by twice as many."""
    flag, profile = np.zeros(1, np.uint32), Profile()
    text = _one_store("""mov.u32 %r, %ctaid.x; setp.eq.u32 %p, %r, 7; @%p st.release.gpu.global.u32 [%rd], 1;
again: ld.acquire.gpu.global.u32 %r, [%rd]; setp.eq.u32 %p, %r, 0; @%p bra again;""")
    launch(text, entry="k", grid=8, block=256, args=[flag], observers=[profile])
    assert profile.opcodes["ld.acquire.gpu.global.u32"] < 3 * 2048


def test_a_block_waits_for_the_last_one() -> None:
    """More blocks than run together: the first one's turn ends before the last begins."""
    flag = np.zeros(2, np.uint32)
    text = _one_store("""mov.u32 %r, %ctaid.x; setp.ne.u32 %p, %r, 0;
@%p bra others;
again: ld.volatile.global.u32 %r, [%rd];
setp.eq.u32 %p, %r, 0;
@%p bra again;
st.global.u32 [%rd+4], %r;
ret;
others: setp.ne.u32 %p, %r, 399;
@%p ret;
st.volatile.global.u32 [%rd], 5;""")
    launch(text, entry="k", grid=400, block=256, args=[flag])
    assert flag.tolist() == [5, 5]


def test_divergent_loop() -> None:
    numbers = np.arange(1, 2001, dtype=np.uint32)
    steps = np.zeros(2000, np.uint32)
    launch(
        KERNELS / "collatz.ptx", entry="collatz", grid=8, block=256,
        args=[numbers, steps, np.uint32(2000)],
    )
    assert steps.tolist() == [collatz(int(n)) for n in numbers]


def collatz(number: int) -> int:
    steps = 0
    while number != 1:
        number = number // 2 if number % 2 == 0 else 3 * number + 1
        steps += 1
    return steps


def test_calls() -> None:
    out = np.zeros(100, np.uint32)
    launch(KERNELS / "calls.ptx", entry="calls", grid=1, block=100, args=[out])
    assert out.tolist() == [math.gcd(i, 36) + (3 * i + 1 if i % 2 else 0) for i in range(100)]


def test_out_of_bounds() -> None:
    x, y = floats(1000), floats(1000)
    with pytest.raises(ExecutionError) as caught:
        launch(
            ROOT / "examples" / "saxpy.ptx", entry="saxpy", grid=4, block=256,
            args=[np.uint32(1024), np.float32(1), x, y],
        )
    assert caught.value.kind == "out-of-bounds"
    assert caught.value.line == 35
    assert caught.value.lanes[0].block == (3, 0, 0)
    assert caught.value.lanes[0].thread == (232, 0, 0)


def test_misaligned() -> None:
    text = _one_store("add.u64 %rd, %rd, 2; st.global.u32 [%rd], %r;")
    with pytest.raises(ExecutionError) as caught:
        launch(text, entry="k", grid=1, block=1, args=[np.zeros(4, np.uint32)])
    assert (caught.value.kind, caught.value.line) == ("misaligned", 8)


def test_constant_memory_is_read_only() -> None:
    text = _one_store("cvta.const.u64 %rd, table; ld.const.u32 %r, [table+4];\nst.u32 [%rd], %r;")
    with pytest.raises(ExecutionError) as caught:
        launch(
            text.replace(".entry", ".const .u32 table[2] = {3, 4};\n.entry"), entry="k", grid=1,
            block=1, args=[np.zeros(4, np.uint32)],
        )
    assert (caught.value.kind, caught.value.line) == ("read-only", 10)


def test_arrays_in_several_pieces_are_refused() -> None:
    with pytest.raises(ExecutionError, match="argument 0 must be a contiguous array"):
        launch(_one_store(""), entry="k", grid=1, block=1, args=[np.zeros((4, 4), np.uint32)[:, 0]])


def test_deadlock_at_a_barrier() -> None:
    text = _one_store("@%p bra away;\nbar.sync 0;\nspin: bar.sync 1;\nret;\naway: bar.sync 1;")
    with pytest.raises(ExecutionError) as caught:
        launch(text, entry="k", grid=1, block=64, args=[np.zeros(4, np.uint32)])
    assert caught.value.kind == "deadlock"


def test_threads_that_left_are_not_waited_for() -> None:
    out = np.zeros(64, np.uint32)
    text = _one_store("@%p ret;\nbar.sync 0;\nst.global.u32 [%rd], 7;")
    launch(text, entry="k", grid=1, block=64, args=[out])
    assert out[0] == 7


def test_limit() -> None:
    with pytest.raises(ExecutionError) as caught:
        launch(
            _one_store("again: add.u32 %r, %r, 1; setp.ne.u32 %p, %r, 0; @%p bra again;"), entry="k",
            grid=1, block=1,
            args=[np.zeros(1, np.uint32)], limit=1000,
        )
    assert caught.value.kind == "limit"


def _one_store(body: str) -> str:
    """A kernel with an address in %rd, the thread in %r, and %p for the threads from 32 on."""
    return f""".version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out) {{
.reg .u64 %rd; .reg .u32 %r; .reg .pred %p;
ld.param.u64 %rd, [out];
mov.u32 %r, %tid.x; setp.ge.u32 %p, %r, 32;
{body}
ret;
}}
"""
