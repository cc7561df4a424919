"""Multiplication by a sparse matrix (PTX ISA, "Matrix multiply-accumulate operation using mma.sp
instruction with sparse matrix A").

Half of the elements of A are zero and left out; the metadata says where the others belong. With
`::ordered_metadata` its indices are in increasing order.
"""

from __future__ import annotations

from ptx_lsp.isa.entry import instruction
from ptx_lsp.isa.mma import SCALES
from ptx_lsp.isa.operand import Follows, immediate, reads, writes

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
_OPERANDS = {
    "d": writes(_D_TYPE, count={"dtype=.f16": 2, "": 4}),
    "a": reads(".b32", count=_COUNT),
    "b": reads(".b32", count=_COUNT),
    "c": reads(_C_TYPE, count={"ctype=.f16": 2, "": 4}),
    "metadata": reads(".b32"),
    "selector": immediate(0, 3),
}

instruction(
    "mma.sp",
    section="warp-level-matrix-instructions-mma-sp",
    summary="Multiplies a sparse matrix, half of whose elements are zero, by a dense one and adds a"
    " third: D = A*B + C.",
    syntax="""
        mma.sparse.sync.aligned.shape.row.col.dtype.f16.f16.ctype  d, a, b, c, metadata, selector;
        mma.sparse.sync.aligned.shape.row.col.f32.bf16.bf16.f32    d, a, b, c, metadata, selector;
        .sparse = { .sp, .sp::ordered_metadata };
        .shape = { .m16n8k16, .m16n8k32 };
        .dtype = .ctype = { .f16, .f32 };
        -----
        mma.sparse.sync.aligned.shape.row.col.f32.tf32.tf32.f32    d, a, b, c, metadata, selector;
        .shape = { .m16n8k8, .m16n8k16 };
        -----
        mma.sparse.sync.aligned.shape.row.col.dtype.atype.btype.ctype
                                                                   d, a, b, c, metadata, selector;
        .shape = { .m16n8k32, .m16n8k64 };
        .atype = .btype = { .e4m3, .e5m2 };
        -----
        mma.sparse.sync.aligned.m16n8k64.row.col.kind::f8f6f4.dtype.atype.btype.ctype
                                                                   d, a, b, c, metadata, selector;
        .atype = .btype = { .e4m3, .e5m2, .e3m2, .e2m3, .e2m1 };
        -----
        mma.sparse.sync.aligned.shape.row.col{.satfinite}.s32.atype.btype.s32
                                                                   d, a, b, c, metadata, selector;
        .shape = { .m16n8k32, .m16n8k64 };
        .atype = .btype = { .u8, .s8 };
        -----
        mma.sparse.sync.aligned.shape.row.col{.satfinite}.s32.atype.btype.s32
                                                                   d, a, b, c, metadata, selector;
        .shape = { .m16n8k64, .m16n8k128 };
        .atype = .btype = { .u4, .s4 };
    """,
    operands=_OPERANDS,
    unless=[
        ("dtype=.f16 ctype=.f32", "D and C must have the same type"),
        ("dtype=.f32 ctype=.f16", "D and C must have the same type"),
    ],
    since=[
        ("", "7.1", 80),
        (".sp::ordered_metadata", "8.5", 80),
        (".e4m3|.e5m2", "8.4", 89),
        (".e4m3|.e5m2 .m16n8k32", "8.7", 120),
        (".e4m3|.e5m2 dtype=.f16", "8.7", 120),
        (".kind::f8f6f4", "8.7", "sm_120f"),
    ],
    example="mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4},"
    " {%r1, %r2}, {%r3, %r4}, {%f1, %f2, %f3, %f4}, %r5, 0x1;",
)

_FOUR = "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col"
_EIGHT = "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col"
_SUM = "d, a, b, c, metadata, selector"
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
    operands={**_OPERANDS, **SCALES},
    since=[
        ("", "8.7", "sm_120f"),
        (".kind::mxf4|.kind::mxf4nvf4", "8.7", "sm_120a sm_121a"),
        (".scale_vec::4X .ue8m0", "9.1", "sm_120f"),
    ],
    notes=["ptxas also takes a predicate or a vector for the scales."],
    example="mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale"
    ".f32.e2m1.e2m1.f32.ue8m0 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4},"
    " {%f1, %f2, %f3, %f4}, %r5, 0, %r7, {0, 1}, %r8, {2, 1};",
)
