"""Barrier objects in shared memory, and the copy of tensor maps.

PTX ISA, section "Parallel Synchronization and Communication Instructions: mbarrier". An mbarrier
counts arrivals and bytes of asynchronous copies; when none is pending, its phase is complete and
the next one begins.
"""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.operand import (
    GENERIC_OR_GLOBAL,
    Operand,
    address,
    immediate,
    only,
    predicate,
    reads,
    writes,
)

_PAGE = "parallel-synchronization-and-communication-instructions-"
_COUNT = reads(".u32")
_LOCAL = ".space = { .shared{::cta} };"
_ANYWHERE = ".space = { .shared{::cta, ::cluster} };"
_SCOPED = ".scope = { .cta, .cluster };"
_CTA = (".shared::cta", "7.8", 80)
_SCOPES = [(".cta", "8.0", 80), (".cluster", "8.0", 90)]
_RELAXED = (".relaxed", "8.6", 90)
_MULTICAST = (".multicast::cluster::32b", "9.4", "sm_107f")

instruction(
    "mbarrier.init",
    section=_PAGE + "mbarrier-init",
    summary="Makes an mbarrier that waits for `count` arrivals in each phase, 1 to 2^20 - 1.",
    syntax=f"""
        mbarrier.init{{.layout}}{{.space}}.b64 [addr], count;
        .layout = {{ .layout::v0, .layout::v1 }};
        {_LOCAL}
    """,
    operands={
        "addr": address(".space", access="write", pointer=GENERIC_OR_GLOBAL),
        "count": _COUNT._replace(low=1, high=1048575),
    },
    since=[("", "7.0", 80), (".shared::cta", "7.8", 80), (".layout::v0|.layout::v1", "9.3", 90)],
    example="mbarrier.init.shared::cta.b64 [%r1], 32;",
)

instruction(
    "mbarrier.inval",
    section=_PAGE + "mbarrier-inval",
    summary="Ends an mbarrier, so that its memory may be used for something else.",
    syntax=f"mbarrier.inval{{.space}}.b64 [addr]; {_LOCAL}",
    operands={"addr": address(".space", access="both", pointer=GENERIC_OR_GLOBAL)},
    since=[("", "7.0", 80), (".shared::cta", "7.8", 80)],
    example="mbarrier.inval.shared::cta.b64 [%r1];",
)

for _name, _does in (
    ("expect_tx", "Lets the current phase of an mbarrier wait for `bytes` more"),
    ("complete_tx", "Signals an mbarrier that `bytes` have arrived, without a copy"),
):
    instruction(
        f"mbarrier.{_name}",
        section=_PAGE + f"mbarrier-{_name.replace('_', '-')}",
        summary=f"{_does}; with .multicast, in every CTA of the mask.",
        syntax=f"""
            mbarrier.{_name}{{.sem.scope}}{{.space}}.b64 [addr], bytes;
            mbarrier.{_name}{{.sem.scope}}.shared::cluster.multicast::cluster::32b.b64
                [addr], bytes, mask;
            .sem = {{ .relaxed }};
            {_SCOPED}
            {_ANYWHERE}
        """,
        operands={
            "addr": address(".shared", access="both", pointer=GENERIC_OR_GLOBAL),
            "bytes": _COUNT,
            "mask": _COUNT,
        },
        since=[("", "8.0", 90), _MULTICAST],
        example=f"mbarrier.{_name}.relaxed.cta.shared::cta.b64 [%r1], 512;",
    )

_ARRIVAL = {
    "state": writes(".u64", sink=True),
    "none": only("sink", access="none", what="_"),
    "addr": address(".shared", access="both", pointer=GENERIC_OR_GLOBAL),
    "mask": _COUNT,
}

for _name, _does in (
    ("arrive", "Arrives at an mbarrier"),
    ("arrive_drop", "Arrives at an mbarrier for the last time (later phases expect one less)"),
):
    instruction(
        f"mbarrier.{_name}",
        section=_PAGE + f"mbarrier-{_name.replace('_', '-')}",
        summary=f"{_does}, and gives the state of the phase. In another CTA it gives none: _.",
        syntax=f"""
            mbarrier.{_name}{{.sem.scope}}{{.space}}.b64 state, [addr]{{, count}};
            mbarrier.{_name}.noComplete{{.release.cta}}{{.space}}.b64 state, [addr], count;
            mbarrier.{_name}{{.sem.scope}}.shared::cluster.b64 none, [addr]{{, count}};
            mbarrier.{_name}{{.sem.scope}}.shared::cluster.multicast::cluster::32b.b64
                none, [addr]{{, count}}, mask;
            .sem = {{ .release, .relaxed }};
            {_SCOPED}
            {_LOCAL}
        """,
        operands=_ARRIVAL | {"count": reads(".u32", count=(0, 1, 2, 4))._replace(low=1)},
        since=[
            ("", "7.0", 80),
            _CTA,
            (".shared::cluster", "8.0", 90),
            *_SCOPES,
            _RELAXED,
            ("+count !.noComplete", "7.8", 90),
            ("+state:sink", "7.1", 80),
            _MULTICAST,
        ],
        notes=["ptxas takes a vector for the count, too; nothing says what it means."],
        example=f"mbarrier.{_name}.shared::cta.b64 %rd1, [%r1];",
    )
    instruction(
        f"mbarrier.{_name}.expect_tx",
        section=_PAGE + f"mbarrier-{_name.replace('_', '-')}",
        summary=f"Lets the phase of an mbarrier wait for `bytes` more. {_does}, and gives the state"
        " of the phase. In another CTA it gives none: _.",
        syntax=f"""
            mbarrier.{_name}.expect_tx{{.sem.scope}}{{.space}}.b64 state, [addr], bytes;
            mbarrier.{_name}.expect_tx{{.sem.scope}}.shared::cluster.b64 none, [addr], bytes;
            mbarrier.{_name}.expect_tx{{.sem.scope}}.shared::cluster.multicast::cluster::32b.b64
                none, [addr], bytes, mask;
            .sem = {{ .release, .relaxed }};
            {_SCOPED}
            {_LOCAL}
        """,
        operands=_ARRIVAL | {"bytes": _COUNT},
        since=[("", "8.0", 90), _RELAXED, _MULTICAST],
        example=f"mbarrier.{_name}.expect_tx.shared::cta.b64 %rd1, [%r1], 512;",
    )

_WAIT = {
    "p": predicate("write"),
    "failed": predicate("write", sink=True),
    "report": only("register", "integer", access="write", type=".b8"),
    "addr": address(".space", pointer=GENERIC_OR_GLOBAL),
}
_REPORT = (
    "With .phase_type::primary, `failed` and `report` describe errors in asynchronous operations of the "
    "phase."
)

_NO_REPORT = "ptxas takes `report` without `failed`, and an integer in its place, too."

for _name, _does, _hint, _more, _since in (
    ("test_wait", "Tests if a phase of an mbarrier is complete", "", dict[str, Operand](), ("", "7.0", 80)),
    (
        "try_wait",
        "Waits, for a limited time, until a phase of an mbarrier is complete",
        "{, nanoseconds}",
        {"nanoseconds": _COUNT},
        ("", "7.8", 90),
    ),
):
    instruction(
        f"mbarrier.{_name}",
        section=_PAGE + "mbarrier-test-wait-try-wait",
        summary=f"{_does}: the phase that an arrival gave as its state.",
        syntax=f"""
            mbarrier.{_name}{{.phase}}{{.sem.scope}}{{.space}}.b64 p, [addr], state{_hint};
            mbarrier.{_name}.phase{{.sem.scope}}{{.space}}.b64 p|failed, [addr], state{_hint};
            mbarrier.{_name}.phase{{.sem.scope}}{{.space}}.b64
                p{{|failed}}, report, [addr], state{_hint};
            .phase = {{ .phase_type::primary }};
            .sem   = {{ .acquire, .relaxed }};
            {_SCOPED}
            {_LOCAL}
        """,
        operands=_WAIT | _more | {"state": reads(".u64")},
        since=[_since, _CTA, *_SCOPES, _RELAXED, (".phase_type::primary", "9.3", 90)],
        notes=[_REPORT, _NO_REPORT],
        example=f"mbarrier.{_name}.shared::cta.b64 %p1, [%r1], %rd1;",
    )
    instruction(
        f"mbarrier.{_name}.parity",
        section=_PAGE + "mbarrier-test-wait-try-wait",
        summary=f"{_does}: the current or last phase with an even (0) or odd (1) number.",
        syntax=f"""
            mbarrier.{_name}.parity{{.phase}}{{.sem.scope}}{{.space}}.b64 p, [addr], odd{_hint};
            mbarrier.{_name}.parity.primary{{.sem.scope}}{{.space}}.b64
                p|failed, [addr], odd{_hint};
            mbarrier.{_name}.parity.primary{{.sem.scope}}{{.space}}.b64
                p{{|failed}}, report, [addr], number{_hint};
            .primary = {{ .phase_type::primary }};
            .phase   = {{ .phase_type::primary, .phase_type::conditional }};
            .sem     = {{ .acquire, .relaxed }};
            {_SCOPED}
            {_LOCAL}
        """,
        operands=_WAIT | _more | {"odd": _COUNT._replace(low=0, high=1), "number": _COUNT},
        since=[
            _since,
            ("", "7.1", 80),
            _CTA,
            *_SCOPES,
            _RELAXED,
            (".phase_type::primary|.phase_type::conditional", "9.3", 90),
        ],
        notes=[_REPORT, _NO_REPORT, "After `report`, ptxas takes any number for the parity."],
        example=f"mbarrier.{_name}.parity.shared::cta.b64 %p1, [%r1], 0;",
    )

instruction(
    "mbarrier.pending_count",
    section=_PAGE + "mbarrier-pending-count",
    summary="The number of pending arrivals in the state that a .noComplete arrival gave.",
    syntax="""
        mbarrier.pending_count{.layout}.b64 count, state;
        .layout = { .layout::v0 };
    """,
    operands={"count": writes(".u32"), "state": reads(".u64")},
    since=[("", "7.0", 80), (".layout::v0", "9.3", 90)],
    example="mbarrier.pending_count.b64 %r1, %rd1;",
)

instruction(
    "mbarrier.check_layout",
    section=_PAGE + "mbarrier-check-layout",
    summary="Tests if an mbarrier was made with this layout.",
    syntax="""
        mbarrier.check_layout.layout{.space}.b64 p, [addr];
        .layout = { .layout::v0, .layout::v1 };
        .space  = { .shared::cta };
    """,
    operands={"p": predicate("write"), "addr": address(".space", pointer=GENERIC_OR_GLOBAL)},
    since=[("", "9.3", 90)],
    example="mbarrier.check_layout.layout::v1.shared::cta.b64 %p1, [%r1];",
)

instruction(
    "tensormap.cp_fenceproxy",
    section=_PAGE + "tensormap-cp-fenceproxy",
    summary="Copies a tensor map of 128 bytes from shared to global memory and releases it to"
    " accesses as a tensor map.",
    syntax="""
        tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned
            [dst], [src], size;
        .scope = { .cta, .cluster, .gpu, .sys };
    """,
    operands={
        "dst": address(".global", access="write"),
        "src": address(".shared"),
        "size": immediate(values=(128,)),
    },
    since=[("", "8.3", 90)],
    example="tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu"
    ".sync.aligned [%rd1], [%r1], 128;",
)
