"""Traps, pauses, register budgets and cluster launch control.

PTX ISA, section "Miscellaneous Instructions"; the clusterlaunchcontrol instructions belong to its
section "Parallel Synchronization and Communication Instructions".
"""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.operand import address, immediate, predicate, reads, writes

instruction(
    "brkpt",
    section="miscellaneous-instructions-brkpt",
    summary="Stops at a breakpoint.",
    syntax="brkpt;",
    since=[("", "1.0", 11)],
    example="brkpt;",
)

instruction(
    "nanosleep",
    section="miscellaneous-instructions-nanosleep",
    summary="Pauses the thread for about t nanoseconds: at most twice as long, at most 1 ms.",
    syntax="nanosleep.u32 t;",
    operands={"t": reads()},
    since=[("", "6.2", 70)],
    notes=["The manual says PTX ISA 6.3; ptxas takes it from 6.2."],
    example="nanosleep.u32 100;",
)

instruction(
    "pmevent",
    section="miscellaneous-instructions-pmevent",
    summary="Triggers the performance monitor event with number a, or those in a 16-bit mask.",
    syntax="""
        pmevent a;
        pmevent.mask mask;
    """,
    fixed_order_modifiers=1,
    operands={"a": immediate(0, 15), "mask": immediate(0, 0xFFFF)},
    since=[("", "1.4", 10), (".mask", "3.0", 20)],
    example="pmevent 7;",
)

instruction(
    "trap",
    section="miscellaneous-instructions-trap",
    summary="Aborts the grid and interrupts the host.",
    syntax="trap;",
    since=[("", "1.0", 10)],
    example="trap;",
)

instruction(
    "setmaxnreg",
    section="miscellaneous-instructions-setmaxnreg",
    summary="Raises (.inc) or lowers (.dec) the number of registers that each thread of the warp"
    " may use; .inc waits until the pool of the CTA has enough.",
    syntax="""
        setmaxnreg.action.sync.aligned.type count;
        .action = { .inc, .dec };
        .type   = { .u32, .s32 };
    """,
    operands={"count": immediate(values=tuple(range(24, 257, 8)))},
    since=[("", "8.0", "sm_90a sm_100a sm_110a sm_120a", "8.8", "sm_90a sm_100f sm_110f sm_120f")],
    fixed_order_modifiers=1,
    notes=[
        "The count is a multiple of 8; all warps of a warpgroup execute the instruction.",
        "ptxas takes .s32 too, which the manual does not have.",
    ],
    example="setmaxnreg.dec.sync.aligned.u32 64;",
)

instruction(
    "clusterlaunchcontrol.try_cancel",
    section="parallel-synchronization-and-communication-instructions-clusterlaunchcontrol-try-cancel",
    summary="Asks to cancel a cluster that has not started; writes a 16-byte answer to shared"
    " memory and completes 16 bytes on an mbarrier.",
    syntax="""
        clusterlaunchcontrol.try_cancel.async{.space}.completion{.multicast}.b128 [addr], [mbar];
        .completion = { .mbarrier::complete_tx::bytes };
        .space      = { .shared::cta };
        .multicast  = { .multicast::cluster::all };
    """,
    fixed_order_modifiers=1,
    operands={"addr": address(".space", access="write"), "mbar": address(".space", access="both")},
    since=[
        ("", "8.6", 100),
        (".multicast::cluster::all", "8.6", "sm_100a sm_110a sm_120a",
         "8.8", "sm_100f sm_110f sm_120f"),
    ],
    example="clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128 [%rd1], [%rd2];",
)

instruction(
    "clusterlaunchcontrol.query_cancel",
    section="parallel-synchronization-and-communication-instructions-clusterlaunchcontrol-query-cancel",
    summary="Reads the answer of clusterlaunchcontrol.try_cancel: whether a cluster was canceled,"
    " or the index of its first CTA.",
    syntax="""
        clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, answer;
        clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {x, y, z, ignored}, answer;
        clusterlaunchcontrol.query_cancel.dimension.b32.b128 d, answer;
        .dimension = { .get_first_ctaid::x, .get_first_ctaid::y, .get_first_ctaid::z };
    """,
    operands={
        "p": predicate("write"),
        "x": writes(".b32", sink=True),
        "y": writes(".b32", sink=True),
        "z": writes(".b32", sink=True),
        "ignored": writes(".b32", sink=True),
        "d": writes(".b32"),
        "answer": reads(".b128"),
    },
    since=[("", "8.6", 100)],
    example=".reg .b128 %answer;"
    " clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %answer;",
)
