"""Asynchronous copies of many bytes (PTX ISA, "Bulk copy"), and the groups that wait for them."""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import Since, Unless, instruction
from ptx_lsp.isa.schema.operand import address, immediate, only, reads
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

# Shared with the tensor copies and the multimem copies.

POLICY: Final = reads(".u64")
POLICY_RULES: Final[tuple[Unless, ...]] = (
    (".L2::cache_hint !+cache-policy", ".L2::cache_hint requires the operand cache-policy"),
    ("!.L2::cache_hint +cache-policy", "the operand cache-policy requires .L2::cache_hint"),
)
BYTE_MASK: Final = reads(".u16")
BYTE_MASK_RULES: Final[tuple[Unless, ...]] = (
    (".cp_mask !+byteMask", ".cp_mask requires the operand byteMask"),
    ("!.cp_mask +byteMask", "the operand byteMask requires .cp_mask"),
)
_MULTICAST = ".multicast::cluster|.multicast::cluster::16b|.multicast::cluster::32b"
CTA_MASK: Final = reads({".multicast::cluster::32b": ".u32", "": ".u16"})
CTA_MASK_RULES: Final[tuple[Unless, ...]] = (
    (f"{_MULTICAST} !+ctaMask", ".multicast::cluster requires the operand ctaMask"),
    (f"!{_MULTICAST} +ctaMask", "the operand ctaMask requires .multicast::cluster"),
)
REPORT: Final = """
        .report = { .mbarrier::report::disabled,
                    .mbarrier::report::validity::per_16bytes::80000000,
                    .mbarrier::report::validity::per_16bytes::8000,
                    .mbarrier::report::validity::per_16bytes::80,
                    .mbarrier::report::validity::per_16bytes::8,
                    .mbarrier::report::validity::per_element::ff };
"""
VALIDITY: Final = (
    ".mbarrier::report::validity::per_16bytes::80000000"
    "|.mbarrier::report::validity::per_16bytes::8000"
    "|.mbarrier::report::validity::per_16bytes::80"
    "|.mbarrier::report::validity::per_16bytes::8"
    "|.mbarrier::report::validity::per_element::ff"
)
SINCE_MBARRIER: Final[tuple[Since, ...]] = (
    (".multicast::cluster::16b", "9.4", 90),
    (".multicast::cluster::32b", "9.4", "sm_107f"),
    (f".mbarrier::report::disabled|{VALIDITY}", "9.4", "sm_107f"),
)
SIZE: Final = reads(".u32")._replace(low=0, high=1048560, multiple=16)
# ptxas refuses a 16-bit register for the mbarrier, but for some copies; it takes an 8-bit one.
MBARRIER: Final = address(
    ".shared",
    access="both",
    type={f".ignore_oob|{_MULTICAST}": ".b64|.b32", "": ".u64|.u32|.u8"},
)

# Where targets of the sm_120 family go another way, they take no 8- or 16-bit register.
_SIZED = {
    f"dst=.shared::cluster src=.global !.relaxed|.mbarrier::report::disabled|{VALIDITY}": ".u64|.u32",
    "": ".b64|.b32",
}
# ptxas takes a value in place of the mbarrier, as if the copy needed none.
_VALUE = only("register", "integer", type=".u64|.u16")
_VALUE_NOTE = "ptxas takes a value of 64 or 16 bits in place of the mbarrier, too."
_IGNORED = reads(".u32")._replace(low=0, high=15)
_IGNORED_BYTES = "ignoreBytesLeft, ignoreBytesRight"
_HINT_B128 = "{.level::cache_hint}.b128"

instruction(
    "cp.async.bulk",
    section="data-movement-and-conversion-instructions-cp-async-bulk",
    summary="Starts to copy `size` bytes, a multiple of 16, between global and shared memory or to the "
            "shared memory of another CTA; an mbarrier or a bulk group signals completion.",
    syntax=f"""
        cp.async.bulk{{.weak}}.dst.src.completion_mechanism{{.report}}{{.level::cache_hint}}
            [dstMem], [srcMem], size, [mbar]{{, cache-policy}};
        cp.async.bulk{{.weak}}.dst.src.completion_mechanism{{.report}}{{.level::cache_hint}}.ignore_oob
            [dstMem], [srcMem], size, {_IGNORED_BYTES}, [mbar]{{, cache-policy}};
        cp.async.bulk{{.relaxed.scope}}.dst.src.completion_mechanism{{.report}}{_HINT_B128}
            [dstMem], [srcMem], size, [mbar]{{, cache-policy}};
        cp.async.bulk{{.relaxed.scope}}.dst.src.completion_mechanism{{.report}}{_HINT_B128}.ignore_oob
            [dstMem], [srcMem], size, {_IGNORED_BYTES}, [mbar]{{, cache-policy}};
        cp.async.bulk{{.weak}}.dst.src.completion_mechanism{{.report}} [dstMem], [srcMem], size, value;
        cp.async.bulk{{.relaxed.scope}}.dst.src.completion_mechanism{{.report}}.b128
            [dstMem], [srcMem], size, value;
        .dst = {{ .shared::cta }};
        .src = {{ .global }};
        .scope = {{ .cta, .cluster, .gpu, .sys }};
        .completion_mechanism = {{ .mbarrier::complete_tx::bytes }};
        .level::cache_hint = {{ .L2::cache_hint }};
        {REPORT}
        -----
        cp.async.bulk{{.weak}}.dst.src.completion_mechanism{{.report}}{{.multicast}}{{.level::cache_hint}}
            [dstMem], [srcMem], size, [mbar]{{, ctaMask}}{{, cache-policy}};
        cp.async.bulk{{.relaxed.scope}}.dst.src.completion_mechanism{{.report}}{{.multicast}}{_HINT_B128}
            [dstMem], [srcMem], size, [mbar]{{, ctaMask}}{{, cache-policy}};
        cp.async.bulk{{.weak}}.dst.src.completion_mechanism{{.report}} [dstMem], [srcMem], size, value;
        cp.async.bulk{{.relaxed.scope}}.dst.src.completion_mechanism{{.report}}.b128
            [dstMem], [srcMem], size, value;
        .dst = {{ .shared::cluster }};
        .src = {{ .global }};
        .multicast = {{ .multicast::cluster{{::16b, ::32b}} }};
        -----
        cp.async.bulk{{.weak}}.dst.src.completion_mechanism [dstMem], [srcMem], size, [mbar];
        cp.async.bulk{{.relaxed.scope}}.dst.src.completion_mechanism.b128
            [dstMem], [srcMem], size, [mbar];
        cp.async.bulk{{.weak}}.dst.src.completion_mechanism [dstMem], [srcMem], size, value;
        cp.async.bulk{{.relaxed.scope}}.dst.src.completion_mechanism.b128
            [dstMem], [srcMem], size, value;
        .dst = {{ .shared::cluster }};
        .src = {{ .shared::cta }};
        .scope = {{ .cta, .cluster }};
        -----
        cp.async.bulk{{.weak}}.dst.src.completion_mechanism{{.level::cache_hint}}{{.cp_mask}}
            [dstMem], [srcMem], size{{, cache-policy}}{{, byteMask}};
        cp.async.bulk{{.relaxed.scope}}.dst.src.completion_mechanism{_HINT_B128}{{.cp_mask}}
            [dstMem], [srcMem], size{{, cache-policy}}{{, byteMask}};
        .dst = {{ .global }};
        .src = {{ .shared::cta }};
        .completion_mechanism = {{ .bulk_group }};
    """,
    operands={
        "dstMem": address(
            {"dst=.global": ".global", "": ".shared"}, access="write", type=_SIZED
        ),
        "srcMem": address({"src=.global": ".global", "": ".shared"}, type=_SIZED),
        "size": SIZE,
        "ignoreBytesLeft": _IGNORED,
        "ignoreBytesRight": _IGNORED,
        "mbar": MBARRIER,
        "value": _VALUE,
        "ctaMask": CTA_MASK,
        "cache-policy": POLICY,
        "byteMask": BYTE_MASK,
    },
    unless=[
        *POLICY_RULES,
        *BYTE_MASK_RULES,
        *CTA_MASK_RULES,
        (f".ignore_oob {VALIDITY}", ".ignore_oob cannot be combined with a validity report"),
    ],
    since=[
        ("", "8.0", 90),
        ("dst=.shared::cta", "8.6", 90),
        (".cp_mask", "8.6", 100),
        (".ignore_oob", "9.2", 90),
        (".weak|.relaxed", "9.3", 90),
        (".relaxed dst=.shared::cluster src=.global", "9.3", "sm_90a sm_100f sm_110f"),
        *SINCE_MBARRIER,
    ],
    notes=[_VALUE_NOTE],
    example="cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes"
    " [%u64_1], [%u64_2], 128, [%u64_3];",
)

_REDUCTIONS = (
    (".inc|.dec !.u32", ".inc and .dec take .u32"),
    (".and|.or|.xor !.b32|.b64", ".and, .or and .xor take .b32 and .b64"),
    (".add|.min|.max .b32|.b64", ".add, .min and .max require a numeric type, not .b32 or .b64"),
    (".add .s64", ".add takes .u64, which is the same as .s64"),
    (".min|.max .f32|.f64", ".min and .max take integers, .f16 and .bf16"),
)
REDUCTION_RULES: Final[tuple[Unless, ...]] = (
    *_REDUCTIONS,
    (".add !.noftz .f16|.bf16", ".add.f16 and .add.bf16 require .noftz"),
)

instruction(
    "cp.reduce.async.bulk",
    section="data-movement-and-conversion-instructions-cp-reduce-async-bulk",
    summary="Starts to combine an array of `size` bytes in shared memory, element by element, with"
    " one in global memory or in the shared memory of another CTA.",
    syntax="""
        cp.reduce.async.bulk{.relaxed.scope}.dst.src.completion_mechanism.redOp.type
            [dstMem], [srcMem], size, [mbar];
        cp.reduce.async.bulk{.relaxed.scope}.dst.src.completion_mechanism.redOp.type
            [dstMem], [srcMem], size, value;
        .dst = { .shared::cluster };
        .src = { .shared::cta };
        .scope = { .cta, .cluster };
        .completion_mechanism = { .mbarrier::complete_tx::bytes };
        .redOp = { .and, .or, .xor, .add, .inc, .dec, .min, .max };
        .type = { .b32, .u32, .s32, .u64 };
        -----
        cp.reduce.async.bulk{.relaxed.scope}.dst.src.completion_mechanism{.level::cache_hint}.redOp.type
            [dstMem], [srcMem], size{, cache-policy};
        cp.reduce.async.bulk{.relaxed.scope}.dst.src.completion_mechanism{.level::cache_hint}.add.noftz.ftype
            [dstMem], [srcMem], size{, cache-policy};
        .dst = { .global };
        .src = { .shared::cta };
        .scope = { .cta, .cluster, .gpu, .sys };
        .completion_mechanism = { .bulk_group };
        .level::cache_hint = { .L2::cache_hint };
        .type = { .f16, .bf16, .b32, .u32, .s32, .b64, .u64, .s64, .f32, .f64 };
        .ftype = { .f16, .bf16, .f32 };
    """,
    operands={
        "dstMem": address({"dst=.global": ".global", "": ".shared"}, access="both"),
        "srcMem": address(".shared"),
        "size": SIZE,
        "mbar": address(".shared", access="both"),
        "value": only("register", "integer", type=".u64"),
        "cache-policy": POLICY,
    },
    unless=[
        *POLICY_RULES,
        *REDUCTION_RULES,
        ("dst=.shared::cluster .min|.max .u64", ".min and .max require .u32 or .s32 in this form"),
    ],
    since=[("", "8.0", 90), (".relaxed", "9.3", 90), (".noftz .f32", "9.4", 90)],
    notes=[_VALUE_NOTE],
    example="cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32"
    " [%u64_1], [%u64_2], %u32_1;",
)

instruction(
    "cp.async.bulk.prefetch",
    section="data-movement-and-conversion-instructions-cp-async-bulk-prefetch",
    summary="Asks for `size` bytes of global memory, a multiple of 16, to be brought into L2.",
    syntax="""
        cp.async.bulk.prefetch.L2.src{.level::cache_hint} [srcMem], size{, cache-policy};
        cp.async.bulk.prefetch.L2.src.level::eviction_priority [srcMem], size;
        .src = { .global };
        .level::cache_hint = { .L2::cache_hint };
        .level::eviction_priority = { .L2::evict_last };
    """,
    operands={"srcMem": address(".global"), "size": SIZE, "cache-policy": POLICY},
    unless=POLICY_RULES,
    since=[("", "8.0", 90), (".L2::evict_last", "9.4", "sm_107f")],
    example="cp.async.bulk.prefetch.L2.global [%u64_1], 256;",
)

instruction(
    "cp.async.bulk.commit_group",
    section="data-movement-and-conversion-instructions-cp-async-bulk-commit-group",
    summary="Makes one group of the thread's bulk copies that complete by a bulk group and belong"
    " to none yet.",
    syntax="cp.async.bulk.commit_group;",
    since=[("", "8.0", 90)],
    example="cp.async.bulk.commit_group;",
)

instruction(
    "cp.async.bulk.wait_group",
    section="data-movement-and-conversion-instructions-cp-async-bulk-wait-group",
    summary="Waits until at most the N newest groups of bulk copies are still under way; with"
    " .read, until all others have at least read their sources.",
    syntax="""
        cp.async.bulk.wait_group{.read}{.restrict} N;
        cp.async.bulk.wait_group.sync_restrict::proxy::async N;
        .restrict = { .sync_restrict::shared::cta, .sync_restrict::shared::cluster };
    """,
    operands={"N": immediate()},
    since=[
        ("", "8.0", 90),
        (".sync_restrict::shared::cta|.sync_restrict::shared::cluster", "8.6", 90),
        (".sync_restrict::proxy::async", "9.5", 90),
    ],
    notes=["ptxas takes .sync_restrict::shared::cta and .sync_restrict::shared::cluster, too."],
    example="cp.async.bulk.wait_group.read 0;",
)
