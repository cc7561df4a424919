"""Barriers of a CTA, a warp and a cluster, and memory fences.

PTX ISA, section "Parallel Synchronization and Communication Instructions".
"""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.operand import address, immediate, predicate, reads, writes

_PAGE = "parallel-synchronization-and-communication-instructions-"
_RESTRICTED = ".sync_restrict::shared::cta|.sync_restrict::shared::cluster"
_TOGETHER = "All threads of the CTA must execute the same bar, as with barrier.sync.aligned."
_ONE_BY_ONE = "Without .aligned, the threads of a warp may arrive one by one, from sm_70 on."
_NUMBER = reads(".u32")._replace(low=0, high=15, wraps=32)
_THREADS = reads(".u32")._replace(multiple=32)
_WAITS = "until all threads of the CTA, or b threads, have arrived"

# `bar` is `barrier.aligned` of old; `.cta` changes nothing.
for _name, _aligned, _least, _others, _note in (
    ("bar", "", ("", "1.0", 10), ("", "2.0", 20), _TOGETHER),
    ("bar.cta", "", ("", "7.8", 20), ("", "7.8", 20), _TOGETHER),
    ("barrier", "{.aligned}", ("", "6.0", 30), ("", "6.0", 30), _ONE_BY_ONE),
    ("barrier.cta", "{.aligned}", ("", "7.8", 30), ("", "7.8", 30), _ONE_BY_ONE),
):
    instruction(
        f"{_name}.sync",
        section=_PAGE + "bar",
        summary=f"Waits at one of the 16 barriers of the CTA {_WAITS}.",
        syntax=f"{_name}.sync{_aligned} a{{, b}};",
        operands={"a": _NUMBER, "b": _THREADS},
        since=[_least],
        fixed_order_modifiers=-1,  # ptxas takes .sync anywhere, .arrive and .red belong to the name
        notes=[_note],
        example=f"{_name}.sync 0; {_name}.sync 1, 64;",
    )
    instruction(
        f"{_name}.arrive",
        section=_PAGE + "bar",
        summary="Counts the thread at one of the 16 barriers of the CTA, without waiting there.",
        syntax=f"{_name}.arrive{_aligned} a, b;",
        operands={"a": _NUMBER, "b": _THREADS._replace(low=1, wraps=64)},
        since=[_others],
        notes=[_note],
        example=f"{_name}.arrive 1, 64;",
    )
    instruction(
        f"{_name}.red",
        section=_PAGE + "bar",
        summary=f"Waits at one of the 16 barriers of the CTA {_WAITS}, and counts the threads"
        " where a predicate is true, or says if it is in all or in any.",
        syntax=f"""
            {_name}.red.popc{_aligned}.u32 d, a{{, b}}, {{!}}c;
            {_name}.red.op{_aligned}.pred  p, a{{, b}}, {{!}}c;
            .op = {{ .and, .or }};
        """,
        operands={
            "d": writes(".u32"),
            "p": predicate("write"),
            "a": _NUMBER,
            "b": _THREADS,
            "c": predicate(),
        },
        since=[_others],
        notes=[_note],
        example=f"{_name}.red.or.pred %p1, 0, %p2;",
    )

instruction(
    "bar.warp.sync",
    section=_PAGE + "bar-warp-sync",
    summary="Waits until all threads of the mask have arrived, and orders their memory accesses.",
    syntax="bar.warp.sync membermask;",
    operands={"membermask": reads(".u32")},
    since=[("", "6.0", 30)],
    fixed_order_modifiers=-1,  # ptxas's name is bar.warp
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
    fixed_order_modifiers=1,
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
        .level = { .cta, .gl, .sys };
    """,
    since=[("", "1.4", 10), (".sys", "2.0", 20)],
    example="membar.gl;",
)

instruction(
    "membar.proxy",
    section=_PAGE + "membar",
    summary="Orders memory accesses that reach the same memory by different addresses.",
    syntax="membar.proxy.alias;",
    since=[("", "7.5", 60)],
    example="membar.proxy.alias;",
)

instruction(
    "fence",
    section=_PAGE + "membar",
    summary="Orders earlier and later memory accesses of the thread, as seen by the threads of the"
    " scope; .acq_rel where nothing else is said.",
    syntax="""
        fence{.sem}.scope;
        fence.acquire.sync_restrict::shared::cluster.cluster;
        fence{.mbarrier_init}.release.sync_restrict::shared::cta.cluster;
        fence.mbarrier_init.release{.sync_restrict::shared::cluster}.cluster;
        fence.alias.sync_restrict::read.release.sys;
        .sem   = { .sc, .acq_rel, .acquire, .release };
        .scope = { .cta, .gpu, .sys, .cluster };
    """,
    notes=["ptxas takes .sync_restrict with .mbarrier_init too, which the manual does not have."],
    since=[
        ("", "6.0", 70),
        (".cluster", "7.8", 90),
        (".mbarrier_init", "8.0", 90),
        (".acquire|.release !.mbarrier_init", "8.6", 90),
        (_RESTRICTED, "8.6", 90),
        (".alias", "9.5", 90),
    ],
    example="fence.acq_rel.gpu;",
)

instruction(
    "fence.proxy",
    section=_PAGE + "membar",
    summary="Orders memory accesses that go different ways: by aliased addresses, through the"
    " asynchronous proxy, over the fabric, or as a tensor map.",
    syntax="""
        fence.proxy.alias{.order.sys}{.restrict};
        fence.proxy.async{.restrict}{.space};
        fence.proxy.tensormap::generic.release{.restrict}{.space}.scope;
        fence.proxy.tensormap::generic.acquire.scope [addr], size;
        fence.proxy.async::generic.acquire.sync_restrict::shared::cluster{.space}.cluster;
        fence.proxy.async::generic.release.sync_restrict::shared::cta{.space}.cluster;
        fence.proxy.async::generic.release.sync_restrict::shared::cluster::read{.space}.near;
        fence.proxy.fabric.alias.order{.restrict}{.space}.sys;
        fence.proxy.fabric.alias.both{.restrict}{.space}.scope;
        fence.proxy.copy.both{.restrict}{.space}.scope;
        fence.proxy.copy.both.scope [addr], any;
        .fabric   = { .fabric::fabric, .fabric::generic, .generic::fabric };
        .copy     = { .tensormap::generic, .async::generic };
        .space    = { .global, .shared::cta, .shared::cluster };
        .restrict = { .sync_restrict::shared::cta, .sync_restrict::shared::cluster{, ::read} };
        .order    = { .acquire, .release };
        .both     = { .acq_rel };
        .scope    = { .cta, .cluster, .gpu, .sys };
        .near     = { .cta, .cluster };
    """,
    operands={"addr": address(type=""), "size": immediate(values=(128,)), "any": immediate()},
    notes=[
        "The manual has .sync_restrict with .async::generic alone, and a state space with .async"
        " alone; ptxas takes them with the other kinds as well.",
        "ptxas takes .acq_rel in place of .acquire and .release, too, then with any number for size.",
    ],
    since=[
        ("", "7.5", 70),
        (".async", "8.0", 90),
        (".tensormap::generic|.async::generic", "8.3", 90),
        (".async::generic !.acq_rel", "8.6", 90),
        (_RESTRICTED, "8.6", 90),
        (".sync_restrict::shared::cluster::read", "9.4", 90),
        (".alias .acquire|.release !.fabric::fabric|.fabric::generic|.generic::fabric", "9.4", 90),
        (".fabric::fabric|.fabric::generic|.generic::fabric", "9.3", 100),
    ],
    example="fence.proxy.async.shared::cta;",
)
