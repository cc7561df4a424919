"""Matrix multiplication (PTX ISA, "Matrix multiply-accumulate operation using mma").

Each lane of a warp holds a documented part of each matrix, several elements to a register.
`mma.sp`, with a sparse matrix A, is in `mma_sparse`.
"""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.operand import Follows, Operand, reads, writes
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

# How many registers of a lane hold A. B, with 8 columns to the 16 rows of A, takes half as many,
# except in the square shapes m8n8.
_A_COUNT: Final = {
    ".m8n8k4 .f16": 2,
    ".m8n8k4|.m8n8k16|.m8n8k32|.m8n8k128": 1,
    ".f64 .m16n8k4": 2,
    ".f64 .m16n8k16": 8,
    ".m16n8k4|.m16n8k128": 2,
    ".m16n8k8 .f16|.bf16": 2,
    ".m16n8k16 .e4m3|.e5m2|.s8|.u8": 2,
    ".m16n8k32 .s4|.u4": 2,
    "": 4,
}
_B_COUNT: Final = {
    shape: count if ".m8n8" in shape else count // 2 for shape, count in _A_COUNT.items()
}

_FACTOR: Final[Follows] = {".f64": ".f64", "": ".b32"}
_SUM: Final = {".f64": ".f64", ".s32": ".s32", "": ".f32"}
_D_TYPE: Final[Follows] = {"dtype=.f16": ".b32", **_SUM}
_C_TYPE: Final[Follows] = {"ctype=.f16": ".b32", **_SUM}
_SQUARE = {".m8n8k4 .f64": 2, ".m8n8k4": 8, ".m8n8k16|.m8n8k32|.m8n8k128": 2}
_D_COUNT = {".m8n8k4 dtype=.f16": 4, "dtype=.f16": 2, **_SQUARE, "": 4}
_C_COUNT = {".m8n8k4 ctype=.f16": 4, "ctype=.f16": 2, **_SQUARE, "": 4}

instruction(
    "mma",
    section="warp-level-matrix-instructions-mma",
    summary="Multiplies two matrices that are spread over a warp and adds a third: D = A*B + C.",
    syntax="""
        mma.sync.aligned.m8n8k4.alayout.blayout.dtype.f16.f16.ctype       d, a, b, c;
        mma.sync.aligned.m16n8k8.row.col.dtype.f16.f16.ctype              d, a, b, c;
        mma.sync.aligned.m16n8k16.row.col.dtype.f16.f16.ctype             d, a, b, c;
        mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32                d, a, b, c;
        mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32                d, a, b, c;
        mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32                d, a, b, c;
        mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32               d, a, b, c;
        mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype            d, a, b, c;
        .alayout = .blayout = { .row, .col };
        .dtype = .ctype = { .f16, .f32 };
        .atype = .btype = { .e4m3, .e5m2 };
        .shape = { .m16n8k16, .m16n8k32 };
        -----
        mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.dtype.atype.btype.ctype d, a, b, c;
        mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.dtype.ftype.gtype.ctype d, a, b, c;
        .atype = .btype = { .e4m3, .e5m2, .e3m2, .e2m3, .e2m1 };
        .ftype = .gtype = { .e4m3, .e5m2 };
        -----
        mma.sync.aligned.shape.row.col{.rnd}.f64.f64.f64.f64              d, a, b, c;
        .shape = { .m8n8k4, .m16n8k4, .m16n8k8, .m16n8k16 };
        .rnd   = { .rn, .rz, .rm, .rp };
        -----
        mma.sync.aligned.shape.row.col{.satfinite}.s32.atype.btype.s32    d, a, b, c;
        .shape = { .m8n8k16, .m16n8k16, .m16n8k32 };
        .atype = .btype = { .u8, .s8 };
        -----
        mma.sync.aligned.shape.row.col{.satfinite}.s32.atype.btype.s32    d, a, b, c;
        .shape = { .m8n8k32, .m16n8k32, .m16n8k64 };
        .atype = .btype = { .u4, .s4 };
        -----
        mma.sync.aligned.shape.row.col.s32.b1.b1.s32.op.popc              d, a, b, c;
        .shape = { .m8n8k128, .m16n8k128, .m16n8k256 };
        .op    = { .xor, .and };
    """,
    operands={
        "d": writes(_D_TYPE, count=_D_COUNT, sink=True),
        "a": reads(_FACTOR, count=_A_COUNT),
        "b": reads(_FACTOR, count=_B_COUNT),
        "c": reads(_C_TYPE, count=_C_COUNT),
    },
    unless=[
        (".m8n8k4 dtype=.f16 ctype=.f32", "when C is .f32, D must be .f32, too"),
        ("!.m8n8k4 dtype=.f16 ctype=.f32", "D and C must have the same type"),
        ("!.m8n8k4 dtype=.f32 ctype=.f16", "D and C must have the same type"),
    ],
    since=[
        ("", "6.4", 70),
        (".m16n8k8|.m8n8k16|.m8n8k32", "6.5", 75),
        (".m8n8k128", "7.0", 75),
        (".m16n8k4|.m16n8k16|.m16n8k32|.m16n8k64|.m16n8k128|.m16n8k256", "7.0", 80),
        (".tf32|.bf16|.f64", "7.0", 80),
        (".f64 !.m8n8k4", "7.8", 90),
        (".and", "7.1", 80),
        (".e4m3|.e5m2", "8.4", 89),
        (".e4m3|.e5m2 .m16n8k16", "8.7", 89),
        (".e4m3|.e5m2 dtype=.f16", "8.7", 89),
        (".kind::f8f6f4", "8.6", "sm_100f sm_110f sm_120f"),
        (".e3m2|.e2m3|.e2m1", "8.7", "sm_120f"),
    ],
    notes=[
        "ptxas takes .kind::f8f6f4 for .m16n8k16, too, and with .e4m3 and .e5m2 from PTX ISA"
        " 8.6 on for sm_100f and sm_110f; the manual has sm_120f alone.",
    ],
    example="mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4},"
    " {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4};",
)

# Which bytes of the scales a lane offers: any one, a pair (from byte 0 or 2 on), or all four.
_SINGLE = "d, a, b, c, scale-a, {byte-a, lane-a}, scale-b, {byte-b, lane-b}"
_DOUBLE = "d, a, b, c, scale-a, {pair-a, lane-a}, scale-b, {pair-b, lane-b}"
_FOURFOLD = "d, a, b, c, scale-a, {four-a, lane-a}, scale-b, {four-b, lane-b}"


def _chosen(*values: int) -> Operand:
    return reads(".b16")._replace(values=values)


# ptxas does not look at what stands for these 32 bits, beyond its size; integers it refuses.
UNCHECKED_WORD: Final = reads(
    ".b32|.pred", count=(0, 1, 2, 4), immediate=False, also=("single",)
)
SCALES: Final = {
    "scale-a": UNCHECKED_WORD,
    "byte-a": _chosen(0, 1, 2, 3),
    "pair-a": _chosen(0, 2),
    "four-a": _chosen(0),
    "lane-a": _chosen(0, 1),
    "scale-b": UNCHECKED_WORD,
    "byte-b": _chosen(0, 1, 2, 3),
    "pair-b": _chosen(0, 2),
    "four-b": _chosen(0),
    "lane-b": _chosen(0, 1, 2, 3),
}

_FOUR = "mma.sync.aligned.m16n8k64.row.col"
_EIGHT = "mma.sync.aligned.m16n8k32.row.col"

instruction(
    "mma",
    section="warp-level-matrix-instructions-mma",
    summary="Multiplies two matrices that are spread over a warp, each scaled block by block, and"
    " adds a third: D = (A * scale_A) * (B * scale_B) + C.",
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
        "b": reads(".b32", count=2),
        "c": reads(".f32", count=4),
        **SCALES,
    },
    since=[("", "8.7", "sm_120f"), (".scale_vec::4X .ue8m0", "9.1", "sm_120f")],
    notes=["ptxas also takes a predicate or a vector for the scales."],
    example="mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0"
    " {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4},"
    " %r7, {0, 1}, %r8, {2, 1};",
)
