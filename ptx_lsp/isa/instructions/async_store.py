"""Asynchronous stores and reductions: st.async, st.bulk, red.async (PTX ISA)."""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.operand import GENERIC, address, immediate, reads

_SIZED = ".u64|.u32"  # ptxas refuses an 8- or 16-bit register for a generic address here
_ANY_SIZE = ".b64|.b32"
_MBARRIER = address(
    {".shared|.shared::cta|.shared::cluster": ".shared", "": GENERIC},
    access="both",
    type={".shared|.shared::cta|.shared::cluster": _ANY_SIZE, "": _SIZED},
)

instruction(
    "st.async",
    section="data-movement-and-conversion-instructions-st-async",
    summary="Starts a store to the shared memory of the cluster, whose completion an mbarrier"
    " counts, or a release store to global memory.",
    syntax="""
        st.async{.weak}{.ss}.completion_mechanism{.vec}.type [a], b{, [mbar]};
        st.async.cluster{.shared::cluster}.completion_mechanism{.vec}.type [a], b{, [mbar]};
        .ss = { .shared{::cta, ::cluster} };
        .type = { .b32, .b64, .b128, .u32, .u64, .s32, .s64, .f32, .f64 };
        .vec = { .v2, .v4 };
        .completion_mechanism = { .mbarrier::complete_tx::bytes };
        -----
        st.async{.release}.scope{.global}.type [a], b;
        st.async.mmio.release.sys{.global}.type [a], b;
        st.async{.weak}{.plain}{.completion_mechanism}.type [a], b;
        .scope = { .gpu, .sys };
        .plain = { .global, .shared{::cta} };
        .type = { .b8, .b16, .b32, .b64, .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64,
                  .f32, .f64 };
    """,
    operands={
        "a": address(
            {".global": ".global", ".shared|.shared::cta|.shared::cluster": ".shared", "": GENERIC},
            access="write",
            type=_SIZED,
        ),
        "b": reads(count={".v2|.v4": ".vec", ".mbarrier::complete_tx::bytes": (0, 1), "": 0}),
        "mbar": _MBARRIER,
    },
    unless=[
        (".v4 .b64|.u64|.s64|.f64", "a vector has at most 128 bits in this form"),
        (".v2|.v4 .b128", "a vector has at most 128 bits in this form"),
        (".global .mbarrier::complete_tx::bytes", "an mbarrier requires shared memory"),
        (".v2|.v4|.b128 !+mbar", "a store of a vector or of .b128 requires its mbarrier"),
    ],
    since=[("", "8.1", 90), (".release|.global", "8.7", 100), (".b128", "9.2", 90)],
    notes=[
        "ptxas takes .shared and .shared::cta as well as .shared::cluster.",
        "ptxas takes a store without its mbarrier, and a scope without .release.",
        "ptxas takes a store with neither order nor mbarrier, which nothing describes.",
    ],
    example="st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%u64_1], %u32_1,"
    " [%u64_2];",
)

instruction(
    "st.bulk",
    section="data-movement-and-conversion-instructions-st-bulk",
    summary="Fills a range of shared memory, `size` bytes long, with zeros.",
    syntax="""
        st.bulk{.weak}{.shared::cta} [a], size, initval;
        st.bulk{.weak}{.shared::cta} [a], size-32, initval;
    """,
    operands={
        "a": address({".shared::cta": ".shared", "": GENERIC}, access="write", type=_SIZED),
        "size": reads(".u64")._replace(low=0, high=16777216, multiple=8),
        "size-32": reads(".u32", immediate=False),
        "initval": immediate(values=(0,)),
    },
    since=[("", "8.6", 100), ("+size-32", "9.0", 100)],
    example="st.bulk.weak.shared::cta [%u64_1], 4096, 0;",
)

instruction(
    "red.async",
    section="parallel-synchronization-and-communication-instructions-red-async",
    summary="Starts a reduction of a value in the shared memory of the cluster, whose completion"
    " an mbarrier counts, or a release reduction in global memory.",
    syntax="""
        red.async.relaxed.cluster{.ss}.completion_mechanism.op.type [a], b{, [mbar]};
        .ss = { .shared::cluster };
        .completion_mechanism = { .mbarrier::complete_tx::bytes };
        .op = { .inc, .dec, .min, .max, .and, .or, .xor, .add };
        .type = { .u32, .s32, .b32, .u64, .s64 };
        -----
        red.async{.mmio}.sem.scope{.global}.op.type [a], b;
        .sem = { .release, .relaxed };
        .scope = { .gpu, .sys };
    """,
    operands={
        "a": address(
            {".global": ".global", ".shared::cluster": ".shared", "": GENERIC},
            access="both",
            type=_SIZED,
        ),
        "b": reads(),
        "mbar": _MBARRIER,
    },
    unless=[
        (".inc|.dec !.u32", ".inc and .dec take .u32"),
        (".min|.max !.u32|.s32", ".min and .max take .u32 and .s32"),
        (".and|.or|.xor !.b32", ".and, .or and .xor take .b32"),
        (".add .b32", ".add takes integers"),
        (".mmio .relaxed", ".mmio requires .release"),
        (".mmio .gpu", ".mmio requires the scope .sys"),
    ],
    since=[("", "8.1", 90), (".release|.mmio|.global", "8.7", 100)],
    notes=[
        "ptxas takes a reduction without its mbarrier.",
        "ptxas takes every operation with .release; the manual, only .add.",
        "ptxas takes .relaxed with the scopes .gpu and .sys, from 8.1 without a state space.",
        "ptxas takes .s64 for .add from 8.1.",
    ],
    example="red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32"
    " [%u64_1], %u32_1, [%u64_2];",
)
