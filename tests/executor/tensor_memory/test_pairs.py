"""`.cta_group::2`: a pair of blocks, each with half of the rows of A and of the columns of B, multiplies."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from ptx_lsp.executor import ExecutionError, Lane, launch
from ptx_lsp.executor.instrumentation.trace import Trace

K = 64
_HEADER = """.version 9.0
.target sm_100a
.address_size 64
.visible .entry pair(.param .u64 a, .param .u64 b, .param .u64 out) .reqnctapercluster 2, 1, 1
{
	.shared .align 1024 .b8 left[16384];
	.shared .align 1024 .b8 right[16384];
	.shared .align 8 .b64 done;
	.shared .b32 slot;
	.reg .pred %p, %first, %lead, %issues, %no;
	.reg .b32 %t<8>, %id, %warp, %rank, %d<128>;
	.reg .b64 %rd<8>, %a, %b, %out, %x<2>;
	.reg .b128 %chunk;
	ld.param.u64 %a, [a];  ld.param.u64 %b, [b];  ld.param.u64 %out, [out];
	mov.u32 %id, %tid.x;  shr.u32 %warp, %id, 5;  mov.u32 %rank, %cluster_ctarank;
	setp.eq.u32 %first, %warp, 0;  setp.eq.u32 %lead, %id, 0;  setp.ne.u32 %no, %id, %id;
	setp.eq.and.u32 %issues, %rank, 0, %lead;
	@%lead mbarrier.init.shared::cta.b64 [done], 1;
	@%first tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 128;
	@%first tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;
"""


def _loaded(source: str, target: str, rows: int) -> list[str]:
    """Copies the block's rows of a matrix, 16 bytes at a time: those of a column of chunks lie together."""
    found: list[str] = []
    for first in range(0, rows * 8, 128):
        found += [
            f"add.u32 %t0, %id, {first};  shr.u32 %t1, %t0, 3;  and.b32 %t2, %t0, 7;",
            f"mad.lo.u32 %t3, %rank, {rows}, %t1;  mul.lo.u32 %t3, %t3, {2 * K};",
            "mad.lo.u32 %t3, %t2, 16, %t3;  cvt.u64.u32 %rd0, %t3;  add.u64 %rd0, %rd0, " f"%{source};",
            "ld.global.v2.b64 {%rd1, %rd2}, [%rd0];",
            f"mul.lo.u32 %t3, %t2, {16 * rows};  mad.lo.u32 %t3, %t1, 16, %t3;  mov.u32 %t4, {target};",
            "add.u32 %t3, %t3, %t4;  st.shared.v2.b64 [%t3], {%rd1, %rd2};",
        ]
    return found


def kernel(m: int, n: int, *, fence: str = "fence.proxy.async.shared::cta;") -> str:
    rows, columns = m // 2, n // 2
    width = n if m == 256 else columns
    idesc = 1 << 4 | n >> 3 << 17 | m >> 4 << 24
    lines = [
        *_loaded("a", "left", rows), *_loaded("b", "right", columns), fence,
        "barrier.cluster.arrive.aligned;  barrier.cluster.wait.aligned;",
        "ld.shared.b32 %t0, [slot];",
    ]
    for step in range(K // 16):
        for number, (region, count) in enumerate((("left", rows), ("right", columns))):
            fields = 16 * count >> 4 << 16 | 128 >> 4 << 32 | 1 << 46
            lines += [
                f"mov.u32 %t1, {region};  add.u32 %t1, %t1, {step * 32 * count};  bfe.u32 %t1, %t1, 4, 14;",
                f"cvt.u64.u32 %x{number}, %t1;  or.b64 %x{number}, %x{number}, {fields:#x};",
            ]
        enable = "%issues" if step else "%no"
        lines += [
            f"mov.b32 %t1, {idesc:#x};",
            f"@%issues tcgen05.mma.cta_group::2.kind::f16 [%t0], %x0, %x1, %t1, {enable};",
        ]
    names = "{" + ", ".join(f"%d{at}" for at in range(width)) + "}"
    commit = "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64"
    lines += [
        f"@%issues {commit} [done], 3;",
        "wait: mbarrier.try_wait.parity.shared::cta.b64 %p, [done], 0;",
        "@!%p bra wait;",
        "tcgen05.fence::after_thread_sync;",
        "shl.b32 %t1, %warp, 21;  add.u32 %t1, %t1, %t0;",
        f"tcgen05.ld.sync.aligned.32x32b.x{width}.b32 {names}, [%t1];",
        "tcgen05.wait::ld.sync.aligned;",
        f"mad.lo.u32 %t2, %rank, 128, %id;  mul.wide.u32 %rd0, %t2, {4 * width};",
        "add.u64 %out, %out, %rd0;",
        *[f"st.global.b32 [%out+{4 * at}], %d{at};" for at in range(width)],
        "tcgen05.fence::before_thread_sync;",
        "barrier.cluster.arrive.aligned;  barrier.cluster.wait.aligned;",
        "@%first tcgen05.dealloc.cta_group::2.sync.aligned.b32 %t0, 128;",
        "ret;",
    ]
    return _HEADER + "\n".join(f"\t{line}" for line in lines) + "\n}\n"


def run(m: int, n: int, text: str, seed: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float64]]:
    """The cells of both blocks, and the product."""
    random = np.random.default_rng(m + n)
    a, b = ((random.integers(-8, 9, (side, K)) / 4).astype(np.float16) for side in (m, n))
    width = n if m == 256 else n // 2
    out = np.zeros((2, 128, width), np.float32)
    launch(text, entry="pair", grid=2, block=128, args=[a, b, out], seed=seed, check=seed == 0)
    return out, a.astype(np.float64) @ b.astype(np.float64).T


@pytest.mark.parametrize("seed", [0, 2])
@pytest.mark.parametrize("n", [32, 128])
def test_256_rows(n: int, seed: int) -> None:
    """Each block has 128 rows of D, one to a lane."""
    found, wanted = run(256, n, kernel(256, n), seed)
    assert np.array_equal(found.reshape(256, n), wanted)


@pytest.mark.parametrize("seed", [0, 2])
@pytest.mark.parametrize("n", [32, 128])
def test_128_rows(n: int, seed: int) -> None:
    """Each block has 64 rows of D, the right half of the columns in lanes 64 to 127."""
    found, wanted = run(128, n, kernel(128, n), seed)
    halves = found.reshape(2, 2, 64, n // 2)
    assert np.array_equal(np.concatenate([halves[:, 0], halves[:, 1]], axis=2).reshape(128, n), wanted)


def test_odd_clusters() -> None:
    text = kernel(256, 32).replace(".reqnctapercluster 2, 1, 1", "")
    with pytest.raises(ExecutionError, match="requires clusters with an even number of blocks"):
        run(256, 32, text, 0)


def test_traces_decode_descriptors() -> None:
    trace = Trace(lanes=[Lane((0, 0, 0), (0, 0, 0))])
    sides = [np.zeros((256, K), np.float16), np.zeros((32, K), np.float16)]
    launch(
        kernel(256, 32), entry="pair", grid=2, block=128, observers=[trace],
        args=[*sides, np.zeros((2, 128, 32), np.float32)],
    )
    fields = [event.fields for event in trace.events if "tcgen05.mma" in event.text]
    assert fields[0] == (
        "m256n32k16, D .f32, A .f16, B .f16; A: start 0x0, leading dimension offset 2048, stride dimension"
        " offset 128 bytes, no swizzling; B: start 0x4000, leading dimension offset 256, stride dimension"
        " offset 128 bytes, no swizzling; D: lane 0, column 0"
    )
