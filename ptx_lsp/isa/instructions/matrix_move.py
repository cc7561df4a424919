"""Moves of 8x8 and 16x16 matrices (PTX ISA, "Matrix multiply-accumulate operation using mma").

The fragments are those of `mma`: each lane of a warp holds a few elements of every matrix.
"""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.operand import address, reads, writes

_BYTES = "8.6", "sm_100f sm_110f sm_120f"

# A generic address comes from a wide register; for .shared ptxas takes any width.
_ADDRESS = {".shared|.shared::cta": ".b64|.b32", "": ".u64|.u32"}

instruction(
    "ldmatrix",
    section="warp-level-matrix-instructions-ldmatrix",
    summary="Loads one, two or four matrices from shared memory into the fragments of a warp;"
    " each lane gives the address of a row.",
    syntax="""
        ldmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16             r, [p];
        ldmatrix.sync.aligned.m16n16.num.trans{.ss}.b8              r, [p];
        ldmatrix.sync.aligned.m8n16.num{.ss}.dst_fmt.src_fmt        r, [p];
        ldmatrix.sync.aligned.m16n16.num.trans{.ss}.dst_fmt.src_fmt r, [p];
        ldmatrix.sync.aligned.m8n16.num{.ss}.s8.s4                  r, [p];
        .num     = { .x1, .x2, .x4 };
        .ss      = { .shared{::cta} };
        .dst_fmt = { .b8x16 };
        .src_fmt = { .b6x16_p32, .b4x16_p64 };
    """,
    operands={
        "r": writes(".b32", count={".m16n16 .x1": 2, ".m16n16 .x2": 4, "": ".num"}, sink=True),
        "p": address(".shared", type=_ADDRESS),
    },
    unless=[(".m16n16 .x4", "a load of 16x16 matrices takes one (.x1) or two (.x2)")],
    since=[
        ("", "6.5", 75),
        (".shared::cta", "7.8", 75),
        (".m16n16|.m8n16 !.s8", *_BYTES),
        (".s8", "9.4", "sm_90a sm_100f sm_110f sm_120f"),
    ],
    example="ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%rd1];",
)

instruction(
    "stmatrix",
    section="warp-level-matrix-instructions-stmatrix",
    summary="Stores one, two or four matrices from the fragments of a warp to shared memory;"
    " each lane gives the address of a row.",
    syntax="""
        stmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16 [p], r;
        stmatrix.sync.aligned.m16n8.num.trans{.ss}.b8   [p], r;
        .num = { .x1, .x2, .x4 };
        .ss  = { .shared{::cta} };
    """,
    operands={
        "p": address(".shared", access="write", type=_ADDRESS),
        "r": reads(".b32", count=".num"),
    },
    since=[("", "7.8", 90), (".m16n8", *_BYTES)],
    example="stmatrix.sync.aligned.m8n8.x2.shared.b16 [%rd1], {%r1, %r2};",
)

instruction(
    "movmatrix",
    section="warp-level-matrix-instructions-movmatrix",
    summary="Transposes an 8x8 matrix of 16-bit elements that the lanes of a warp hold.",
    syntax="movmatrix.sync.aligned.m8n8.trans.b16 d, a;",
    operands={
        "d": writes(".b32|.pred"),
        "a": reads(".b32|.pred", immediate=False, also=("single",)),
    },
    since=[("", "7.8", 75)],
    notes=["ptxas does not check the operand for the 32 bits, but rejects integers."],
    example="movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;",
)
