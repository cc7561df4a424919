"""Asynchronous copies of boxes of a tensor (PTX ISA, "Tensor copy").

The tensor is described by an opaque object, the tensor-map. The `.override` modifiers replace what
it says of the tensor's address, or of its address, sizes and strides.
"""

from __future__ import annotations

from ptx_lsp.isa.instructions.bulk_copy import (
    CTA_MASK,
    CTA_MASK_RULES,
    POLICY,
    POLICY_RULES,
    REPORT,
    SINCE_MBARRIER,
    VALIDITY,
)
from ptx_lsp.isa.schema.entry import Since, Unless, instruction
from ptx_lsp.isa.schema.operand import Given, address, reads


def _with_overrides(form: str) -> str:
    """The form as it is, with an override of the address, and with one of all attributes."""
    plain = form.replace("DIM", ".dim").replace("MAP", "[tensorMap, tensorCoords]")
    moved = form.replace("DIM", ".dim").replace("MAP", "[tensorMap, newAddress, tensorCoords]")
    whole = (
        form.replace("{.load_mode}", "{.tile}")
        .replace("{, im2colInfo}", "")
        .replace("{.multicast}", "{.multicast::cluster::32b}")
    )
    line = whole.replace("DIM", ".1d").replace(
        "MAP", "[tensorMap, newAddress, newSizes, tensorCoords]"
    )
    more = whole.replace("DIM", ".dims").replace(
        "MAP", "[tensorMap, newAddress, newSizes, newLowerStrides, newUpperStrides, tensorCoords]"
    )
    return "\n        ".join((
        plain.replace("OVER", ""),
        moved.replace("OVER", ".override::global_address"),
        line.replace("OVER", ".override::global_address.override::global_dim"),
        more.replace("OVER", ".override::global_address.override::global_dim_stride"),
    ))


_DIMENSIONS = """
        .dim = { .1d, .2d, .3d, .4d, .5d };
        .dims = { .2d, .3d, .4d, .5d };
        .level::cache_hint = { .L2::cache_hint };
"""
_RANK = {".1d": 1, ".2d": 2, ".3d": 3, ".4d": 4, ".5d": 5}
# ptxas takes these without brackets for an address in shared memory, and negated predicates.
_BARE: tuple[Given, ...] = ("register", "float", "single", "variable")
# Where the sm_120 family goes another way, it takes no 8- or 16-bit register for an address.
_NOT_SM_120 = (
    ".tile::gather4|.im2col::w|.im2col::w::128|.cta_group::1|.cta_group::2"
    f"|.override::global_address|.multicast::cluster::32b|.mbarrier::report::disabled|{VALIDITY}"
)
_SIZED = {f"dst=.shared::cluster !{_NOT_SM_120}": ".u64|.u32", "": ".b64|.b32"}
_MAP = {
    "tensorMap": address(".global", type=""),
    "tensorCoords": reads(".s32", count={".tile::gather4|.tile::scatter4": 5, **_RANK}),
    "newAddress": reads(".u64", immediate=False),
    "newSizes": reads(".u8|.u16", count=_RANK),
    "newLowerStrides": reads(".u32", count={".2d": 1, ".3d": 2, ".4d": 3, ".5d": 4}),
    "newUpperStrides": reads(".u16", immediate=False),
}
_SOURCE = address(".shared", also=_BARE)
_IM2COL = ".im2col|.im2col::w|.im2col::w::128"
_INFO = reads(".u16", count={".im2col .3d": 1, ".im2col .4d": 2, ".im2col .5d": 3, "": 2})
_INFO_RULES: tuple[Unless, ...] = (
    (f"{_IM2COL} !+im2colInfo", ".im2col requires the operand im2colInfo"),
    (f"!{_IM2COL} +im2colInfo", "the operand im2colInfo requires .im2col"),
    (f"{_IM2COL} .1d|.2d", ".im2col requires a tensor of 3 to 5 dimensions"),
    (".tile::gather4 !.2d", ".tile::gather4 is of .2d tensors"),
)
_STORE_RULES: tuple[Unless, ...] = (
    (".tile::scatter4 !.2d", ".tile::scatter4 is of .2d tensors"),
    (".im2col_no_offs|.im2col_no_offs::w .1d|.2d", ".im2col requires a tensor of 3 to 5 dimensions"),
)
_FAMILIES = ("8.6", "sm_100a sm_110a", "8.8", "sm_100f sm_110f")
_OVERRIDES: Since = (".override::global_address", "9.4", "sm_107f")

_LOAD = "cp.async.bulk.tensorDIM.dst.src{.load_mode}.completion_mechanism{.report}"

instruction(
    "cp.async.bulk.tensor",
    section="data-movement-and-conversion-instructions-cp-async-bulk-tensor",
    summary="Starts to copy a box of a tensor between global and shared memory; an mbarrier or a bulk "
            "group signals completion.",
    syntax=f"""
        {_with_overrides(
            _LOAD + "{.cta_group}{.level::cache_hint}OVER"
            " [dstMem], MAP, [mbar]{, im2colInfo}{, cache-policy};"
        )}
        .dst = {{ .shared::cta }};
        .src = {{ .global }};
        .load_mode = {{ .tile, .tile::gather4, .im2col, .im2col::w, .im2col::w::128 }};
        .completion_mechanism = {{ .mbarrier::complete_tx::bytes }};
        .cta_group = {{ .cta_group::1, .cta_group::2 }};
        {_DIMENSIONS}
        {REPORT}
        -----
        {_with_overrides(
            _LOAD + "{.multicast}{.cta_group}{.level::cache_hint}OVER"
            " [dstMem], MAP, [mbar]{, im2colInfo}{, ctaMask}{, cache-policy};"
        )}
        .dst = {{ .shared::cluster }};
        .multicast = {{ .multicast::cluster{{::16b, ::32b}} }};
        -----
        {_with_overrides(
            "cp.async.bulk.tensorDIM.dst.src{.load_mode}.completion_mechanism"
            "{.level::cache_hint}OVER MAP, [srcMem]{, cache-policy};"
        )}
        .dst = {{ .global }};
        .src = {{ .shared::cta }};
        .load_mode = {{ .tile, .tile::scatter4, .im2col_no_offs, .im2col_no_offs::w }};
        .completion_mechanism = {{ .bulk_group }};
    """,
    operands={
        **_MAP,
        "dstMem": address(".shared", access="write", also=_BARE, type=_SIZED),
        "srcMem": _SOURCE,
        "mbar": address(".shared", access="both", also=_BARE, type=_SIZED),
        "im2colInfo": _INFO,
        "ctaMask": CTA_MASK,
        "cache-policy": POLICY,
    },
    unless=[*POLICY_RULES, *CTA_MASK_RULES, *_INFO_RULES, *_STORE_RULES],
    since=[
        ("", "8.0", 90),
        ("dst=.shared::cta", "8.6", 90),
        ("dst=.shared::cta .tile::gather4|.im2col::w", "8.6", 100),
        ("dst=.shared::cluster .tile::gather4|.im2col::w", *_FAMILIES),
        (".tile::scatter4|.im2col::w::128|.cta_group::1|.cta_group::2", *_FAMILIES),
        (".im2col_no_offs::w", "9.4", "sm_107f"),
        _OVERRIDES,
        *SINCE_MBARRIER,
    ],
    notes=[
        "ptxas does not look at the type of the register that holds the tensor-map's address.",
        "ptxas takes a register without brackets for an address in shared memory.",
    ],
    example="cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    " [%u64_1], [%u64_2, {%s32_1, %s32_2}], [%u64_3];",
)

instruction(
    "cp.reduce.async.bulk.tensor",
    section="data-movement-and-conversion-instructions-cp-reduce-async-bulk-tensor",
    summary="Starts to combine a box in shared memory, element by element, with a box of a tensor"
    " in global memory.",
    syntax=f"""
        {_with_overrides(
            "cp.reduce.async.bulk.tensorDIM.dst.src.redOp{.load_mode}.completion_mechanism"
            "{.level::cache_hint}OVER MAP, [srcMem]{, cache-policy};"
        )}
        .dst = {{ .global }};
        .src = {{ .shared::cta }};
        .redOp = {{ .add, .min, .max, .inc, .dec, .and, .or, .xor }};
        .load_mode = {{ .tile, .tile::scatter4, .im2col_no_offs, .im2col_no_offs::w }};
        .completion_mechanism = {{ .bulk_group }};
        {_DIMENSIONS}
    """,
    operands={**_MAP, "srcMem": _SOURCE, "cache-policy": POLICY},
    unless=[*POLICY_RULES, *_STORE_RULES],
    since=[
        ("", "8.0", 90),
        (".tile::scatter4", *_FAMILIES),
        (".im2col_no_offs::w", "9.4", "sm_107f"),
        _OVERRIDES,
    ],
    notes=["ptxas takes .tile::scatter4 too, which the manual does not have."],
    example="cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group"
    " [%u64_1, {%s32_1}], [%u64_2];",
)

instruction(
    "cp.async.bulk.prefetch.tensor",
    section="data-movement-and-conversion-instructions-cp-async-bulk-prefetch-tensor",
    summary="Asks for a box of a tensor in global memory to be brought into L2.",
    syntax=f"""
        {_with_overrides(
            "cp.async.bulk.prefetch.tensorDIM.L2.src{.load_mode}{.level::cache_hint}OVER"
            " MAP{, im2colInfo}{, cache-policy};"
        )}
        {_with_overrides(
            "cp.async.bulk.prefetch.tensorDIM.L2.src{.load_mode}.level::eviction_priorityOVER"
            " MAP{, im2colInfo};"
        )}
        .src = {{ .global }};
        .load_mode = {{ .tile, .tile::gather4, .im2col, .im2col::w, .im2col::w::128 }};
        .level::eviction_priority = {{ .L2::evict_last }};
        {_DIMENSIONS}
    """,
    operands={**_MAP, "im2colInfo": _INFO, "cache-policy": POLICY},
    unless=[*POLICY_RULES, *_INFO_RULES],
    since=[
        ("", "8.0", 90),
        (".tile::gather4|.im2col::w|.im2col::w::128", *_FAMILIES),
        (".L2::evict_last", "9.4", "sm_107f"),
        _OVERRIDES,
    ],
    example="cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%u64_1, {%s32_1}];",
)

instruction(
    "applypriority.async.bulk.tensor",
    section="data-movement-and-conversion-instructions-applypriority-async-bulk-tensor",
    summary="Starts to give a box of a tensor in the L2 cache its normal eviction priority, as"
    " part of a bulk group.",
    syntax=f"""
        {_with_overrides(
            "applypriority.async.bulk.tensorDIM{.global}{.load_mode}.bulk_group"
            ".level::eviction_priorityOVER MAP{, im2colInfo};"
        )}
        .load_mode = {{ .tile, .tile::gather4, .tile::scatter4, .im2col, .im2col::w,
                       .im2col::w::128, .im2col_no_offs, .im2col_no_offs::w }};
        .level::eviction_priority = {{ .L2::evict_normal }};
        {_DIMENSIONS}
    """,
    operands={**_MAP, "tensorMap": address(access="none", type=""), "im2colInfo": _INFO},
    unless=[*_INFO_RULES, *_STORE_RULES],
    since=[("", "9.4", "sm_107f")],
    notes=["ptxas takes the load modes of stores, too."],
    example="applypriority.async.bulk.tensor.1d.global.bulk_group.L2::evict_normal"
    " [%u64_1, {%s32_1}];",
)
