"""Copies and reductions of boxes of a tensor over the fabric between GPUs (PTX ISA, "Fabric Instructions").

A logical endpoint and an offset in it always replace the address in the tensor map.
"""

from __future__ import annotations

from ptx_lsp.isa.instructions.bulk_copy import POLICY, POLICY_RULES
from ptx_lsp.isa.schema.entry import Since, instruction
from ptx_lsp.isa.schema.operand import Given, address, reads

_SINCE: Since = ("", "9.4", "sm_107f")
_DEFINITIONS = """
        .dim = { .1d, .2d, .3d, .4d, .5d };
        .dims = { .2d, .3d, .4d, .5d };
        .report = { .mbarrier::report::fabric };
        .level::cache_hint = { .L2::cache_hint };
"""


def _with_overrides(form: str) -> str:
    """The form with an override of the address alone, with its size, and with its sizes and strides."""
    return "\n        ".join(
        form.replace("DIM", dim).replace("OVER", f".override::global_address{more}").replace("NEW", new)
        for dim, more, new in (
            (".dim", "", ""),
            (".1d", ".override::global_dim", " newSizes,"),
            (".dims", ".override::global_dim_stride", " newSizes, newLowerStrides, newUpperStrides,"),
        )
    )


_RANK = {".1d": 1, ".2d": 2, ".3d": 3, ".4d": 4, ".5d": 5}
# ptxas takes these without brackets.
_BARE: tuple[Given, ...] = ("register", "variable")
_SIZED = ".u64|.u32"
_TENSOR = {
    "tensorMap": address(".shared", type=".u64|.f64"),
    "newSizes": reads(".u8", count=_RANK),
    "newLowerStrides": reads(".u32", count={".2d": 1, ".3d": 2, ".4d": 3, ".5d": 4}),
    "newUpperStrides": reads(".u16", immediate=False),
    "tensorCoords": reads(".s32", count=_RANK),
    "cache-policy": POLICY,
}
_WRITTEN = {
    **_TENSOR,
    "dstLeId": reads(".u32"),
    "dstDataOff": reads(".u64"),
    "dstCounterOff": reads(".u64"),
    "src": address(".shared", also=_BARE, type=_SIZED),
    "size": reads(".u32"),
    "bar": address(".shared", access="both", type=_SIZED),
}
_NOTES = (
    "ptxas lets .relaxed and .sys be left out.",
    "ptxas refuses 16-bit registers for newSizes, which the headers of CUDA pass; it takes 8-bit ones.",
)

instruction(
    "fabric.try_get.async.tensor",
    section="fabric-instructions-try-get-async-tensor",
    summary="Starts to copy a box of a tensor on the fabric to shared memory.",
    syntax=f"""
        {_with_overrides(
            "fabric.try_get.async.tensorDIM.dst{.tile}.bytes.report{.level::cache_hint}OVER{{.relaxed}.sys}.b128"
            " [dst], [tensorMap, srcLeId, srcDataOff,NEW tensorCoords], [bar]{, cache-policy};"
        )}
        .dst = {{ .shared::cta }};
        .bytes = {{ .mbarrier::complete_tx::bytes }};
        {_DEFINITIONS}
    """,
    operands={
        **_TENSOR,
        "dst": address(".shared", access="write", also=_BARE, type=_SIZED),
        "srcLeId": reads(".u32"),
        "srcDataOff": reads(".u64"),
        "bar": address(".shared", access="both", also=_BARE, type=_SIZED),
    },
    unless=POLICY_RULES,
    since=[_SINCE],
    notes=_NOTES,
    example="fabric.try_get.async.tensor.1d.shared::cta.tile.mbarrier::complete_tx::bytes"
    ".mbarrier::report::fabric.override::global_address.relaxed.sys.b128"
    " [%u64_1], [%u64_2, %u32_1, %u64_3, {%s32_1}], [%u64_4];",
)


def _written(name: str, last: str) -> str:
    """The forms that write to the fabric, without and with a counter there; `last` is the last modifier."""
    start = f"{name}{{.multimem}}DIM.src{{.tile}}.chunks.report"
    middle = f"{{.level::cache_hint}}OVER{{{{.relaxed}}.sys}}{last} [tensorMap, dstLeId, dstDataOff,"
    end = "NEW tensorCoords], [src], size, [bar]{, cache-policy};"
    return f"""
        {_with_overrides(f"{start}{middle}{end}")}
        {_with_overrides(f"{start}.counted{middle} dstCounterOff,{end}")}
        .src = {{ .shared::cta }};
        .chunks = {{ .mbarrier::complete_tx::16B }};
        .counted = {{ .counted::bytes }};
        {_DEFINITIONS}
    """


instruction(
    "fabric.try_put.async.tensor",
    section="fabric-instructions-try-put-async-tensor",
    summary="Starts to copy a box from shared memory to a tensor on the fabric, or with .multimem to all"
    " that the endpoint maps to.",
    syntax=_written("fabric.try_put.async.tensor", ".b128"),
    operands=_WRITTEN,
    unless=POLICY_RULES,
    since=[_SINCE],
    notes=_NOTES,
    example="fabric.try_put.async.tensor.1d.shared::cta.tile.mbarrier::complete_tx::16B"
    ".mbarrier::report::fabric.override::global_address.relaxed.sys.b128"
    " [%u64_1, %u32_1, %u64_2, {%s32_1}], [%u64_3], 256, [%u64_4];",
)

instruction(
    "fabric.try_red.async.tensor",
    section="fabric-instructions-try-red-async-tensor",
    summary="Starts to combine a box in shared memory, element by element, with one of a tensor on the"
    " fabric, or with .multimem with all that the endpoint maps to.",
    syntax=_written("fabric.try_red.async.tensor", ".op")
    + "        .op = { .and, .or, .xor, .add, .min, .max };",
    operands=_WRITTEN,
    unless=POLICY_RULES,
    since=[_SINCE],
    notes=_NOTES,
    example="fabric.try_red.async.tensor.1d.shared::cta.tile.mbarrier::complete_tx::16B"
    ".mbarrier::report::fabric.override::global_address.relaxed.sys.add"
    " [%u64_1, %u32_1, %u64_2, {%s32_1}], [%u64_3], 256, [%u64_4];",
)
