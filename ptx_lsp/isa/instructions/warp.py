"""Votes, matches, reductions and elections in a warp, and dependent grids.

PTX ISA, section "Parallel Synchronization and Communication Instructions".
"""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.operand import predicate, reads, writes

_PAGE = "parallel-synchronization-and-communication-instructions-"
_MASK = reads(".u32")

instruction(
    "vote",
    section=_PAGE + "vote",
    summary="Votes on a predicate over the active threads of the warp: true in all, in any, the"
    " same in all, or the mask of the threads where it is true. Replaced by vote.sync.",
    syntax="""
        vote.mode.pred  p, {!}a;
        vote.ballot.b32 d, {!}a;
        .mode = { .all, .any, .uni };
    """,
    operands={"p": predicate("write"), "d": writes(".b32"), "a": predicate()},
    since=[("", "1.2", 12), (".ballot", "2.0", 20)],
    until=[
        ("", "6.0", 10, "`vote` without `.sync` is deprecated: use `vote.sync`", "deprecated"),
        ("", "6.4", 70, "vote without .sync was removed for sm_70 and higher: use vote.sync"),
    ],
    example="vote.all.pred %p1, %p2;",
)

instruction(
    "vote.sync",
    section=_PAGE + "vote-sync",
    summary="Waits for the threads of the mask and votes on a predicate: true in all, in any, the"
    " same in all, or the mask of the threads where it is true.",
    syntax="""
        vote.sync.mode.pred  p, {!}a, membermask;
        vote.sync.uni.pred   p, {!}a, membermask;
        vote.sync.ballot.b32 d, {!}a, membermask;
        .mode = { .all, .any };
    """,
    operands={
        "p": predicate("write"), "d": writes(".b32"), "a": predicate(), "membermask": _MASK,
    },
    since=[("", "6.0", 30)],
    fixed_order_modifiers=-1,  # ptxas takes .sync anywhere
    example="vote.sync.ballot.b32 %r1, %p1, 0xffffffff;",
)

instruction(
    "match",
    section=_PAGE + "match-sync",
    summary="Compares a value over the threads of the mask: .any gives the threads with the same"
    " value, .all gives the mask if all values are the same, else 0.",
    syntax="""
        match.any.sync.type d, a, membermask;
        match.all.sync.type d{|p}, a, membermask;
        .type = { .b32, .b64 };
    """,
    operands={
        "d": writes(".u32", sink=True), "p": predicate("write", sink=True), "membermask": _MASK,
    },
    unless=[(".any +d:sink", "the result cannot be _")],
    since=[("", "6.0", 70)],
    example="match.any.sync.b32 %r1, %r2, 0xffffffff;",
)

instruction(
    "activemask",
    section=_PAGE + "activemask",
    summary="The mask of the threads of the warp that execute this instruction.",
    syntax="activemask.b32 d;",
    since=[("", "6.2", 30)],
    example="activemask.b32 %r1;",
)

instruction(
    "redux.sync",
    section=_PAGE + "redux-sync",
    summary="Waits for the threads of the mask and gives each the sum, the least, the greatest or"
    " a bitwise combination of their values.",
    syntax="""
        redux.sync.op.type            d, a, membermask;
        .op   = { .add, .min, .max };
        .type = { .u32, .s32 };
        -----
        redux.sync.op.b32             d, a, membermask;
        .op   = { .and, .or, .xor };
        -----
        redux.sync.op{.abs}{.NaN}.f32 d, a, membermask;
        .op   = { .min, .max };
    """,
    operands={
        "d": writes({".b32": ".u32", "": ""}),
        "a": reads({".b32": ".u32", "": ""}),
        "membermask": _MASK,
    },
    since=[
        ("", "7.0", 80),
        (".f32", "8.6", "sm_100a", "8.8", "sm_100f"),
    ],
    fixed_order_modifiers=-1,  # ptxas takes .sync anywhere
    example="redux.sync.add.s32 %r1, %r2, 0xffffffff;",
)

instruction(
    "elect.sync",
    section=_PAGE + "elect-sync",
    summary="Elects one thread of the mask: p is true there alone, d is its lane.",
    syntax="elect.sync d|p, membermask;",
    operands={
        "d": writes(".b32", sink=True), "p": predicate("write"), "membermask": _MASK,
    },
    since=[("", "8.0", 90)],
    fixed_order_modifiers=-1,  # ptxas takes .sync anywhere
    example="elect.sync _|%p1, 0xffffffff;",
)

instruction(
    "griddepcontrol",
    section=_PAGE + "griddepcontrol",
    summary="Lets dependent grids start early (.launch_dependents), or waits until the grids that"
    " this one depends on have finished (.wait).",
    syntax="""
        griddepcontrol.action;
        .action = { .launch_dependents, .wait };
    """,
    since=[("", "7.8", 90)],
    example="griddepcontrol.wait;",
)
