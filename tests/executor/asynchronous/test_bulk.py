"""Bulk copies and reductions, asynchronous stores: one thread moves many bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ptx_lsp.executor import ExecutionError, launch

Array = npt.NDArray[np.generic]
CONFORMANCE = Path(__file__).parents[2] / "conformance" / "kernels"

_HEAD = """.version 9.3
.target sm_100a
.address_size 64
.entry k(.param .u64 in, .param .u64 out) {
.reg .u64 %in, %out, %s<4>, %step; .reg .u32 %t, %r<9>; .reg .f32 %f<4>; .reg .u16 %h; .reg .pred %p<4>;
.shared .align 128 .b8 memory[4096];
.shared .align 8 .b64 bar[4];
ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
mov.u32 %t, %tid.x; setp.ne.u32 %p3, %t, 0;
mul.wide.u32 %step, %t, 4;
mov.u32 %r0, memory; mov.u32 %r1, bar;
"""
_LOAD = """@%p3 bra ready;
mbarrier.init.shared::cta.b64 [bar], 1;
mbarrier.arrive.expect_tx.shared::cta.b64 %s0, [bar], 1024;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%in], 1024, [%r1];
ready: bar.sync 0;
wait: mbarrier.try_wait.parity.shared::cta.b64 %p0, [bar], 0;
@!%p0 bra wait;
"""


def run(body: str, threads: int, source: Array, out: Array) -> None:
    launch(_HEAD + body + "\nret;\n}\n", entry="k", grid=1, block=threads, args=[source, out], limit=1 << 20)


def test_a_block_waits_for_the_bytes_of_a_bulk_copy() -> None:
    source, out = np.arange(256, dtype=np.uint32) * 3, np.zeros(256, np.uint32)
    run(_LOAD + """add.u64 %out, %out, %step; mad.lo.u32 %r2, %t, 4, %r0;
ld.shared.u32 %r2, [%r2]; st.global.u32 [%out], %r2;""", 256, source, out)
    assert np.array_equal(out, source)


def test_stores_in_groups() -> None:
    """The copy happens when the group is waited for; with .read its source is free again, no more."""
    source, out = np.arange(256, dtype=np.uint32), np.zeros(512, np.uint32)
    run(_LOAD + """@%p3 ret;
cp.async.bulk.global.shared::cta.bulk_group [%out], [%r0], 1024;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 0;
st.shared.u32 [%r0+4], 77;
ld.global.u32 %r2, [%out+8]; st.global.u32 [%out+1024], %r2;
cp.async.bulk.wait_group 0;
ld.global.u32 %r2, [%out+8]; st.global.u32 [%out+1028], %r2;""", 32, source, out)
    assert np.array_equal(out[:256], source)
    assert out[256:258].tolist() == [0, 2]


def test_a_store_that_nobody_waits_for_is_done_at_the_end() -> None:
    source, out = np.arange(256, dtype=np.uint32), np.zeros(256, np.uint32)
    run(_LOAD + """@%p3 ret;
cp.async.bulk.global.shared::cta.bulk_group [%out], [%r0], 1024;
cp.async.bulk.commit_group;""", 32, source, out)
    assert np.array_equal(out, source)


def test_masked_bytes_stay() -> None:
    source, out = np.arange(1024, dtype=np.uint8), np.full(1024, 0xEE, np.uint8)
    run(_LOAD + """@%p3 ret; mov.u16 %h, 0x8001;
cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%out], [%r0], 1024, %h;
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;""", 32, source, out)
    assert np.array_equal(out, np.where(np.isin(np.arange(1024) % 16, (0, 15)), source, 0xEE))


REDUCTIONS: list[tuple[str, str, Callable[[Array, Array], Array]]] = [
    (".add.u32", "u4", np.add),
    (".add.u64", "u8", np.add),
    (".add.f32", "f4", np.add),
    (".add.noftz.f16", "f2", np.add),
    (".min.s32", "i4", np.minimum),
    (".max.u64", "u8", np.maximum),
    (".and.b32", "u4", np.bitwise_and),
    (".xor.b64", "u8", np.bitwise_xor),
    (".inc.u32", "u4", lambda a, b: np.where(np.greater_equal(a, b), 0, np.add(a, 1))),
]


@pytest.mark.parametrize(("operation", "dtype", "want"), REDUCTIONS, ids=[one[0] for one in REDUCTIONS])
def test_reductions(operation: str, dtype: str, want: Callable[[Array, Array], Array]) -> None:
    random = np.random.default_rng(3)
    count = 1024 // np.dtype(dtype).itemsize
    source, out = (random.integers(-99, 99, count).astype(dtype) for _ in range(2))
    expected = want(out, source).astype(dtype)
    run(_LOAD + f"""@%p3 ret;
cp.reduce.async.bulk.global.shared::cta.bulk_group{operation} [%out], [%r0], 1024;
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;""", 32, source, out)
    assert np.array_equal(out, expected)


def test_sizes_and_addresses_are_checked() -> None:
    for size, address, kind in (
        ("24", "%in", "misaligned"), ("1040", "%in", "out-of-bounds"), ("16", "%in+8", "misaligned"),
    ):
        body = _LOAD.replace("1024, [", "%r4, [").replace("[%in]", f"[{address}]")
        with pytest.raises(ExecutionError) as caught:
            run(f"mov.u32 %r4, {size};\n" + body, 32, np.zeros(256, np.uint32), np.zeros(4, np.uint32))
        assert (caught.value.kind, caught.value.line) == (kind, 16)


def test_the_ends_of_a_source_may_be_ignored() -> None:
    source, out = np.arange(25, dtype=np.uint8) + 1, np.zeros(32, np.uint8)
    run("""mbarrier.init.shared::cta.b64 [bar], 1;
mbarrier.arrive.expect_tx.shared::cta.b64 %s0, [bar], 32;
cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob [%r0], [%in], 32, 3, 7, [%r1];
wait: mbarrier.try_wait.shared::cta.b64 %p0, [bar], %s0;
@!%p0 bra wait;
cp.async.bulk.global.shared::cta.bulk_group [%out], [%r0], 32;
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;""", 1, source, out)
    assert out.tolist() == [0, 0, 0, *range(4, 26), *[0] * 7]


def test_asynchronous_stores_and_reductions() -> None:
    source, out = np.zeros(4, np.uint32), np.zeros(8, np.uint32)
    run("""@%p3 bra ready;
mbarrier.init.shared::cta.b64 [bar], 1;
mbarrier.arrive.expect_tx.shared::cta.b64 %s0, [bar], 640;
ready: bar.sync 0;
mad.lo.u32 %r2, %t, 16, %r0;
st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%r2], {%t, 1, 2, 3}, [%r1];
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r0+1024], %t, [%r1];
ld.shared.u32 %r5, [%r0+1024];
wait: mbarrier.try_wait.parity.shared::cta.b64 %p0, [bar], 0;
@!%p0 bra wait;
@%p3 ret;
ld.shared.v4.u32 {%r2, %r3, %r4, %r6}, [%r0+112]; st.global.v4.u32 [%out], {%r2, %r3, %r4, %r6};
ld.shared.u32 %r6, [%r0+1024]; st.global.v2.u32 [%out+16], {%r5, %r6};""", 32, source, out)
    assert out.tolist() == [7, 1, 2, 3, 0, sum(range(32)), 0, 0]


def test_shared_memory_is_filled_with_zeros() -> None:
    source, out = np.full(256, 5, np.uint32), np.zeros(256, np.uint32)
    run(_LOAD + """@%p3 bra zeroed;
mov.u64 %s1, 512; st.bulk.weak.shared::cta [%r0+8], %s1, 0;
zeroed: bar.sync 0; add.u64 %out, %out, %step; mad.lo.u32 %r2, %t, 4, %r0;
ld.shared.u32 %r2, [%r2]; st.global.u32 [%out], %r2;""", 256, source, out)
    assert out.tolist() == [5, 5] + [0] * 128 + [5] * 126


@pytest.mark.parametrize(
    ("report", "place", "value", "fails"),
    [
        ("per_element::ff", 77, 0xFF, True), ("per_16bytes::80", 32, 0x80, True),
        ("per_16bytes::80", 33, 0x80, False), ("per_16bytes::8", 48, 0x18, True),
        ("per_16bytes::8000", 65, 0x80, True), ("per_16bytes::80000000", 67, 0x80, True),
        ("per_16bytes::80000000", 66, 0x80, False),
    ],
)
def test_data_that_are_not_valid(report: str, place: int, value: int, fails: bool) -> None:
    """The wait tells of them, and a conditional phase is not complete then."""
    source, out = np.zeros(128, np.uint8), np.zeros(3, np.uint32)
    source[place] = value
    body = f"""@%p3 ret;
mbarrier.init.layout::v1.shared::cta.b64 [bar], 1;
mbarrier.arrive.expect_tx.shared::cta.b64 %s0, [bar], 128;
cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.mbarrier::report::validity::{report}
 [%r0], [%in], 128, [%r1];
mbarrier.test_wait.parity.phase_type::primary.shared::cta.b64 %p0|%p1, [bar], 0;
selp.u32 %r4, 1, 0, %p0; st.global.u32 [%out], %r4;
selp.u32 %r4, 1, 0, %p1; st.global.u32 [%out+4], %r4;
mbarrier.test_wait.parity.phase_type::conditional.shared::cta.b64 %p0, [bar], 0;
selp.u32 %r4, 1, 0, %p0; st.global.u32 [%out+8], %r4;"""
    launch(
        _HEAD.replace("9.3", "9.4").replace("sm_100a", "sm_107a") + body + "\nret;\n}\n", entry="k", grid=1,
        block=1, args=[source, out],
    )
    assert out.tolist() == [1, fails, not fails]


def test_a_stored_value_of_128_bits() -> None:
    source, out = np.arange(4, dtype=np.uint32) + 1, np.zeros(4, np.uint32)
    body = """mbarrier.init.shared::cta.b64 [bar], 1;
mbarrier.arrive.expect_tx.shared::cta.b64 %s0, [bar], 16;
ld.global.b128 %w, [%in];
st.async.shared::cluster.mbarrier::complete_tx::bytes.b128 [%r0], %w, [%r1];
wait: mbarrier.try_wait.shared::cta.b64 %p0, [bar], %s0;
@!%p0 bra wait;
ld.shared.b128 %w, [%r0]; st.global.b128 [%out], %w;"""
    run(".reg .b128 %w;\n" + body, 1, source, out)
    assert np.array_equal(out, source)


def test_a_multimem_address_on_one_device() -> None:
    source, out = np.array([5, 6, 7, 8], np.uint32), np.array([10, 20, 30, 40], np.uint32)
    run("""multimem.ld_reduce.relaxed.gpu.global.add.u32 %r2, [%in+4];
multimem.red.relaxed.gpu.global.add.u32 [%out], %r2;
multimem.st.relaxed.gpu.global.u32 [%out+4], %r2;
multimem.ld_reduce.relaxed.gpu.global.add.v2.f32 {%f1, %f2}, [%in+8];
multimem.st.relaxed.gpu.global.v2.f32 [%out+8], {%f2, %f1};""", 1, source, out)
    assert out.tolist() == [16, 6, 8, 7]


def test_an_mbarrier_with_reports_counts_less() -> None:
    source, out = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    run("mbarrier.init.layout::v1.shared::cta.b64 [bar], 511;", 1, source, out)
    with pytest.raises(ExecutionError, match=r"mbarrier of `\.layout::v1` must be from 1 to 511"):
        run("mbarrier.init.layout::v1.shared::cta.b64 [bar], 512;", 1, source, out)


def test_the_only_cluster_is_not_canceled() -> None:
    source, out = np.zeros(4, np.uint32), np.full(4, 9, np.uint32)
    run(""".reg .b128 %w; mov.u32 %r4, 7; st.shared.u32 [%r0], %r4;
mbarrier.init.shared::cta.b64 [bar], 1;
mbarrier.arrive.expect_tx.shared::cta.b64 %s0, [bar], 16;
clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r0], [%r1];
wait: mbarrier.try_wait.shared::cta.b64 %p0, [bar], %s0;
@!%p0 bra wait;
ld.shared.b128 %w, [%r0];
clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %w;
selp.u32 %r4, 1, 0, %p1; st.global.u32 [%out], %r4;""", 1, source, out)
    assert out.tolist() == [0, 9, 9, 9]


@pytest.mark.parametrize("seed", [0, 4])
@pytest.mark.parametrize("blocks", [2, 12])
def test_clusters_that_are_canceled_do_not_start(blocks: int, seed: int) -> None:
    """Each index is worked on once, by fewer blocks; each that starts adds 100 to the first number."""
    text = (CONFORMANCE / "launch_control.ptx").read_text(encoding="utf-8")
    started = text.replace("work:", "red.global.add.u32 [%rd0], 100;\nwork:", 1)
    worked = np.zeros(24, np.uint32)
    done: list[int] = []
    launch(
        started, entry="stolen", grid=(2, 3, blocks // 6) if blocks > 2 else 2, block=1, args=[worked],
        seed=seed,
        progress=lambda done_blocks, all_blocks, executed: done.append(done_blocks),
    )
    count = int(worked[0]) // 100
    worked[0] %= 100
    assert worked.tolist() == [1] * blocks + [0] * (24 - blocks)
    assert 1 <= count < blocks
    assert done[-1] == blocks
