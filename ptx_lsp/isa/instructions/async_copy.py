"""Asynchronous copies of few bytes: cp.async and what waits for it (PTX ISA, "Non-bulk copy")."""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.operand import address, immediate, only, reads

instruction(
    "cp.async",
    section="data-movement-and-conversion-instructions-cp-async",
    summary="Starts to copy 4, 8 or 16 bytes from global to shared memory; bytes from src-size on"
    " are zeros, and with ignore-src all of them.",
    syntax="""
        cp.async.ca.shared{::cta}.global{.level::cache_hint}{.level::prefetch_size}
            [dst], [src], cp-size{, src-size}{, cache-policy};
        cp.async.cg.shared{::cta}.global{.level::cache_hint}{.level::prefetch_size}
            [dst], [src], 16{, src-size}{, cache-policy};
        cp.async.ca.shared{::cta}.global{.level::cache_hint}{.level::prefetch_size}
            [dst], [src], cp-size, ignore-src{, cache-policy};
        cp.async.cg.shared{::cta}.global{.level::cache_hint}{.level::prefetch_size}
            [dst], [src], 16, ignore-src{, cache-policy};
        .level::cache_hint = { .L2::cache_hint };
        .level::prefetch_size = { .L2::64B, .L2::128B, .L2::256B };
    """,
    operands={
        "dst": address(".shared", access="write"),
        "src": address(".global"),
        "cp-size": immediate(values=(4, 8, 16)),
        "16": immediate(values=(16,)),
        "src-size": reads(".u32")._replace(low=0, at_most="cp-size|16"),
        "ignore-src": only("register", type=".pred"),  # a constant is src-size
        "cache-policy": reads(".u64"),
    },
    unless=[
        (".L2::cache_hint !+cache-policy", ".L2::cache_hint requires the operand cache-policy"),
        ("!.L2::cache_hint +cache-policy", "the operand cache-policy requires .L2::cache_hint"),
    ],
    since=[
        ("", "7.0", 80),
        (".L2::cache_hint|.L2::64B|.L2::128B|.L2::256B", "7.4", 80),
        ("+ignore-src", "7.5", 80),
    ],
    notes=["ptxas takes .shared::cta from PTX ISA 7.0 on; the manual, from 7.8."],
    example="cp.async.cg.shared.global.L2::128B [%r1], [%rd1], 16;",
)

instruction(
    "cp.async.commit_group",
    section="data-movement-and-conversion-instructions-cp-async-commit-group",
    summary="Makes one group of the thread's cp.async copies that belong to none yet.",
    syntax="cp.async.commit_group;",
    since=[("", "7.0", 80)],
    example="cp.async.commit_group;",
)

instruction(
    "cp.async.wait_group",
    section="data-movement-and-conversion-instructions-cp-async-wait-group",
    summary="Waits until at most the N newest groups of cp.async copies are still under way.",
    syntax="cp.async.wait_group N;",
    operands={"N": immediate()},
    since=[("", "7.0", 80)],
    example="cp.async.wait_group 1;",
)

instruction(
    "cp.async.wait_all",
    section="data-movement-and-conversion-instructions-cp-async-wait-group",
    summary="Waits until all cp.async copies of the thread, in groups or not, are complete.",
    syntax="cp.async.wait_all;",
    since=[("", "7.0", 80)],
    example="cp.async.wait_all;",
)

instruction(
    "cp.async.mbarrier.arrive",
    section="parallel-synchronization-and-communication-instructions-cp-async-mbarrier-arrive",
    summary="Lets an mbarrier arrive once the thread's cp.async copies so far are complete;"
    " with .noinc that arrival must be in its expected count already.",
    syntax="""
        cp.async.mbarrier.arrive{.noinc}{.ss}.b64 [addr];
        .ss = { .shared{::cta} };
    """,
    operands={
        "addr": address(
            {".shared|.shared::cta": ".shared", "": ""},
            access="both",
            type={".shared|.shared::cta": ".b64|.b32", "": ".u64|.u32"},
        ),
    },
    since=[("", "7.0", 80), (".shared::cta", "7.8", 80)],
    example="cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];",
)
