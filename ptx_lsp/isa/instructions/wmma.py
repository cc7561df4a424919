"""Matrix multiplication by fragments (PTX ISA, "Matrix multiply-accumulate operation using wmma").

`wmma.load` and `wmma.store` know where the elements of a lane lie in memory; how a fragment holds
them is left open. Each operand is a vector of registers, whose number depends on type and shape.
"""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import Since, Until, instruction
from ptx_lsp.isa.schema.operand import address, reads, writes
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

_ALIGNED: Final[list[Until]] = [
    ("!.aligned", "6.3", 70, "since PTX ISA 6.3, wmma requires .aligned"),
]
_SINCE: Final[list[Since]] = [
    ("", "6.0", 70),
    (".aligned", "6.3", 70),
    (".m8n32k16|.m32n8k16", "6.1", 70),
    (".m8n8k32|.m8n8k128", "6.3", 75),
    (".m16n16k8|.m8n8k4", "7.0", 80),
]
_INTEGER: Since = (".s8|.u8", "6.3", 72)
_BFLOAT: Since = (".bf16", "7.0", 80)
_CTA: Since = (".shared::cta", "7.8", 70)

_FACTOR_SYNTAX = """
    wmma.load.NAME.sync{.aligned}.layout.shape{.ss}.type r, [p]{, stride};
    .layout = { .row, .col };
    .shape  = { .m16n16k16, .m8n32k16, .m32n8k16 };
    .ss     = { .global, .shared{::cta} };
    .type   = { .f16, .bf16, .s8, .u8 };
    -----
    wmma.load.NAME.sync{.aligned}.layout.m16n16k8{.ss}.tf32 r, [p]{, stride};
    wmma.load.NAME.sync{.aligned}.layout.m8n8k4{.ss}.f64    r, [p]{, stride};
    wmma.load.NAME.sync{.aligned}.ORDER.m8n8k32{.ss}.type   r, [p]{, stride};
    wmma.load.NAME.sync{.aligned}.ORDER.m8n8k128{.ss}.b1    r, [p]{, stride};
    .type = { .s4, .u4 };
"""

# How many registers hold a fragment of A or B; the sides M and N matter to types that pack.
_ANY_SHAPE = {".f64|.s4|.u4|.b1": 1, ".tf32": 4, ".bf16 .m16n16k16": 4, ".s8|.u8 .m16n16k16": 2}
_A_COUNT = {**_ANY_SHAPE, ".bf16 .m8n32k16": 2, ".s8|.u8 .m8n32k16": 1, ".s8|.u8": 4, "": 8}
_B_COUNT = {**_ANY_SHAPE, ".bf16 .m32n8k16": 2, ".s8|.u8 .m32n8k16": 1, ".s8|.u8": 4, "": 8}

_FACTOR = {".f64": ".f64", "": ".b32"}
_ADDRESS = {".shared|.shared::cta": ".b64|.b32", "": ".u64|.u32"}
_MEMORY = address(".ss", type=_ADDRESS)
_STRIDE = reads(".b32")

instruction(
    "wmma.load.a",
    section="warp-level-matrix-instructions-wmma-ld",
    summary="Loads the left factor A of a matrix product from memory into the fragments of a warp.",
    syntax=_FACTOR_SYNTAX.replace("NAME", "a").replace("ORDER", "row"),
    operands={"r": writes(_FACTOR, count=_A_COUNT, sink=True), "p": _MEMORY, "stride": _STRIDE},
    since=[*_SINCE, _INTEGER, _BFLOAT, _CTA],
    until=_ALIGNED,
    example="wmma.load.a.sync.aligned.row.m8n8k32.s4 {%r1}, [%rd1], 64;",
)

instruction(
    "wmma.load.b",
    section="warp-level-matrix-instructions-wmma-ld",
    summary="Loads the right factor B of a matrix product from memory into the fragments of a"
    " warp.",
    syntax=_FACTOR_SYNTAX.replace("NAME", "b").replace("ORDER", "col"),
    operands={"r": writes(_FACTOR, count=_B_COUNT, sink=True), "p": _MEMORY, "stride": _STRIDE},
    since=[*_SINCE, _INTEGER, _BFLOAT, _CTA],
    until=_ALIGNED,
    example="wmma.load.b.sync.aligned.col.m8n8k32.s4 {%r1}, [%rd1], 64;",
)

_SUM_SYNTAX = """
    wmma.NAME.sync{.aligned}.layout.shape{.ss}.type OPERANDS;
    .layout = { .row, .col };
    .shape  = { .m16n16k16, .m8n32k16, .m32n8k16 };
    .ss     = { .global, .shared{::cta} };
    .type   = { .f16, .f32, .s32 };
    -----
    wmma.NAME.sync{.aligned}.layout.shape{.ss}.s32    OPERANDS;
    wmma.NAME.sync{.aligned}.layout.m16n16k8{.ss}.f32 OPERANDS;
    wmma.NAME.sync{.aligned}.layout.m8n8k4{.ss}.f64   OPERANDS;
    .shape = { .m8n8k32, .m8n8k128 };
"""
_SUM = {".f16": ".b32", ".f64": ".f64", ".s32": ".s32", "": ".f32"}
_SUM_COUNT = {".f64|.m8n8k32|.m8n8k128": 2, ".f16": 4, "": 8}

instruction(
    "wmma.load.c",
    section="warp-level-matrix-instructions-wmma-ld",
    summary="Loads the addend C of a matrix product from memory into the fragments of a warp.",
    syntax=_SUM_SYNTAX.replace("NAME", "load.c").replace("OPERANDS", "r, [p]{, stride}"),
    operands={"r": writes(_SUM, count=_SUM_COUNT, sink=True), "p": _MEMORY, "stride": _STRIDE},
    since=[*_SINCE, (".s32", "6.3", 72), _CTA],
    until=_ALIGNED,
    example="wmma.load.c.sync.aligned.row.m8n8k32.s32 {%r1, %r2}, [%rd1];",
)

instruction(
    "wmma.store.d",
    section="warp-level-matrix-instructions-wmma-st",
    summary="Stores the result D of a matrix product from the fragments of a warp to memory.",
    syntax=_SUM_SYNTAX.replace("NAME", "store.d").replace("OPERANDS", "[p], r{, stride}"),
    operands={
        "p": address(".ss", access="write", type=_ADDRESS),
        "r": reads(_SUM, count=_SUM_COUNT),
        "stride": _STRIDE,
    },
    since=[*_SINCE, (".s32", "6.3", 72), _CTA],
    until=_ALIGNED,
    example="wmma.store.d.sync.aligned.row.m8n8k32.s32 [%rd1], {%r1, %r2};",
)

# In wmma.mma the types of D and C are spelled apart; without those of A and B both are .f16.
_HALF = "dtype=.f16|.f32"
_SAME_SIGN = "both factors are signed, or both unsigned"
_SUMS = {".f64": ".f64", ".s32": ".s32"}

instruction(
    "wmma.mma",
    section="warp-level-matrix-instructions-wmma-mma",
    summary="Multiplies two matrices that a warp holds in fragments and adds a third: D = A*B + C.",
    syntax="""
        wmma.mma.sync{.aligned}.alayout.blayout.shape.dtype.ctype{.satfinite}         d, a, b, c;
        wmma.mma.sync{.aligned}.alayout.blayout.shape.s32.atype.btype.s32{.satfinite} d, a, b, c;
        wmma.mma.sync{.aligned}.alayout.blayout.shape.f32.bf16.bf16.f32               d, a, b, c;
        wmma.mma.sync{.aligned}.alayout.blayout.m16n16k8.f32.tf32.tf32.f32            d, a, b, c;
        wmma.mma.sync{.aligned}.alayout.blayout.m8n8k4{.rnd}.f64.f64.f64.f64          d, a, b, c;
        .alayout = .blayout = { .row, .col };
        .shape = { .m16n16k16, .m8n32k16, .m32n8k16 };
        .dtype = .ctype = { .f16, .f32 };
        .atype = .btype = { .s8, .u8 };
        .rnd   = { .rn, .rz, .rm, .rp };
        -----
        wmma.mma.sync{.aligned}.row.col.m8n8k32.s32.atype.btype.s32{.satfinite}       d, a, b, c;
        wmma.mma.op.popc.sync{.aligned}.row.col.m8n8k128.s32.b1.b1.s32                d, a, b, c;
        .atype = .btype = { .s4, .u4 };
        .op = { .xor, .and };
    """,
    operands={
        "d": writes({"dtype=.f16": ".b32", **_SUMS, "": ".f32"}, sink=True,
                    count={"dtype=.f16": 4, ".f64|.m8n8k32|.m8n8k128": 2, "": 8}),
        "a": reads(_FACTOR, count={_HALF: 8, **_A_COUNT}),
        "b": reads(_FACTOR, count={_HALF: 8, **_B_COUNT}),
        "c": reads({"ctype=.f16": ".b32", **_SUMS, "": ".f32"},
                   count={"ctype=.f16": 4, ".f64|.m8n8k32|.m8n8k128": 2, "": 8}),
    },
    unless=[
        (".s8 .u8", _SAME_SIGN),
        (".s4 .u4", _SAME_SIGN),
        (".tf32 +d:sink", "the result of a product of .tf32 cannot have _"),
    ],
    since=[
        *_SINCE,
        _INTEGER,
        _BFLOAT,
        (".and", "7.1", 80),
        ("dtype=.f32 +d:sink", "6.0", 80),
        ("dtype=.f16 ctype=.f16 +d:sink", "6.0", 80),
    ],
    until=[
        *_ALIGNED,
        (f"{_HALF} .satfinite", "6.5", 70, "from PTX ISA 6.5 on, .satfinite is for integers"),
    ],
    notes=["ptxas takes .and from sm_80 on; the manual says sm_75."],
    example="wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32 {%r1, %r2}, {%r3}, {%r4},"
    " {%r5, %r6};",
)
