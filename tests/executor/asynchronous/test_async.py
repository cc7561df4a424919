"""mbarriers and asynchronous copies: whole kernels, and what goes wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ptx_lsp.executor import ExecutionError, launch

KERNELS = Path(__file__).parents[1] / "kernels"
CORPUS = Path(__file__).parents[2] / "oracle" / "corpus"
Words = npt.NDArray[np.uint32]

# In all kernels here: the thread in %t, the address of its element of `out` in %out, that of `in` in %in.
_HEAD = """.version 8.0
.target sm_90
.address_size 64
.entry k(.param .u64 in, .param .u64 out) {
.reg .u64 %in, %out, %s<4>, %step; .reg .u32 %t, %r<9>; .reg .pred %p<4>, %q;
.shared .align 16 .b8 memory[4096];
.shared .align 8 .b64 bar[4];
ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
mul.wide.u32 %step, %t, SIZE; add.u64 %in, %in, %step; add.u64 %out, %out, %step;
mov.u32 %r0, memory; mad.lo.u32 %r0, %t, SIZE, %r0;
setp.eq.u32 %q, %t, 0;
"""


def run(body: str, threads: int, source: Words, *, size: int = 4) -> Words:
    """What the kernel leaves in `out`, as long as `source`. `%r0` is the thread's place in shared memory."""
    out = np.zeros_like(source)
    text = _HEAD.replace("SIZE", str(size)) + body + "\nret;\n}\n"
    launch(text, entry="k", grid=1, block=threads, args=[source, out], limit=1 << 20)
    return out


def wrong(body: str, threads: int = 1) -> ExecutionError:
    with pytest.raises(ExecutionError) as caught:
        run(body, threads, np.zeros(64, np.uint32))
    return caught.value


def test_double_buffered_pipeline() -> None:
    data = np.arange(8 * 64, dtype=np.uint32) ** 2
    out = np.zeros(64, np.uint32)
    launch(KERNELS / "pipeline.ptx", entry="pipeline", grid=3, block=64, args=[data, out])
    assert np.array_equal(out, data.reshape(8, 64).sum(axis=0)[::-1])


@pytest.mark.parametrize("blocks", [1, 5])
def test_producer_and_consumer(blocks: int) -> None:
    rounds = 9
    out = np.zeros(32, np.uint32)
    launch(
        KERNELS / "producer_consumer.ptx", entry="producer_consumer", grid=blocks, block=64,
        args=[out, np.uint32(rounds)],
    )
    want = [sum(1000 * i + 31 - lane for i in range(rounds)) for lane in range(32)]
    assert out.tolist() == want


def test_a_copy_is_there_only_after_the_wait() -> None:
    source = np.arange(1, 33, dtype=np.uint32)
    body = """st.shared.u32 [%r0], 99;
cp.async.ca.shared.global [%r0], [%in], 4;
cp.async.commit_group;
WAIT
ld.shared.u32 %r1, [%r0]; st.global.u32 [%out], %r1;"""
    assert run(body.replace("WAIT", ""), 32, source).tolist() == [99] * 32
    assert run(body.replace("WAIT", "cp.async.wait_group 1;"), 32, source).tolist() == [99] * 32
    for wait in ("cp.async.wait_group 0;", "cp.async.wait_all;"):
        assert np.array_equal(run(body.replace("WAIT", wait), 32, source), source)


@pytest.mark.parametrize(("size", "modifier"), [(4, ".ca"), (8, ".ca"), (16, ".ca"), (16, ".cg")])
def test_sizes(size: int, modifier: str) -> None:
    source = np.arange(64 * size // 4, dtype=np.uint32) * 77
    body = f"cp.async{modifier}.shared.global [%r0], [%in], {size}; cp.async.wait_all;"
    for at in range(0, size, 4):
        body += f"\nld.shared.u32 %r1, [%r0+{at}]; st.global.u32 [%out+{at}], %r1;"
    assert np.array_equal(run(body, 64, source, size=size), source)


def test_bytes_that_are_not_read_become_zeros() -> None:
    source = np.full(16 * 4, 0xAABBCCDD, np.uint32)
    body = """st.shared.v4.u32 [%r0], {1, 1, 1, 1};
cp.async.cg.shared.global [%r0], [%in], 16, %t;
cp.async.wait_all;
ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r0]; st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};"""
    rows = run(body, 16, source, size=16).view(np.uint8).reshape(16, 16)
    for count, row in enumerate(rows):
        assert row.tolist() == [*source.view(np.uint8)[:count], *[0] * (16 - count)]


def test_sources_that_are_ignored_may_lie_anywhere() -> None:
    source = np.full(32, 7, np.uint32)
    body = """add.u64 %in, %in, 64; setp.ge.u32 %p1, %t, 16;
IGNORE
cp.async.wait_all; ld.shared.u32 %r1, [%r0]; st.global.u32 [%out], %r1;"""
    with_predicate = "cp.async.ca.shared.global [%r0], [%in], 4, %p1;"
    with_size = "selp.u32 %r3, 0, 4, %p1; cp.async.ca.shared.global [%r0], [%in], 4, %r3;"
    for copy in (with_predicate, with_size):
        assert run(body.replace("IGNORE", copy), 32, source).tolist() == [7] * 16 + [0] * 16
    error = wrong("add.u64 %in, %in, 253;\ncp.async.ca.shared.global [%r0], [%in], 4, 4;")
    assert error.kind == "out-of-bounds"


@pytest.mark.parametrize(("noinc", "expected"), [("", 32), (".noinc", 64)])
def test_an_mbarrier_waits_for_copies(noinc: str, expected: int) -> None:
    source = np.arange(32, dtype=np.uint32) + 5
    body = f"""@%q mbarrier.init.shared.b64 [bar], {expected};
bar.sync 0;
cp.async.ca.shared.global [%r0], [%in], 4;
cp.async.mbarrier.arrive{noinc}.shared.b64 [bar];
mbarrier.arrive.shared.b64 %s0, [bar];
again: mbarrier.test_wait.shared.b64 %p1, [bar], %s0;
@!%p1 bra again;
xor.b32 %r1, %r0, 124; ld.shared.u32 %r1, [%r1]; st.global.u32 [%out], %r1;"""
    assert np.array_equal(run(body, 32, source), source[::-1])


def test_counts_and_states() -> None:
    body = """mbarrier.init.shared.b64 [bar], 10;
mov.u32 %r2, 3;
mbarrier.arrive.noComplete.shared.b64 %s0, [bar], 4;
mbarrier.arrive.shared.b64 %s1, [bar], %r2;
mbarrier.pending_count.b64 %r3, %s0; st.global.u32 [%out], %r3;
mbarrier.pending_count.b64 %r3, %s1; st.global.u32 [%out+4], %r3;
mbarrier.test_wait.shared.b64 %p0, [bar], %s1; selp.u32 %r3, 1, 0, %p0; st.global.u32 [%out+8], %r3;
mbarrier.arrive_drop.shared.b64 %s1, [bar], %r2;
mbarrier.test_wait.shared.b64 %p0, [bar], %s1; selp.u32 %r3, 1, 0, %p0; st.global.u32 [%out+12], %r3;
mbarrier.arrive.noComplete.shared.b64 %s0, [bar], 1;
mbarrier.pending_count.b64 %r3, %s0; st.global.u32 [%out+16], %r3;
mbarrier.test_wait.parity.shared.b64 %p0, [bar], 0; selp.u32 %r3, 1, 0, %p0; st.global.u32 [%out+20], %r3;
mbarrier.test_wait.parity.shared.b64 %p0, [bar], 1; selp.u32 %r3, 1, 0, %p0; st.global.u32 [%out+24], %r3;"""
    assert run(body, 1, np.zeros(7, np.uint32)).tolist() == [10, 6, 0, 1, 7, 1, 0]


def test_bytes_are_waited_for() -> None:
    body = """mbarrier.init.shared.b64 [bar], 1;
mbarrier.arrive.expect_tx.shared.b64 %s0, [bar], 64;
mbarrier.test_wait.shared.b64 %p0, [bar], %s0; selp.u32 %r3, 1, 0, %p0; st.global.u32 [%out], %r3;
mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 16;
mbarrier.complete_tx.relaxed.cta.shared.b64 [bar], 64;
mbarrier.test_wait.shared.b64 %p0, [bar], %s0; selp.u32 %r3, 1, 0, %p0; st.global.u32 [%out+4], %r3;
mbarrier.complete_tx.relaxed.cta.shared.b64 [bar], 16;
mbarrier.test_wait.shared.b64 %p0, [bar], %s0; selp.u32 %r3, 1, 0, %p0; st.global.u32 [%out+8], %r3;"""
    assert run(body, 1, np.zeros(3, np.uint32)).tolist() == [0, 0, 1]


def test_arrivals_of_one_instruction_reach_into_the_next_phase() -> None:
    body = """@%q mbarrier.init.shared.b64 [bar], 4;
bar.sync 0;
mbarrier.arrive.shared.b64 %s0, [bar];
mbarrier.test_wait.shared.b64 %p0, [bar], %s0; selp.u32 %r3, 1, 0, %p0; st.global.u32 [%out], %r3;"""
    assert run(body, 6, np.zeros(6, np.uint32)).tolist() == [1, 1, 1, 1, 0, 0]


def test_a_phase_that_never_becomes_complete() -> None:
    error = wrong("""@%q mbarrier.init.shared.b64 [bar], 33;
bar.sync 0;
mbarrier.arrive.shared.b64 %s0, [bar];
again: mbarrier.try_wait.shared.b64 %p0, [bar], %s0;
@!%p0 bra again;""", 32)
    assert (error.kind, error.line, len(error.lanes)) == ("deadlock", 16, 32)
    assert "phase (parity 0) lacks 1 of 33 arrivals and 0 bytes (line 16: `mbarrier.try_wait" in str(error)


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ("mbarrier.arrive.shared.b64 %s0, [bar];", "does not hold an initialized mbarrier"),
        ("mov.u32 %r2, 0; mbarrier.init.shared.b64 [bar], %r2;", "must be from 1 to 1048575"),
        ("mbarrier.init.shared.b64 [bar], 1; mbarrier.inval.shared.b64 [bar];\n"
         "mbarrier.test_wait.parity.shared.b64 %p0, [bar], 0;", "does not hold an initialized mbarrier"),
        ("mbarrier.init.shared.b64 [bar], 2;\nmbarrier.arrive.noComplete.shared.b64 _, [bar], 2;",
         "must not complete the phase"),
        ("mbarrier.init.shared.b64 [bar], 2; mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 16;\n"
         "mov.u32 %r2, 3; mbarrier.arrive.shared.b64 _, [bar], %r2;", "more arrivals"),
    ],
)
def test_misuse_of_an_mbarrier(body: str, part: str) -> None:
    error = wrong(body)
    assert error.kind == "mbarrier"
    assert part in str(error)
    assert error.line == 13 + body.count("\n")
    assert len(error.lanes) == 1


def test_an_mbarrier_is_in_shared_memory() -> None:
    assert wrong("mbarrier.arrive.b64 %s0, [%in];").kind == "out-of-bounds"


@pytest.mark.parametrize("seed", [0, 5])
def test_matrix_product_of_triton(seed: int) -> None:
    """Three stages of cp.async between global and shared memory, ldmatrix and mma."""
    m, n, k = 64, 64, 256
    random = np.random.default_rng(1)
    a, b = random.standard_normal((m, k)).astype("f2"), random.standard_normal((k, n)).astype("f2")
    c = np.zeros((m, n), np.float16)
    sizes = [np.int32(one) for one in (m, n, k, k, n, n)]
    launch(
        CORPUS / "triton_matmul_f16_64x64x32.sm80.ptx", entry="matmul_k", grid=1, block=128, seed=seed,
        args=[a, b, c, *sizes, np.uint64(0), np.uint64(0)], shared_bytes=1 << 15,
    )
    want = a.astype(np.float64) @ b.astype(np.float64)
    assert np.allclose(c, want, rtol=2e-3, atol=0.05)
