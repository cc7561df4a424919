"""Findings about instructions of tensor cores and their memory."""

from __future__ import annotations

from ptx_lsp.finding_kinds.finding_kind import FindingKind
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

_WARPGROUP: Final = (
    "In a warpgroup: `%rd3` and `%rd4` are the descriptors of A and B in shared memory, and `%f1` to `%f4`"
    " the accumulators of the thread."
)
_TENSOR_MEMORY: Final = (
    "In a block of 128 threads: `%r3` is the address of 32 columns of Tensor Memory, `%r4` that of the lanes"
    " of the warp. `%rd3` and `%rd4` are the descriptors of A and B, `%r5` that of the instruction; `%p1` is"
    " true in thread 0, `%p2` in warp 0, `%p3` nowhere, and `done` is an mbarrier."
)

TENSOR_CORES: Final = (
    FindingKind(
        "wgmma-not-waited",
        "A use of a register that a `wgmma` in flight still reads or writes.",
        """
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd3, %rd4, 1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
st.global.f32 [%rd2], %f1; // the product may not be complete
""",
        """
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd3, %rd4, 1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
st.global.f32 [%rd2], %f1;
""",
        "race", setting=_WARPGROUP,
    ),
    FindingKind(
        "missing-wgmma-fence",
        "A register of a `wgmma` that has been used without a `wgmma.fence` after that.",
        """
mov.f32 %f1, 0f00000000;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd3, %rd4, 1, 1, 1, 0, 0; // no fence
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
""",
        """
mov.f32 %f1, 0f00000000;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd3, %rd4, 1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
""",
        "race", setting=_WARPGROUP,
    ),
    FindingKind(
        "tcgen05-not-waited",
        "A use of Tensor Memory that a load, store, copy or product in flight still reads or writes.",
        """
tcgen05.st.sync.aligned.32x32b.x1.b32 [%r4], {%r1};
tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r6}, [%r4]; // the store may not be complete
tcgen05.wait::ld.sync.aligned;
""",
        """
tcgen05.st.sync.aligned.32x32b.x1.b32 [%r4], {%r1};
tcgen05.wait::st.sync.aligned;
tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r6}, [%r4];
tcgen05.wait::ld.sync.aligned;
""",
        "race", setting=_TENSOR_MEMORY,
    ),
    FindingKind(
        "missing-tcgen05-fence",
        "A note: uses of Tensor Memory by two threads that are ordered, but without `tcgen05.fence`.",
        """
@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r3], %rd3, %rd4, %r5, %p3;
@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
wait:
mbarrier.try_wait.parity.shared::cta.b64 %p4, [done], 0;
@!%p4 bra wait;
tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r6}, [%r4]; // may begin before the wait
tcgen05.wait::ld.sync.aligned;
""",
        """
@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r3], %rd3, %rd4, %r5, %p3;
@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
wait:
mbarrier.try_wait.parity.shared::cta.b64 %p4, [done], 0;
@!%p4 bra wait;
tcgen05.fence::after_thread_sync;
tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r6}, [%r4];
tcgen05.wait::ld.sync.aligned;
""",
        "race", "note", setting=_TENSOR_MEMORY,
    ),
    FindingKind(
        "misaligned-descriptor",
        "A swizzled matrix in shared memory that begins inside a pattern.",
        """
or.b64 %rd3, %rd3, 0x4000000000000000; // 128-byte swizzling: a pattern has 1024 bytes
add.u64 %rd3, %rd3, 8; // 128 bytes into the pattern
@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r3], %rd3, %rd4, %r5, %p3; // A begins in its second row
@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
wait:
mbarrier.try_wait.parity.shared::cta.b64 %p4, [done], 0;
@!%p4 bra wait;
""",
        """
or.b64 %rd3, %rd3, 0x4000000000000000;
@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r3], %rd3, %rd4, %r5, %p3;
@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
wait:
mbarrier.try_wait.parity.shared::cta.b64 %p4, [done], 0;
@!%p4 bra wait;
""",
        "other", setting=_TENSOR_MEMORY,
    ),
    FindingKind(
        "tensor-memory",
        "An invalid use of Tensor Memory: an allocation that is not given back, too many columns, columns or"
        " lanes that the block or the warp does not have, an invalid descriptor. It stops the kernel.",
        """
add.u32 %r6, %r4, 32;
tcgen05.st.sync.aligned.32x32b.x1.b32 [%r6], {%r1}; // column 32 is not allocated
""",
        """
add.u32 %r6, %r4, 31;
tcgen05.st.sync.aligned.32x32b.x1.b32 [%r6], {%r1};
tcgen05.wait::st.sync.aligned;
""",
        stops=True, setting=_TENSOR_MEMORY,
    ),
)
