"""Multiplication by a sparse matrix (PTX ISA, "Matrix multiply-accumulate operation using mma.sp
instruction with sparse matrix A").

Half of the elements of A are zero and left out; the metadata says where the others belong. With
`::ordered_metadata` its indices are in increasing order.
"""

from __future__ import annotations

from ptx_lsp.isa.instructions.mma import SCALES, UNCHECKED_WORD
from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.operand import Follows, immediate, reads, writes

# How many registers of a lane hold A, or B: half of A is left out, so both take the same.
_COUNT = {
    ".m16n8k16 .tf32": 4,
    ".m16n8k8|.m16n8k16": 2,
    ".m16n8k32 .s8|.u8|.e4m3|.e5m2": 2,
    ".m16n8k64 .s4|.u4": 2,
    "": 4,
}
_D_TYPE: Follows = {"dtype=.f16": ".b32", ".s32": ".s32", "": ".f32"}
_C_TYPE: Follows = {"ctype=.f16": ".b32", ".s32": ".s32", "": ".f32"}
# What ptxas looks at beyond the size of the metadata; it takes no integer for them anywhere.
_CHECKED = (".s4|.u4", ".sp .s8|.u8|.f16")
_METADATA = reads(
    {**dict.fromkeys(_CHECKED, ".b32"), "": ".b32|.pred"},
    count={**dict.fromkeys(_CHECKED, 0), "": (0, 1, 2, 4)},
    immediate=False,
    also=("single",),
)
# The selector says which of four neighbouring lanes hold the metadata: one, a pair, or all.
_ALL = immediate(values=(0,))

_DIFFERENT = "D and C must have the same type"
_ANY_10_OR_12 = "sm_100f sm_110f sm_120f"

instruction(
    "mma.sp",
    section="warp-level-matrix-instructions-mma-sp",
    summary="Multiplies a sparse matrix, half of whose elements are zero, by a dense one and adds a"
    " third: D = A*B + C.",
    syntax="""
        mma.sparse.sync.aligned.shape.row.col.dtype.f16.f16.ctype    d, a, b, c, metadata, lane;
        mma.sparse.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32   d, a, b, c, metadata, lane;
        mma.sparse.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32   d, a, b, c, metadata, pair;
        mma.sparse.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32    d, a, b, c, metadata, lane;
        mma.sparse.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32   d, a, b, c, metadata, pair;
        .sparse = { .sp, .sp::ordered_metadata };
        .shape  = { .m16n8k16, .m16n8k32 };
        .dtype  = .ctype = { .f16, .f32 };
        -----
        mma.sparse.sync.aligned.m16n8k64.row.col.f32.atype.btype.f32 d, a, b, c, metadata, all;
        mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.dtype.atype.btype.ctype
                                                                     d, a, b, c, metadata, all;
        .atype = .btype = { .e4m3, .e5m2 };
        .dtype = .ctype = { .f16 };
        -----
        mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.dtype.atype.btype.ctype
                                                                     d, a, b, c, metadata, all;
        .atype = .btype = { .e4m3, .e5m2, .e3m2, .e2m3, .e2m1 };
        -----
        mma.sparse.sync.aligned.m16n8k32.row.col{.satfinite}.s32.atype.btype.s32
                                                                     d, a, b, c, metadata, pair;
        mma.sparse.sync.aligned.m16n8k64.row.col{.satfinite}.s32.atype.btype.s32
                                                                     d, a, b, c, metadata, all;
        .atype = .btype = { .u8, .s8 };
        -----
        mma.sparse.sync.aligned.m16n8k64.row.col{.satfinite}.s32.atype.btype.s32
                                                                     d, a, b, c, metadata, pair;
        mma.sparse.sync.aligned.m16n8k128.row.col{.satfinite}.s32.atype.btype.s32
                                                                     d, a, b, c, metadata, all;
        .atype = .btype = { .u4, .s4 };
    """,
    operands={
        "d": writes(_D_TYPE, count={"dtype=.f16": 2, "": 4}, sink=True),
        "a": reads(".b32", count=_COUNT),
        "b": reads(".b32", count=_COUNT),
        "c": reads(_C_TYPE, count={"ctype=.f16": 2, "": 4}),
        "metadata": _METADATA,
        "lane": immediate(0, 3),
        "pair": immediate(0, 1),
        "all": _ALL,
    },
    unless=[("dtype=.f16 ctype=.f32", _DIFFERENT), ("dtype=.f32 ctype=.f16", _DIFFERENT)],
    since=[
        ("", "7.1", 80),
        (".sp::ordered_metadata", "8.5", 80),
        (".e4m3|.e5m2", "8.4", 89),
        (".e4m3|.e5m2 dtype=.f16", "8.7", "sm_120f"),
        (".kind::f8f6f4", "8.6", _ANY_10_OR_12),
        (".e3m2|.e2m3|.e2m1", "8.7", "sm_120f"),
    ],
    notes=[
        "The manual has .m16n8k32 for .e4m3 and .e5m2 as well; ptxas takes .m16n8k64 alone.",
        "ptxas takes .kind::f8f6f4 with .e4m3 and .e5m2 from PTX ISA 8.6 on for sm_100f and"
        " sm_110f; the manual has sm_120f alone.",
        "ptxas takes a selector of 0 to 3 for .m16n8k32 with .f16; the manual has 0 and 1.",
        "ptxas takes a predicate or a vector for the metadata, except in the oldest spellings.",
        "ptxas advises ::ordered_metadata: without it, mma.sp is slow on later targets.",
    ],
    fixed_order_modifiers=-1,  # .sp is an ordinary modifier, that may stand anywhere
    example="mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4},"
    " {%r1, %r2}, {%r3, %r4}, {%f1, %f2, %f3, %f4}, %r5, 0x1;",
)

_FOUR = "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col"
_EIGHT = "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col"
_SUM = "d, a, b, c, metadata, all"
_SINGLE = f"{_SUM}, scale-a, {{byte-a, lane-a}}, scale-b, {{byte-b, lane-b}}"
_DOUBLE = f"{_SUM}, scale-a, {{pair-a, lane-a}}, scale-b, {{pair-b, lane-b}}"
_FOURFOLD = f"{_SUM}, scale-a, {{four-a, lane-a}}, scale-b, {{four-b, lane-b}}"

instruction(
    "mma.sp::ordered_metadata",
    section="warp-level-matrix-instructions-mma-sp",
    summary="Multiplies a sparse matrix, half of whose elements are zero, by a dense one, each"
    " scaled block by block, and adds a third: D = (A * scale_A) * (B * scale_B) + C.",
    syntax=f"""
        {_FOUR}.kind::mxf4.block_scale{{.scale_vec::2X}}.f32.e2m1.e2m1.f32.ue8m0      {_DOUBLE};
        {_FOUR}.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0      {_DOUBLE};
        {_FOUR}.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.stype      {_FOURFOLD};
        {_EIGHT}.kind::mxf8f6f4.block_scale{{.scale_vec::1X}}.f32.atype.btype.f32.ue8m0 {_SINGLE};
        .stype = {{ .ue8m0, .ue4m3 }};
        .atype = .btype = {{ .e4m3, .e5m2, .e3m2, .e2m3, .e2m1 }};
    """,
    operands={
        "d": writes(".f32", count=4, sink=True),
        "a": reads(".b32", count=4),
        "b": reads(".b32", count=4),
        "c": reads(".f32", count=4),
        "metadata": UNCHECKED_WORD,
        "all": _ALL,
        **SCALES,
    },
    since=[
        ("", "8.7", "sm_120f"),
        (".kind::mxf4|.kind::mxf4nvf4", "8.7", "sm_120a sm_121a"),
        (".scale_vec::4X .ue8m0", "9.1", "sm_120f"),
    ],
    notes=["ptxas also takes a predicate or a vector for the metadata and the scales."],
    fixed_order_modifiers=-1,
    example="mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale"
    ".f32.e2m1.e2m1.f32.ue8m0 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4},"
    " {%f1, %f2, %f3, %f4}, %r5, 0, %r7, {0, 1}, %r8, {2, 1};",
)
