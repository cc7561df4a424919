"""Copies, reductions and atomics over the fabric between GPUs (PTX ISA, "Fabric Instructions").

Memory elsewhere is named by a handle: the number of a logical endpoint and an offset in it.
"""

from __future__ import annotations

from ptx_lsp.isa.instructions.bulk_copy import BYTE_MASK, BYTE_MASK_RULES, POLICY, POLICY_RULES
from ptx_lsp.isa.schema.entry import Since, Unless, instruction
from ptx_lsp.isa.schema.operand import Given, address, immediate, reads

_SINCE: Since = ("", "9.3", 100)
_DEFINITIONS = """
        .dst = .src = { .shared::cta };
        .bytes = { .mbarrier::complete_tx::bytes };
        .chunks = { .mbarrier::complete_tx::16B };
        .report = { .mbarrier::report::fabric };
        .counted = { .counted::bytes };
"""
_SIZED = ".u64|.u32"  # ptxas refuses 8- and 16-bit registers here
# ptxas takes these without brackets.
_BARE: tuple[Given, ...] = ("register", "variable")
_OPERANDS = {
    "dst": address(".shared", access="write", also=_BARE, type=_SIZED),
    "src": address(".shared", also=_BARE, type=_SIZED),
    "srcLeId": address(type=".u32"),
    "dstLeId": address(access="write", type=".u32"),
    "srcDataOff": reads(".u64"),
    "dstDataOff": reads(".u64"),
    "dstCounterOff": reads(".u64"),
    "size": reads(".u32"),
    "bar": address(".shared", access="both", also=_BARE, type=_SIZED),
}
_NOTE = "ptxas lets .relaxed and .sys be left out."
_SMALL = ".e4m3|.e5m2"
_RULES: tuple[Unless, ...] = (
    (".and|.or|.xor !.b32|.b64", ".and, .or and .xor take .b32 and .b64"),
    (".add|.min|.max .b32|.b64", ".add, .min and .max require a numeric type, not .b32 or .b64"),
    (".add .s32|.s64", ".add takes .u32 and .u64, which are the same as .s32 and .s64"),
    (".min|.max .f32|.f64", ".min and .max take integers and small floats"),
)

instruction(
    "fabric.try_get.async",
    section="fabric-instructions-fabric-try-get",
    summary="Starts to copy `size` bytes from a place on the fabric to shared memory.",
    syntax=f"""
        fabric.try_get.async.dst.bytes.report{{{{.relaxed}}.sys}}.b128
            [dst], [srcLeId, srcDataOff], size, [bar];
        {_DEFINITIONS}
    """,
    operands={name: _OPERANDS[name] for name in ("dst", "srcLeId", "srcDataOff", "size", "bar")},
    since=[_SINCE],
    notes=[_NOTE],
    example="fabric.try_get.async.shared::cta.mbarrier::complete_tx::bytes"
    ".mbarrier::report::fabric.relaxed.sys.b128 [%u64_1], [%u32_1, %u64_2], 256, [%u64_3];",
)

_PUT = ("src", "dstLeId", "dstDataOff", "dstCounterOff", "size", "bar")

instruction(
    "fabric.try_put.async",
    section="fabric-instructions-fabric-try-put",
    summary="Starts to copy `size` bytes of shared memory to a location on the fabric, or with .multimem "
            "to all locations that it maps to.",
    syntax=f"""
        fabric.try_put.async{{.multimem}}.src.chunks.report{{.cp_mask}}{{{{.relaxed}}.sys}}.b128
            [dstLeId, dstDataOff], [src], size, [bar]{{, byteMask}};
        fabric.try_put.async{{.multimem}}.src.chunks.report.counted{{{{.relaxed}}.sys}}.b128
            [dstLeId, dstDataOff, dstCounterOff], [src], size, [bar];
        {_DEFINITIONS}
    """,
    operands={**{name: _OPERANDS[name] for name in _PUT}, "byteMask": BYTE_MASK},
    unless=BYTE_MASK_RULES,
    since=[_SINCE],
    notes=[_NOTE],
    example="fabric.try_put.async.shared::cta.mbarrier::complete_tx::16B"
    ".mbarrier::report::fabric.relaxed.sys.b128 [%u32_1, %u64_1], [%u64_2], 256, [%u64_3];",
)

instruction(
    "fabric.try_red.async",
    section="fabric-instructions-fabric-try-red",
    summary="Starts to combine an array of `size` bytes in shared memory, element by element, with one on "
            "the fabric, or with .multimem with all that it maps to.",
    syntax=f"""
        fabric.try_red.async{{.multimem}}.src.chunks.report{{{{.relaxed}}.sys}}.op.type
            [dstLeId, dstDataOff], [src], size, [bar];
        fabric.try_red.async{{.multimem}}.src.chunks.report.counted{{{{.relaxed}}.sys}}.op.type
            [dstLeId, dstDataOff, dstCounterOff], [src], size, [bar];
        .op = {{ .and, .xor, .or, .min, .max, .add }};
        .type = {{ .b32, .b64, .u32, .s32, .u64, .s64, .f16, .bf16, .f32, .f64 }};
        {_DEFINITIONS}
    """,
    operands={name: _OPERANDS[name] for name in _PUT},
    unless=_RULES,
    since=[_SINCE],
    notes=[_NOTE],
    example="fabric.try_red.async.shared::cta.mbarrier::complete_tx::16B"
    ".mbarrier::report::fabric.relaxed.sys.add.u32 [%u32_1, %u64_1], [%u64_2], 256, [%u64_3];",
)

instruction(
    "fabric.try_pullred.async",
    section="fabric-instructions-fabric-try-pullred",
    summary="Starts to load `size` bytes from all locations that a location on the fabric maps to, reduces "
            "them element by element and stores the result in shared memory.",
    syntax=f"""
        fabric.try_pullred.async.multimem.dst.bytes.report{{{{.relaxed}}.sys}}.op.type.sync
            [dst], [srcLeId, srcDataOff], size, [bar], membermask;
        .op = {{ .and, .xor, .or, .min, .max, .add }};
        .type = {{ .b32, .b64, .u32, .s32, .u64, .s64, .f16, .bf16, .f32, .e4m3, .e5m2 }};
        {_DEFINITIONS}
        -----
        fabric.try_pullred.async.multimem.dst.bytes.report{{{{.relaxed}}.sys}}.add.acc_prec.type.sync
            [dst], [srcLeId, srcDataOff], size, [bar], membermask;
        .acc_prec = {{ .acc::f16, .acc::f32 }};
        .type = {{ .e4m3, .e5m2, .f16, .bf16 }};
    """,
    operands={
        **{name: _OPERANDS[name] for name in ("dst", "srcLeId", "srcDataOff", "size")},
        "bar": address(".shared", access="both"),
        "membermask": immediate(values=(0xFFFFFFFF, -1)),
    },
    unless=[
        *_RULES,
        (f".add !.acc::f16|.acc::f32 {_SMALL}", ".add of this type requires .acc::f16"),
        (f".acc::f16 !{_SMALL}", "this type adds up in .f32: .acc::f32"),
    ],
    since=[_SINCE, (f".acc::f16|.acc::f32|{_SMALL}", "9.3", "sm_100f sm_110f sm_120f")],
    notes=[_NOTE, "ptxas takes .acc::f32 for .e4m3 and .e5m2 too."],
    example="fabric.try_pullred.async.multimem.shared::cta.mbarrier::complete_tx::bytes"
    ".mbarrier::report::fabric.relaxed.sys.add.u32.sync"
    " [%u64_1], [%u32_1, %u64_2], 256, [%u64_3], 0xffffffff;",
)

instruction(
    "fabric.try_atom.async",
    section="fabric-instructions-try-atom",
    summary="Starts an atomic operation on a location on the fabric with the operand at `src` in shared"
    " memory, for .cas the value to compare and the new one; stores what was there at `dst`.",
    syntax=f"""
        fabric.try_atom.async.src.chunks.report{{.level::cache_hint}}.relaxed.sys.op.type
            [dstLeId, dstDataOff], [dst], [src], [bar]{{, cache-policy}};
        .level::cache_hint = {{ .L2::cache_hint }};
        .op = {{ .and, .or, .xor, .exch, .cas, .add, .min, .max }};
        .type = {{ .b32, .b64, .b128, .u32, .u64, .s32, .s64, .f16x2, .bf16x2, .f32, .f64 }};
        {_DEFINITIONS}
    """,
    operands={
        **{name: _OPERANDS[name] for name in ("dstLeId", "dstDataOff", "dst", "src")},
        "bar": address(".shared", access="both"),
        "cache-policy": POLICY,
    },
    unless=[
        *POLICY_RULES,
        (".and|.or|.xor !.b32|.b64", ".and, .or and .xor take .b32 and .b64"),
        (".exch|.cas !.b32|.b64|.b128", ".exch and .cas take .b32, .b64 and .b128"),
        (".add|.min|.max .b32|.b64|.b128", ".add, .min and .max require a numeric type"),
        (".add .s32|.s64", ".add takes .u32 and .u64, which are the same as .s32 and .s64"),
        (".min|.max .f32|.f64", ".min and .max take integers, .f16x2 and .bf16x2"),
    ],
    since=[("", "9.4", 100)],
    example="fabric.try_atom.async.shared::cta.mbarrier::complete_tx::16B"
    ".mbarrier::report::fabric.relaxed.sys.and.b32 [%u32_1, %u64_1], [%u64_2], [%u64_3], [%u64_4];",
)

instruction(
    "fabric.submit",
    section="fabric-instructions-fabric-submit",
    summary="Submits the fabric operations that the thread has started, or only those that fetch.",
    syntax="""
        fabric.submit{.submitop};
        .submitop = { .op_restrict::fetching };
    """,
    since=[_SINCE],
    example="fabric.submit;",
)

instruction(
    "fabric.submit.commit_group",
    section="fabric-instructions-fabric-submit",
    summary="Submits the fabric operations that the thread has started, as a group that"
    " fabric.wait counts.",
    syntax="fabric.submit.commit_group;",
    since=[("", "9.5", 100)],
    example="fabric.submit.commit_group;",
)

instruction(
    "fabric.wait",
    section="fabric-instructions-fabric-wait",
    summary="Waits until the submitted fabric operations, but for the N newest groups, have read"
    " their shared memory, which may then be written again.",
    syntax="""
        fabric.wait.sync_restrict::reads {N,};
        fabric.wait.sync_restrict::read N;
    """,
    operands={"N": immediate()},
    since=[_SINCE, (".sync_restrict::read", "9.5", 100)],
    until=[
        (
            ".sync_restrict::reads",
            "9.5",
            100,
            ".sync_restrict::reads gave way to .sync_restrict::read N",
            "deprecated",
        )
    ],
    notes=["Since PTX ISA 9.3, ptxas also accepts N after .sync_restrict::reads."],
    example="fabric.wait.sync_restrict::read 0;",
)
