"""Surfaces: reading, writing and reducing them (PTX ISA, section "Surface Instructions")."""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.operand import address, reads, writes

# `[a, b]`: the surface and the coordinates. One register is taken where a vector is expected.
_READ = address(type=".surfref|.u64")
_WRITE = address(type=".surfref|.u64", access="both")
_COORDINATES = reads(".s32", count={".1d": (1, 0, 2, 4), ".2d|.a1d": (2, 0, 4), "": (4, 0)})
_VECTOR = {".v2": 2, ".v4": 4, "": (0, 1, 2, 4)}
# ptxas takes one register for a vector, too.
_STORED = {".v2": (2, 0), ".v4": (4, 0), "": (0, 1, 2, 4)}
_TOO_LONG = (".v4 .b64", "a vector holds at most 128 bits")
_GEOMETRY = [
    (".3d|.a1d|.a2d", "3.0", 20),
    (".clamp|.zero", "2.0", 10),
    ("+a:register", "3.1", 20),
]

instruction(
    "suld",
    section="surface-instructions-suld",
    summary="Loads untyped data from a surface; the first coordinate counts bytes. The last"
    " modifier says what happens out of bounds.",
    syntax="""
        suld.b.geom{.cop}{.vec}.type.bounds d, [a, b];
        .geom   = { .1d, .2d, .3d, .a1d, .a2d };
        .cop    = { .ca, .cg, .cs, .cv };
        .vec    = { .v2, .v4 };
        .type   = { .b8, .b16, .b32, .b64 };
        .bounds = { .trap, .clamp, .zero };
    """,
    operands={"d": writes(count=_VECTOR, wider=True, sink=True), "a": _READ, "b": _COORDINATES},
    unless=[_TOO_LONG, ("vec= +d:sink", "the result cannot be _")],
    since=[("", "1.5", 10), *_GEOMETRY, (".ca|.cg|.cs|.cv", "2.0", 20)],
    fixed_order_modifiers=1,
    example="suld.b.2d.v2.b32.trap {%r1, %r2}, [surf0, {%r3, %r4}];",
)

instruction(
    "sust",
    section="surface-instructions-sust",
    summary="Stores to a surface: untyped data (.b), or components that it converts to the"
    " format of the surface (.p). The last modifier says what happens out of bounds.",
    syntax="""
        sust.b.geom{.cop}{.vec}.type.bounds [a, b], c;
        sust.p.geom{.cop}{.vec}.b32.bounds  [a, b], c;
        .geom   = { .1d, .2d, .3d, .a1d, .a2d };
        .cop    = { .wb, .cg, .cs, .wt };
        .vec    = { .v2, .v4 };
        .type   = { .b8, .b16, .b32, .b64 };
        .bounds = { .trap, .clamp, .zero };
    """,
    operands={"a": _WRITE, "b": _COORDINATES, "c": reads(count=_STORED, wider=True)},
    unless=[_TOO_LONG],
    since=[
        ("", "1.5", 10),
        *_GEOMETRY,
        (".wb|.cg|.cs|.wt", "2.0", 20),
        (".p", "2.0", 20),
        (".p .a1d|.a2d", "4.1", 30),
    ],
    fixed_order_modifiers=1,
    notes=[
        "ptxas takes .clamp and .zero for sm_1x, too.",
        "ptxas takes .p with cache operations and with .a1d and .a2d; the manual does not.",
    ],
    example="sust.b.1d.b32.trap [surf0, {%r1}], %r2;",
)

instruction(
    "sured",
    section="surface-instructions-sured",
    summary="Replaces a value in a surface by the result of an operation with c; the first"
    " coordinate counts bytes (.b) or samples (.p).",
    syntax="""
        sured.b.op.geom.type.bounds [a, b], c;
        .op     = { .add, .min, .max, .and, .or };
        .geom   = { .1d, .2d, .3d };
        .type   = { .u32, .u64, .s32, .b32, .s64 };
        .bounds = { .trap, .clamp, .zero };
        -----
        sured.p.op.geom.type.bounds [a, b], c;
        .type   = { .b32, .b64 };
    """,
    operands={"a": _WRITE, "b": _COORDINATES, "c": reads(wider=True)},
    unless=[
        (".b .add|.min|.max .b32", "arithmetic requires a signed or unsigned type"),
        (".b .and|.or !.b32", ".and and .or take .b32"),
        (".add .s64", ".add takes .u32, .u64 and .s32"),
        (".p .b64 !.min|.max", ".b64 is for .min and .max"),
    ],
    since=[
        ("", "2.0", 20),
        (".3d", "3.0", 20),
        ("+a:register", "3.1", 20),
        (".min|.max .u64|.s64|.b64", "8.1", 50),
    ],
    fixed_order_modifiers=1,
    notes=["ptxas takes a wider register for c."],
    example="sured.b.add.2d.u32.trap [surf0, {%r1, %r2}], %r3;",
)

instruction(
    "suq",
    section="surface-instructions-suq",
    summary="Asks for a property of a surface, such as its width.",
    syntax="""
        suq.query.b32 d, [a];
        .query = { .width, .height, .depth, .channel_data_type, .channel_order, .array_size,
                   .memory_layout };
    """,
    operands={"d": writes(".b32"), "a": _READ},
    since=[
        ("", "1.5", 10),
        ("+a:register", "3.1", 20),
        (".channel_data_type|.channel_order", "2.1", 10),
        (".array_size", "4.1", 10),
        (".memory_layout", "4.2", 10),
    ],
    example="suq.width.b32 %r1, [surf0];",
)
