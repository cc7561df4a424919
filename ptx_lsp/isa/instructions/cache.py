"""Cache priorities and policies (PTX ISA, "Data Movement and Conversion Instructions")."""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.operand import GENERIC, address, immediate, reads, writes

_SPACE = {".global": ".global", "": GENERIC}

instruction(
    "applypriority",
    section="data-movement-and-conversion-instructions-applypriority",
    summary="Gives 128 bytes of global memory in the L2 cache back their normal eviction"
    " priority.",
    syntax="applypriority{.global}.L2::evict_normal [a], size;",
    operands={"a": address(_SPACE, access="none", pointer=True), "size": immediate(values=(128,))},
    since=[("", "7.4", 80)],
    example="applypriority.global.L2::evict_normal [%u64_1], 128;",
)

instruction(
    "applypriority.async.bulk",
    section="data-movement-and-conversion-instructions-applypriority-async-bulk",
    summary="Starts to give a range of global memory in the L2 cache its normal eviction"
    " priority, as part of a bulk group.",
    syntax="applypriority.async.bulk{.global}.bulk_group.L2::evict_normal [a], size;",
    operands={"a": address(_SPACE, access="none", pointer=True), "size": reads(".u32")._replace(multiple=16)},
    since=[("", "9.4", "sm_107f")],
    example="applypriority.async.bulk.global.bulk_group.L2::evict_normal [%u64_1], 128;",
)

instruction(
    "discard",
    section="data-movement-and-conversion-instructions-discard",
    summary="Lets the cache drop 128 bytes of global memory without writing them back; their contents are "
            "undefined afterwards.",
    syntax="discard{.global}.L2 [a], size;",
    operands={"a": address(_SPACE, access="write", pointer=True), "size": immediate(values=(128,))},
    since=[("", "7.4", 80)],
    example="discard.global.L2 [%u64_1], 128;",
)

instruction(
    "createpolicy",
    section="data-movement-and-conversion-instructions-createpolicy",
    summary="Creates a cache policy, for the operand of .L2::cache_hint, from a range of addresses, a "
            "fraction of the accesses, or an access property of the CUDA API.",
    syntax="""
        createpolicy.range{.global}.primary{.secondary}.b64
            cache-policy, [a], primary-size, total-size;
        createpolicy.range{.global}.fabric.primary{.secondary}.b64
            cache-policy, [leId, dataOff], primary-size, total-size;
        createpolicy.fractional.primary{.secondary}.b64 cache-policy{, fraction};
        createpolicy.cvt.L2.b64 cache-policy, access-property;
        .primary = { .L2::evict_last, .L2::evict_normal, .L2::evict_first, .L2::evict_unchanged };
        .secondary = { .L2::evict_first, .L2::evict_unchanged };
    """,
    operands={
        "cache-policy": writes(".u64"),
        "a": address(_SPACE, access="none", type=".u32|.u64"),
        "leId": address(access="none", type=".u32"),
        "dataOff": reads(".u64"),
        "primary-size": reads(".u32")._replace(wraps=32, at_most="total-size"),
        "total-size": reads(".u32")._replace(wraps=32),
        "fraction": reads(".f32"),
        "access-property": reads(".u64"),
    },
    since=[("", "7.4", 80), (".fabric", "9.4", 100)],
    fixed_order_modifiers=1,
    example="createpolicy.fractional.L2::evict_last.b64 %b64_1, 0.5;",
)
