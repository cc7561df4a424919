"""Matrix multiplication in Tensor Memory: tcgen05.mma and its sparse and weight stationary kin.

PTX ISA, section "TensorCore 5th Generation Matrix Multiply and accumulate Operations".
"""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.operand import address, immediate, predicate, reads

_ANY_A = "sm_100a sm_103a sm_107a sm_110a"

_OPERANDS = {
    "d-tmem": address(type=".b32", access="both"),
    "a-tmem": address(type=".b32"),
    "a-desc": reads(".u64"),
    "b-desc": reads(".u64"),
    "idesc": reads(".u32"),
    "enable-input-d": predicate(),
}
_SPARSE = {"sp-meta-tmem": address(type=".b32")}
_LANES = {
    "disable-output-lane": reads(".b32", count={".cta_group::1": 4, ".cta_group::2": 8}),
    "scale-input-d": immediate(0, 15),
    "ignored": predicate(),
}
_SCALES = {"scale-A-tmem": address(type=".b32"), "scale-B-tmem": address(type=".b32")}

_KINDS = [
    ("", "8.6", "sm_100f sm_110f"),
    (".kind::i8", "8.6", "sm_100a sm_110a"),
    (".kind::mxf4nvf4", "8.7", "sm_100f sm_110f"),
]
_SCALED = [
    (".scale_vec::1X|.scale_vec::2X|.scale_vec::4X", "8.6", _ANY_A),
    (".block16|.block32", "8.8", "sm_100f sm_110f"),
    ("+scale-input-d", "8.6", "sm_100f"),
    (".collector::b::fill|.collector::b::use|.collector::b::lastuse|.collector::b::discard",
     "9.4", "sm_107f"),
]
_UNLESS = [
    (
        ".ashift .collector::a::fill|.collector::a::use",
        ".ashift requires .collector::a::lastuse or .collector::a::discard",
    ),
    ("+scale-input-d .kind::f8f6f4", "scale-input-d requires .kind::f16 or .kind::tf32"),
    (
        ".kind::i8 +disable-output-lane +ignored !+ignored:integer",
        "nothing follows enable-input-d with .kind::i8",
    ),
    (
        ".kind::mxf4nvf4 !.scale_vec::2X|.scale_vec::4X|.block16|.block32",
        ".kind::mxf4nvf4 requires .scale_vec::2X, .scale_vec::4X, .block16 or .block32",
    ),
    (
        ".kind::mxf4 .scale_vec::1X|.scale_vec::4X|.block16",
        ".kind::mxf4 requires .scale_vec::2X or .block32",
    ),
    (
        ".kind::mxf8f6f4 .scale_vec::2X|.scale_vec::4X|.block16",
        ".kind::mxf8f6f4 requires .scale_vec::1X or .block32",
    ),
]
_NOTES = [
    "ptxas takes .collector::b with and without .collector::a, from PTX ISA 9.4 on.",
    "With .kind::i8 ptxas takes, and ignores, an integer at the end, or (without"
    " disable-output-lane) a predicate; the manual has no such operand.",
]

instruction(
    "tcgen05.mma",
    section="tcgen05-mma-instructions-mma",
    summary="Starts D = A*B + D, or A*B if enable-input-d is false, with D in Tensor Memory,"
    " B in shared memory and A in either.",
    syntax="""
        tcgen05.mma.cta_group.kind{.collector_a}{.collector_b} [d-tmem], a-desc, b-desc, idesc
            {, disable-output-lane}, enable-input-d{, scale-input-d};
        tcgen05.mma.cta_group.kind{.ashift}{.collector_a}{.collector_b} [d-tmem], [a-tmem], b-desc,
            idesc{, disable-output-lane}, enable-input-d{, scale-input-d};
        .cta_group   = { .cta_group::1, .cta_group::2 };
        .kind        = { .kind::f16, .kind::tf32, .kind::f8f6f4 };
        .collector_a = { .collector::a::op };
        .collector_b = { .collector::b::op };
        ::op         = { ::fill, ::use, ::lastuse, ::discard };
        -----
        tcgen05.mma.cta_group.kind::i8{.collector_a} [d-tmem], a-desc, b-desc, idesc
            {, disable-output-lane}, enable-input-d{, ignored};
        tcgen05.mma.cta_group.kind::i8{.ashift}{.collector_a} [d-tmem], [a-tmem],
            b-desc, idesc{, disable-output-lane}, enable-input-d{, ignored};
        -----
        tcgen05.mma.cta_group.kind.block_scale{.scale_vectorsize}{.collector_a}{.collector_b}
            [d-tmem], a-desc, b-desc, idesc, [scale-A-tmem], [scale-B-tmem], enable-input-d;
        tcgen05.mma.cta_group.kind.block_scale{.scale_vectorsize}{.collector_a}{.collector_b}
            [d-tmem], [a-tmem], b-desc, idesc, [scale-A-tmem], [scale-B-tmem], enable-input-d;
        .kind             = { .kind::mxf8f6f4, .kind::mxf4, .kind::mxf4nvf4 };
        .scale_vectorsize = { .scale_vec::1X, .scale_vec::2X, .scale_vec::4X, .block16, .block32 };
    """,
    operands=_OPERANDS | _LANES | _SCALES,
    unless=_UNLESS,
    since=_KINDS + _SCALED,
    notes=_NOTES,
    example="tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;",
)

instruction(
    "tcgen05.mma.sp",
    section="tcgen05-mma-instructions-mma-sp",
    summary="tcgen05.mma with a sparse A: half of its elements are omitted, as specified by the metadata "
            "in Tensor Memory.",
    syntax="""
        tcgen05.mma.sp.cta_group.kind{.collector_a}{.collector_b} [d-tmem], a-desc, b-desc,
            [sp-meta-tmem], idesc{, disable-output-lane}, enable-input-d{, scale-input-d};
        tcgen05.mma.sp.cta_group.kind{.ashift}{.collector_a}{.collector_b} [d-tmem], [a-tmem],
            b-desc, [sp-meta-tmem], idesc{, disable-output-lane}, enable-input-d{, scale-input-d};
        .cta_group   = { .cta_group::1, .cta_group::2 };
        .kind        = { .kind::f16, .kind::tf32, .kind::f8f6f4 };
        .collector_a = { .collector::a::op };
        .collector_b = { .collector::b::op };
        ::op         = { ::fill, ::use, ::lastuse, ::discard };
        -----
        tcgen05.mma.sp.cta_group.kind::i8{.collector_a} [d-tmem], a-desc, b-desc, [sp-meta-tmem],
            idesc{, disable-output-lane}, enable-input-d{, ignored};
        tcgen05.mma.sp.cta_group.kind::i8{.ashift}{.collector_a} [d-tmem], [a-tmem], b-desc,
            [sp-meta-tmem], idesc{, disable-output-lane}, enable-input-d{, ignored};
        -----
        tcgen05.mma.sp.cta_group.kind.block_scale{.scale_vectorsize}{.collector_a}{.collector_b}
            [d-tmem], a-desc, b-desc, [sp-meta-tmem], idesc, [scale-A-tmem], [scale-B-tmem],
            enable-input-d;
        tcgen05.mma.sp.cta_group.kind.block_scale{.scale_vectorsize}{.collector_a}{.collector_b}
            [d-tmem], [a-tmem], b-desc, [sp-meta-tmem], idesc, [scale-A-tmem], [scale-B-tmem],
            enable-input-d;
        .kind             = { .kind::mxf8f6f4, .kind::mxf4, .kind::mxf4nvf4 };
        .scale_vectorsize = { .scale_vec::1X, .scale_vec::2X, .scale_vec::4X, .block16, .block32 };
    """,
    operands=_OPERANDS | _SPARSE | _LANES | _SCALES,
    unless=_UNLESS,
    since=[*_KINDS, *_SCALED, (".kind::mxf4|.kind::mxf4nvf4", "8.6", _ANY_A)],
    notes=[*_NOTES, "The manual does not list sm_107a for .kind::mxf4 and .kind::mxf4nvf4."],
    fixed_order_modifiers=-1,  # .sp may stand anywhere
    example="tcgen05.mma.sp.cta_group::1.kind::f16 [%r1], %rd1, %rd2, [%r3], %r2, %p1;",
)

_MASK = {"zero-column-mask-desc": reads(".u64")}

instruction(
    "tcgen05.mma.ws",
    section="tcgen05-mma-instructions-mma-ws",
    summary="tcgen05.mma for convolutions that keeps B, the weights, in one of four collector"
    " buffers; a mask may zero columns of B.",
    syntax="""
        tcgen05.mma.ws.cta_group::1.kind{.collector_usage} [d-tmem], a-desc, b-desc, idesc,
            enable-input-d{, zero-column-mask-desc};
        tcgen05.mma.ws.cta_group::1.kind{.collector_usage} [d-tmem], [a-tmem], b-desc, idesc,
            enable-input-d{, zero-column-mask-desc};
        .kind            = { .kind::f16, .kind::tf32, .kind::f8f6f4, .kind::i8 };
        .collector_usage = { .collector::buffer::op };
        ::buffer         = { ::b0, ::b1, ::b2, ::b3 };
        ::op             = { ::fill, ::use, ::lastuse, ::discard };
    """,
    operands=_OPERANDS | _MASK,
    since=_KINDS[:2],
    example="tcgen05.mma.ws.cta_group::1.kind::f16.collector::b1::fill"
    " [%r1], %rd1, %rd2, %r2, %p1;",
)

instruction(
    "tcgen05.mma.ws.sp",
    section="tcgen05-mma-instructions-mma-ws-sp",
    summary="tcgen05.mma.ws with a sparse A, described by metadata in Tensor Memory.",
    syntax="""
        tcgen05.mma.ws.sp.cta_group::1.kind{.collector_usage} [d-tmem], a-desc, b-desc,
            [sp-meta-tmem], idesc, enable-input-d{, zero-column-mask-desc};
        tcgen05.mma.ws.sp.cta_group::1.kind{.collector_usage} [d-tmem], [a-tmem], b-desc,
            [sp-meta-tmem], idesc, enable-input-d{, zero-column-mask-desc};
        .kind            = { .kind::f16, .kind::tf32, .kind::f8f6f4, .kind::i8 };
        .collector_usage = { .collector::buffer::op };
        ::buffer         = { ::b0, ::b1, ::b2, ::b3 };
        ::op             = { ::fill, ::use, ::lastuse, ::discard };
    """,
    operands=_OPERANDS | _SPARSE | _MASK,
    since=_KINDS[:2],
    fixed_order_modifiers=-1,  # .sp may stand anywhere
    example="tcgen05.mma.ws.sp.cta_group::1.kind::tf32 [%r1], [%r4], %rd2, [%r3], %r2, %p1;",
)
