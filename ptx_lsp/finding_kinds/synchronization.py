"""Findings about threads that depend on each other."""

from __future__ import annotations

from ptx_lsp.finding_kinds.finding_kind import FindingKind
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

SYNCHRONIZATION: Final = (
    FindingKind(
        "race",
        "Two threads access the same byte without an order between them; at least one access is a write, and"
        " at least one is not strong.",
        """
st.shared.u32 [%r2], %r1;
ld.shared.u32 %r3, [tile]; // thread 0 may not have written it yet
""",
        """
st.shared.u32 [%r2], %r1;
bar.sync 0;
ld.shared.u32 %r3, [tile];
""",
        "race",
    ),
    FindingKind(
        "benign-race",
        "A note, with `--benign`: two threads write the same value to a byte without an order between them."
        " The memory model has no exception for that, and another input may give different values.",
        """
st.shared.u32 [tile], 1; // all threads write it
""",
        """
setp.eq.u32 %p1, %r1, 0;
@%p1 st.shared.u32 [tile], 1;
""",
        "race", "note",
    ),
    FindingKind(
        "divergent-barrier",
        "A barrier with `.aligned`, such as `bar.sync`, that some threads of a warp do not execute together"
        " with the others. Threads that have exited, or have only `ret` ahead of them, do not count.",
        """
setp.lt.u32 %p1, %r1, 16;
@%p1 bar.sync 0; // only half of warp 0
st.global.u32 [%rd2], %r1;
""",
        """
bar.sync 0;
st.global.u32 [%rd2], %r1;
""",
        "divergence",
    ),
    FindingKind(
        "divergent-warp",
        "Another instruction with `.aligned` that some threads of a warp do not execute together with the"
        " others.",
        """
setp.lt.u32 %p1, %r1, 16;
@%p1 wgmma.fence.sync.aligned; // only half of warp 0
st.global.u32 [%rd2], %r1;
""",
        """
wgmma.fence.sync.aligned;
st.global.u32 [%rd2], %r1;
""",
        "divergence",
    ),
    FindingKind(
        "divergent",
        "An instruction that needs all threads of a warp, such as `mma`, and that some do not execute. It"
        " stops the kernel.",
        """
setp.lt.u32 %p1, %r1, 16;
@%p1 mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%r3, %r4}, {%r1}, {%r1}, {%r1, %r1}; // half a warp
""",
        """
mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%r3, %r4}, {%r1}, {%r1}, {%r1, %r1};
""",
        stops=True,
    ),
    FindingKind(
        "barrier-mismatch",
        "Threads that meet at one barrier give different counts, or only some of them give a reduction.",
        """
setp.lt.u32 %p1, %r1, 32;
@%p1 bar.sync 1, 64;
@!%p1 bar.sync 1, 32; // the other warp waits there for 64 threads
""",
        """
bar.sync 1, 64;
""",
        "divergence",
    ),
    FindingKind(
        "membermask",
        "The mask of `shfl.sync`, `vote.sync`, `match.sync`, `redux.sync`, `elect.sync` or `bar.warp.sync`"
        " does not include the executing thread; or it includes a thread with another mask, or, except with"
        " `bar.warp.sync`, one that bypassed the instruction and exited.",
        """
setp.lt.u32 %p1, %r1, 16;
@!%p1 bra done;
vote.sync.ballot.b32 %r3, %p1, 0xffffffff; // lanes 16 to 31 do not execute it
done:
st.global.u32 [%rd2], %r1;
""",
        """
setp.lt.u32 %p1, %r1, 16;
@!%p1 bra done;
vote.sync.ballot.b32 %r3, %p1, 0x0000ffff;
done:
st.global.u32 [%rd2], %r1;
""",
        "divergence",
    ),
    FindingKind(
        "deadlock",
        "Threads wait for other threads, or for a value in memory, that never arrive; or they loop forever."
        " It stops the kernel.",
        """
setp.lt.u32 %p1, %r1, 32;
@%p1 bar.sync 1, 64; // warp 1 never executes it
""",
        """
bar.sync 1, 64;
""",
        stops=True,
    ),
    FindingKind(
        "cp.async-not-waited",
        "A read of shared memory while a copy to it is in flight.",
        """
cp.async.ca.shared.global [%r2], [%rd2], 4;
ld.shared.u32 %r3, [%r2]; // the copy may not have happened
""",
        """
cp.async.ca.shared.global [%r2], [%rd2], 4;
cp.async.wait_all;
ld.shared.u32 %r3, [%r2];
""",
        "race",
    ),
    FindingKind(
        "missing-proxy-fence",
        "A bulk or tensor copy reads memory that threads have written, without a `fence.proxy.async` in"
        " between.",
        """
st.shared.u32 [%r2], %r1;
bar.sync 0;
setp.eq.u32 %p1, %r1, 0;
@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 256; // may copy what was there before
@%p1 cp.async.bulk.commit_group;
@%p1 cp.async.bulk.wait_group 0;
""",
        """
st.shared.u32 [%r2], %r1;
fence.proxy.async.shared::cta;
bar.sync 0;
setp.eq.u32 %p1, %r1, 0;
@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 256;
@%p1 cp.async.bulk.commit_group;
@%p1 cp.async.bulk.wait_group 0;
""",
        "race",
    ),
    FindingKind(
        "early-arrival",
        "A thread arrives at the barrier of its cluster again without having waited there.",
        """
barrier.cluster.arrive.aligned;
barrier.cluster.arrive.aligned; // the first arrival was not waited for
barrier.cluster.wait.aligned;
""",
        """
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
""",
        "race",
    ),
    FindingKind(
        "exited-block",
        "A use of the shared memory of another block of the cluster after that block has exited. Whether it"
        " has depends on the order of threads (`--seeds`).",
        """
st.shared.u32 [%r2], %r1;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
ld.shared::cluster.u32 %r4, [%r3]; // the other block does not wait for this
""",
        """
st.shared.u32 [%r2], %r1;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
ld.shared::cluster.u32 %r4, [%r3];
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
""",
        "race",
        setting="In a cluster of two blocks of 64 threads: `%r1` is `%tid.x`, `%r2` the address of element"
        " `%r1` of `tile`, an array of 64 words in shared memory, `%r3` that of the same element of the other"
        " block.",
    ),
    FindingKind(
        "mbarrier",
        "An mbarrier that has not been initialised, or whose count or number of arrivals is beyond its"
        " limits. It stops the kernel.",
        """
.shared .align 8 .b64 ready;

mbarrier.arrive.shared.b64 %rd3, [ready]; // no mbarrier.init
""",
        """
.shared .align 8 .b64 ready;

setp.eq.u32 %p1, %r1, 0;
@%p1 mbarrier.init.shared.b64 [ready], 64;
bar.sync 0;
mbarrier.arrive.shared.b64 %rd3, [ready];
""",
        stops=True,
    ),
    FindingKind(
        "schedule-dependent",
        "A note, with `--seeds`: a buffer is not the same after every order of threads.",
        """
atom.global.exch.b32 %r3, [%rd1], %r1; // the last one stays
""",
        """
atom.global.max.u32 %r3, [%rd1], %r1;
""",
        "race", "note",
    ),
)
