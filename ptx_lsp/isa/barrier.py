"""Barriers of a CTA, a warp and a cluster, and memory fences.

PTX ISA, section "Parallel Synchronization and Communication Instructions".
"""

from __future__ import annotations

from ptx_lsp.isa.entry import instruction
from ptx_lsp.isa.operand import address, immediate, predicate, reads, writes

_PAGE = "parallel-synchronization-and-communication-instructions-"
_BARRIER = {
    "d": writes(".u32"),
    "p": predicate("write"),
    "a": reads(".u32"),
    "b": reads(".u32"),
    "c": predicate(),
}

instruction(
    "bar",
    section=_PAGE + "bar",
    summary="Waits at (or only arrives at) one of the 16 barriers of the CTA, until all threads or"
    " b threads have come; .red also combines a predicate over them.",
    syntax="""
        bar{.cta}.sync          a{, b};
        bar{.cta}.arrive        a, b;
        bar{.cta}.red.popc.u32  d, a{, b}, {!}c;
        bar{.cta}.red.op.pred   p, a{, b}, {!}c;
        .op = { .and, .or };
    """,
    operands=_BARRIER,
    since=[
        ("", "1.0", 10),
        (".arrive|.red", "2.0", 20),
        (".cta", "7.8", 30),
    ],
    notes=["All threads of a warp must come together, as with barrier.sync.aligned."],
    example="bar.sync 0;",
)

instruction(
    "barrier",
    section=_PAGE + "bar",
    summary="Waits at (or only arrives at) one of the 16 barriers of the CTA, until all threads or"
    " b threads have come; without .aligned, the threads of a warp may come one by one.",
    syntax="""
        barrier{.cta}.sync{.aligned}          a{, b};
        barrier{.cta}.arrive{.aligned}        a, b;
        barrier{.cta}.red.popc{.aligned}.u32  d, a{, b}, {!}c;
        barrier{.cta}.red.op{.aligned}.pred   p, a{, b}, {!}c;
        .op = { .and, .or };
    """,
    operands=_BARRIER,
    since=[("", "6.0", 30), (".cta", "7.8", 30)],
    example="barrier.sync.aligned 1, 64;",
)

instruction(
    "bar.warp.sync",
    section=_PAGE + "bar-warp-sync",
    summary="Waits until all threads of the mask have come, and orders their memory accesses.",
    syntax="bar.warp.sync membermask;",
    operands={"membermask": reads(".b32")},
    since=[("", "6.0", 30)],
    example="bar.warp.sync 0xffffffff;",
)

instruction(
    "barrier.cluster",
    section=_PAGE + "barrier-cluster",
    summary="Arrives at the barrier of the cluster, or waits there for all its threads.",
    syntax="""
        barrier.cluster.arrive{.sem}{.aligned};
        barrier.cluster.wait{.acquire}{.aligned};
        .sem = { .release, .relaxed };
    """,
    since=[("", "7.8", 90), (".release|.relaxed|.acquire", "8.0", 90)],
    example="barrier.cluster.arrive.release; barrier.cluster.wait.acquire;",
)

instruction(
    "membar",
    section=_PAGE + "membar",
    summary="Performs earlier memory accesses of the thread before later ones, as seen by the CTA,"
    " the device or the system; from sm_70 on the same as fence.sc.",
    syntax="""
        membar.level;
        membar.proxy.kind;
        .level = { .cta, .gl, .sys };
        .kind  = { .alias };
    """,
    since=[("", "1.4", 10), (".sys", "2.0", 20), (".proxy", "7.5", 60)],
    example="membar.gl;",
)

instruction(
    "fence",
    section=_PAGE + "membar",
    summary="Orders earlier and later memory accesses of the thread, as seen by the threads of the"
    " scope; .acq_rel where nothing else is said.",
    syntax="""
        fence{.sem}.scope;
        fence.acquire.sync_restrict::shared::cluster.cluster;
        fence.release.sync_restrict::shared::cta.cluster;
        fence.mbarrier_init.release.cluster;
        .sem   = { .sc, .acq_rel, .acquire, .release };
        .scope = { .cta, .gpu, .sys, .cluster };
    """,
    since=[
        ("", "6.0", 70),
        (".cluster", "7.8", 90),
        (".mbarrier_init", "8.0", 90),
        (".acquire|.release !.mbarrier_init", "8.6", 90),
    ],
    example="fence.acq_rel.gpu;",
)

instruction(
    "fence.proxy",
    section=_PAGE + "membar",
    summary="Orders memory accesses that go different ways: by aliased addresses, through the"
    " asynchronous proxy, or as a tensor map.",
    syntax="""
        fence.proxy.kind;
        fence.proxy.async{.space};
        fence.proxy.tensormap::generic.release.scope;
        fence.proxy.tensormap::generic.acquire.scope [addr], size;
        fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;
        fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;
        .kind  = { .alias };
        .space = { .global, .shared::cta, .shared::cluster };
        .scope = { .cta, .cluster, .gpu, .sys };
    """,
    operands={"addr": address(), "size": immediate(values=(128,))},
    since=[
        ("", "7.5", 70),
        (".async", "8.0", 90),
        (".tensormap::generic", "8.3", 90),
        (".async::generic", "8.6", 90),
    ],
    example="fence.proxy.async.shared::cta;",
)
