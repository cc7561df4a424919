"""Threads that work together: barriers of all kinds, clusters, locks; kernels from nvcc, and by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ptx_lsp.executor import ExecutionError, launch
from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.machine.compaction import CompactedWave
from ptx_lsp.executor.machine.wave import Wave
from tests.executor.arithmetic.instruction import HEADER
from tests.executor.test_calls import one_thread_each, stored

NVCC = Path(__file__).parent / "kernels" / "nvcc_together.ptx"
RANDOM = np.random.default_rng(9)
SEEDS = pytest.mark.parametrize("seed", [0, 1, 2])


@SEEDS
@pytest.mark.parametrize("cluster", [1, 2, 4])
def test_histogram_over_the_shared_memory_of_a_cluster(cluster: int, seed: int) -> None:
    values = RANDOM.integers(0, 1000, 3000).astype(np.int32)
    bins = np.zeros(64, np.int32)
    launch(
        NVCC, entry="cluster_histogram", grid=8, block=96, cluster=cluster, shared_bytes=64 // cluster * 4,
        args=[bins, np.int32(64), values, np.int32(values.size)], seed=seed,
    )
    assert np.array_equal(bins, np.bincount(values % 64, minlength=64))


def test_layer_norm() -> None:
    rows, columns = 3, 500
    values, scale, shift = (
        RANDOM.standard_normal(size).astype(np.float32) for size in ((rows, columns), columns, columns)
    )
    out = np.zeros_like(values)
    launch(
        NVCC, entry="layer_norm", grid=rows, block=128, args=[out, values, scale, shift, np.int32(columns)]
    )
    wide = values.astype(np.float64)
    want = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5) * scale + shift
    assert np.allclose(out, want, atol=1e-4)


def test_n_body() -> None:
    count = 128
    bodies = RANDOM.standard_normal((count, 4)).astype(np.float32)
    bodies[:, 3] = np.abs(bodies[:, 3])
    velocity = np.zeros((count, 3), np.float32)
    launch(
        NVCC, entry="n_body", grid=2, block=64, shared_bytes=64 * 16,
        args=[bodies, velocity, np.float32(0.1), np.int32(count)],
    )
    wide = bodies.astype(np.float64)
    apart = wide[None, :, :3] - wide[:, None, :3]
    squares = (apart**2).sum(2) + 0.01
    want = (apart * (wide[None, :, 3] / squares**1.5)[:, :, None]).sum(1) * 0.1
    assert np.allclose(velocity, want, rtol=1e-3, atol=1e-3)


def test_stencil() -> None:
    height, width = 37, 50
    image = RANDOM.standard_normal((height, width)).astype(np.float32)
    out = np.zeros_like(image)
    launch(
        NVCC, entry="stencil", grid=(4, 3), block=(16, 16),
        args=[image, out, np.int32(width), np.int32(height)],
    )
    around = np.pad(image.astype(np.float64), 1, mode="edge")
    cross = around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:]
    assert np.allclose(out, 0.5 * image + 0.125 * cross, atol=1e-6)


@SEEDS
def test_producer_and_consumer(seed: int) -> None:
    """Two warps, four barriers whose numbers are in registers, arrivals that do not wait."""
    rounds = 7
    given = RANDOM.integers(0, 100, (rounds, 32)).astype(np.int32)
    out = np.zeros_like(given)
    launch(
        NVCC, entry="producer_consumer", grid=1, block=64, args=[out, given, np.int32(rounds)], seed=seed
    )
    assert np.array_equal(out, 3 * given[:, ::-1])


@pytest.mark.parametrize("limit", [0, 7, 40, 70])
def test_reductions_at_barriers(limit: int) -> None:
    out = np.zeros(70, np.int32)
    launch(NVCC, entry="votes", grid=1, block=70, args=[out, np.int32(limit)])
    assert out.tolist() == [limit * 100 + 10 * (limit == 70) + (limit < 70)] * 70


@SEEDS
def test_lanes_of_a_warp_wait_for_a_lock(seed: int) -> None:
    lock, total = np.zeros(1, np.int32), np.zeros(1, np.int32)
    launch(NVCC, entry="lock_in_warp", grid=3, block=33, args=[lock, total], seed=seed)
    assert (lock[0], total[0]) == (0, 99)


@SEEDS
def test_halves_of_a_warp_meet_at_different_instructions(seed: int) -> None:
    out = np.zeros(32, np.int32)
    launch(NVCC, entry="halves", grid=1, block=32, args=[out], seed=seed)
    assert out.tolist() == [*(5 * i for i in range(16, 32)), *(2 * i for i in range(16))]


@SEEDS
def test_the_last_block_sums(seed: int) -> None:
    blocks = 300
    given = RANDOM.integers(-50, 50, blocks * 32).astype(np.int32)
    sums, count, result = (np.zeros(size, np.int32) for size in (blocks, 1, 1))
    launch(NVCC, entry="last_block", grid=blocks, block=32, args=[sums, count, given, result], seed=seed)
    assert result[0] == given.sum()


@SEEDS
def test_a_few_lanes_of_many(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They have arrays of their own, and still their blocks' shared and their own local memory."""
    parts: list[tuple[int, int]] = []

    class Spy(CompactedWave):
        def __init__(self, wave: Wave, mask: Bools) -> None:
            super().__init__(wave, mask)
            parts.append(self.shape)

    monkeypatch.setattr("ptx_lsp.executor.scheduling.convergence_groups.CompactedWave", Spy)
    blocks, rounds = 70, 5
    given = RANDOM.integers(-9, 9, blocks * 64).astype(np.int32)
    out, steps = np.zeros_like(given), np.zeros(1, np.int32)
    launch(NVCC, entry="few", grid=blocks, block=64, args=[out, given, np.int32(rounds), steps], seed=seed)
    want, count = np.zeros_like(given), 0
    for block in range(blocks):
        for thread in range(3, 64, 16):
            at, own, total = block * 64 + thread, list(range(8)), 0
            for r in range(rounds + thread + block % 5):
                own[(r * 3 + total) & 7] += int(
                    given[block * 64 + (thread + r & 63)] + given[(at + r) % given.size]
                )
                total += own[r & 7] if total & 1 else -own[r + 1 & 7]
                count += 1
            want[at] = total
    assert np.array_equal(out, want)
    assert steps[0] == count
    assert seed or (1, blocks * 4) in parts


# -- clusters ---------------------------------------------------------------------------------------

NAMES = ("clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid", "ctaid")
WHERE = HEADER + """.entry k(.param .u64 out) .reqnctapercluster 2, 3 {
    .reg .u64 %a; .reg .u32 %r<40>, %i, %n; .reg .pred %p;
    mov.u32 %i, %ctaid.y; mov.u32 %n, %nctaid.x; mov.u32 %r0, %ctaid.x; mad.lo.u32 %i, %i, %n, %r0;
    mov.u32 %n, %nctaid.y; mov.u32 %r0, %nctaid.x; mul.lo.u32 %n, %n, %r0; mov.u32 %r0, %ctaid.z;
    mad.lo.u32 %i, %n, %r0, %i;
    ld.param.u64 %a, [out]; mad.wide.u32 %a, %i, 72, %a;
""" + "".join(
    f"mov.u32 %r1, %{name}.{axis}; st.global.u32 [%a+{12 * at + 4 * number}], %r1;\n"
    for at, name in enumerate(NAMES) for number, axis in enumerate("xyz")
) + """mov.u32 %r1, %cluster_ctarank; st.global.u32 [%a+60], %r1;
    mov.u32 %r1, %cluster_nctarank; st.global.u32 [%a+64], %r1;
    mov.pred %p, %is_explicit_cluster; selp.u32 %r1, 1, 0, %p; st.global.u32 [%a+68], %r1;
    ret; }
"""


def test_where_a_block_is_in_its_cluster() -> None:
    grid, cluster = (6, 3, 2), (2, 3, 1)
    out = np.zeros((36, 18), np.uint32)
    launch(WHERE, entry="k", grid=grid, block=1, args=[out])
    for number, row in enumerate(out.tolist()):
        block = number % 6, number // 6 % 3, number // 18
        inside = [at % size for at, size in zip(block, cluster, strict=True)]
        assert row == [
            *(at // size for at, size in zip(block, cluster, strict=True)), 3, 1, 2, *inside, *cluster,
            *block, inside[0] + 2 * inside[1], 6, 1,
        ]


def test_clusters_that_do_not_fit() -> None:
    for grid, cluster, message in (
        (5, None, r"a grid of \(5, 1, 1\) cannot be divided into clusters of \(2, 3, 1\)"),
        ((2, 3), 2, r"launch it with a cluster of \(2, 3, 1\) or without naming one"),
    ):
        with pytest.raises(ExecutionError, match=message):
            launch(WHERE, entry="k", grid=grid, block=1, args=[np.zeros(1000, np.uint32)], cluster=cluster)


def test_addresses_in_a_cluster() -> None:
    """Each block writes into the next one, and asks whose address it has."""
    text = HEADER + """.shared .u32 s[4];
    .entry k(.param .u64 out) {
    .reg .u64 %a, %g, %m; .reg .u32 %r<10>, %c; .reg .pred %p, %q;
    mov.u32 %r0, %cluster_ctarank; add.u32 %r1, %r0, 1; and.b32 %r1, %r1, 3;
    mov.u32 %r2, s; mapa.shared::cluster.u32 %r3, %r2, %r1;
    barrier.cluster.arrive; barrier.cluster.wait;
    st.shared::cluster.u32 [%r3+4], %r0;
    barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
    ld.shared.u32 %r4, [s+4];
    getctarank.shared::cluster.u32 %r5, %r3; getctarank.shared::cluster.u32 %r6, %r2;
    mapa.u64 %m, s, %r1; getctarank.u64 %r7, %m;
    isspacep.shared::cta %p, %m; isspacep.shared::cluster %q, %m; selp.u32 %r8, 1, 0, %p;
    @%q add.u32 %r8, %r8, 2;
    ld.u32 %c, [%m+4];
    mov.u32 %r9, %ctaid.x; ld.param.u64 %a, [out]; mad.wide.u32 %a, %r9, 24, %a;
    st.global.u32 [%a], %r4; st.global.u32 [%a+4], %r5; st.global.u32 [%a+8], %r6; st.global.u32 [%a+12], %r7;
    st.global.u32 [%a+16], %r8; st.global.u32 [%a+20], %c;
    barrier.cluster.arrive; barrier.cluster.wait;
    ret; }
    """
    out = np.zeros((8, 6), np.uint32)
    launch(text, entry="k", grid=8, block=1, args=[out], cluster=4)
    for block, row in enumerate(out.tolist()):
        rank = block % 4
        assert row == [(rank - 1) % 4, (rank + 1) % 4, rank, (rank + 1) % 4, 2, rank]


def test_beyond_the_cluster() -> None:
    text = HEADER + """.shared .u32 s[4];
    .entry k() { .reg .u32 %r<2>;
    mapa.shared::cluster.u32 %r0, s, 2;
    st.shared::cluster.u32 [%r0], 1; ret; }
    """
    with pytest.raises(ExecutionError, match="is outside the cluster, of 2 blocks") as caught:
        launch(text, entry="k", grid=4, block=1, cluster=2)
    assert caught.value.kind == "out-of-bounds"


# -- barriers ---------------------------------------------------------------------------------------


def test_warps_that_ended_are_not_waited_for_at_a_cluster() -> None:
    body = """setp.ge.u32 %p0, %t, 32; @%p0 ret;
    barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r, 1;"""
    assert stored(one_thread_each(body), 64) == [1] * 32 + [0] * 32


def test_more_warps_than_a_barrier_counts() -> None:
    """Two of four warps at a time."""
    assert stored(one_thread_each("bar.sync 3, 64; mov.u32 %r, 5;"), 128) == [5] * 128


def test_a_part_of_a_warp_counts_as_32() -> None:
    assert stored(one_thread_each("barrier.sync 3, 64; mov.u32 %r, 5;"), 40) == [5] * 40


def test_lanes_come_one_by_one() -> None:
    body = """setp.lt.u32 %p0, %t, 5; @%p0 bra few; barrier.sync 1; add.u32 %r, %r, 1; bra on;
    few: add.u32 %r, %r, 2; barrier.sync 1;
    on: add.u32 %r, %r, 4;"""
    assert stored(one_thread_each(body), 64) == [6] * 5 + [5] * 59


def deadlock(body: str, threads: int = 64) -> ExecutionError:
    with pytest.raises(ExecutionError) as caught:
        stored(one_thread_each(body), threads)
    assert caught.value.kind == "deadlock"
    return caught.value


def test_who_waits_where() -> None:
    error = deadlock("setp.lt.u32 %p0, %t, 32;\n@%p0 bra first;\nbar.sync 1;\nfirst: bar.sync 2, 64;")
    line = error.line
    assert str(error) == (
        f"line {line}: deadlock in block (0, 0, 0): of 64 running threads,"
        f" 32 at barrier 1, which 32 of 64 threads have reached (line {line}: `bar.sync 1;`),"
        f" 32 at barrier 2, which 32 of 64 threads have reached (line {line + 1}: `bar.sync 2, 64;`)"
    )
    assert len(error.lanes) == 32


def test_lanes_that_never_come() -> None:
    error = deadlock("setp.lt.u32 %p0, %t, 3;\n@%p0 bar.warp.sync 0xffffffff;\n@!%p0 bar.sync 0;", 32)
    assert "3 at other threads of the warp (lanes 3 to 31)" in str(error)


def test_an_arrival_is_missing() -> None:
    error = deadlock("setp.lt.u32 %p0, %t, 32; @%p0 bar.sync 4, 64;")
    assert "32 at barrier 4, which 32 of 64 threads have reached (line" in str(error)


def test_no_such_barrier() -> None:
    with pytest.raises(ExecutionError, match="barrier 17 does not exist; the barriers are 0 to 15"):
        stored(one_thread_each("add.u32 %s0, %r, 17; bar.sync %s0;"))


def test_a_count_that_is_no_multiple() -> None:
    with pytest.raises(ExecutionError, match="the thread count of a barrier must be a multiple of 32"):
        stored(one_thread_each("add.u32 %s0, %r, 40; bar.sync 1, %s0;"))


def test_arrivals_of_warps_that_ended() -> None:
    body = """setp.ge.u32 %p0, %t, 32; @%p0 bar.arrive 2, 64; @%p0 exit; bar.sync 2, 64; mov.u32 %r, 3;"""
    assert stored(one_thread_each(body), 64) == [3] * 32 + [0] * 32


@pytest.mark.parametrize("name", ["popc.u32", "and.pred", "or.pred"])
def test_reductions_over_some_warps(name: str) -> None:
    """Each pair of warps at a barrier of its own, whose number is in a register."""
    result = "%r" if name.startswith("popc") else "%p1"
    body = f"""shr.u32 %s0, %t, 6; add.u32 %s0, %s0, 1; and.b32 %s1, %t, 63; setp.lt.u32 %p0, %s1, 33;
    setp.ge.u32 %p2, %t, 64; and.pred %p2, %p0, %p2; not.pred %p0, %p2;
    barrier.red.{name} {result}, %s0, 64, %p0;
    """ + ("" if result == "%r" else "selp.u32 %r, 1, 0, %p1;")
    want = {"popc.u32": (64, 31), "and.pred": (1, 0), "or.pred": (1, 1)}[name]
    assert stored(one_thread_each(body), 128) == [want[0]] * 64 + [want[1]] * 64


def test_a_limit_of_time() -> None:
    text = one_thread_each("again: add.u32 %r, %r, 1; setp.ne.u32 %p0, %r, 0; @%p0 bra again;")
    with pytest.raises(ExecutionError, match="time limit exceeded") as caught:
        launch(text, entry="k", grid=1, block=1, args=[np.zeros(1, np.uint32)], seconds=0.05)
    assert caught.value.kind == "limit"


def test_another_seed_is_another_order() -> None:
    """The order in which blocks come to a counter is that of the seed, and the same each time."""
    text = one_thread_each("""mov.u32 %s0, %ctaid.x; ld.param.u64 %rd2, [out];
    atom.global.add.u32 %s1, [%rd2], 1;
    mad.wide.u32 %rd2, %s0, 4, %rd2; st.global.u32 [%rd2+4], %s1; ret;""")

    def order(seed: int) -> list[int]:
        out = np.zeros(65, np.uint32)
        launch(text, entry="k", grid=64, block=1, args=[out], seed=seed)
        assert sorted(out[1:].tolist()) == list(range(64))
        return out[1:].tolist()

    assert order(0) == list(range(64))
    assert order(1) == order(1) != order(2)
