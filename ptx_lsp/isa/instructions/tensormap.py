"""Changes to a tensor-map, the opaque object that describes a tensor (PTX ISA)."""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.operand import address, immediate, reads

_SINCE_8_6 = ("sm_100a sm_110a sm_120a", "8.8", "sm_100f sm_110f sm_120f")

instruction(
    "tensormap.replace",
    section="data-movement-and-conversion-instructions-tensormap-replace",
    summary="Changes one field of the tensor-map in memory; `ord` selects the dimension.",
    syntax="""
        tensormap.replace.mode.global_address{.ss}.b1024.b64 [addr], new_val;
        tensormap.replace.mode.rank{.ss}.b1024.b32 [addr], new_val;
        tensormap.replace.mode.field2{.ss}.b1024.b32 [addr], ord, new_size;
        tensormap.replace.mode.global_stride{.ss}.b1024.b64 [addr], ord, new_val;
        tensormap.replace.mode.elemtype{.ss}.b1024.b32 [addr], new_type;
        tensormap.replace.mode.elemtype{.ss}.b1024.b32 [addr], new_small_type;
        tensormap.replace.mode.swizzle_mode{.ss}.b1024.b32 [addr], new_swizzle;
        tensormap.replace.mode.swizzle_mode{.ss}.b1024.b32 [addr], new_swizzle_96B;
        tensormap.replace.mode.swizzle_atomicity{.ss}.b1024.b32 [addr], new_atomicity;
        tensormap.replace.mode.interleave_layout{.ss}.b1024.b32 [addr], new_layout;
        tensormap.replace.mode.fill_mode{.ss}.b1024.b32 [addr], new_fill;
        .mode = { .tile };
        .field2 = { .box_dim, .global_dim, .element_stride };
        .ss = { .global, .shared::cta };
    """,
    operands={
        "addr": address(
            {".global": ".global", ".shared::cta": ".shared", "": ""},
            access="both",
            type=".u64|.u32",
        ),
        "ord": immediate(0, 4),
        "new_val": reads(),
        "new_size": reads({"": ".u32"}),
        "new_type": immediate(0, 12),
        "new_small_type": immediate(13, 15),
        "new_swizzle": immediate(0, 3),
        "new_swizzle_96B": immediate(4, 4),
        "new_atomicity": immediate(0, 3),
        "new_layout": immediate(0, 2),
        "new_fill": immediate(0, 1),
    },
    since=[
        ("", "8.3", "sm_90a sm_100a sm_110a sm_120a", "8.8", "sm_90a sm_100f sm_110f sm_120f"),
        (".swizzle_atomicity", "8.6", *_SINCE_8_6),
        ("+new_small_type", "8.7", *_SINCE_8_6),
        ("+new_swizzle_96B", "8.8", "sm_103a sm_107a"),
    ],
    example="tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%u64_1], %u64_2;",
)
