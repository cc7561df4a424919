"""Operations on multimem addresses, which stand for one place in the memory of several GPUs."""

from __future__ import annotations

from ptx_lsp.isa.instructions.bulk_copy import BYTE_MASK, BYTE_MASK_RULES, REDUCTION_RULES, SIZE
from ptx_lsp.isa.schema.entry import Since, Unless, instruction
from ptx_lsp.isa.schema.operand import address, reads, writes

_SECTION = "data-movement-and-conversion-instructions-multimem-ld-reduce-multimem-st-multimem-red"
_SPACE = {".global": ".global", "": ""}
_READ = address(_SPACE, pointer=True)
_WRITTEN = address(_SPACE, access="write", pointer=True)
_SIZED = ".u64|.u32"  # ptxas refuses 8- and 16-bit registers in the asynchronous ones

_FLOATS = ".f16, .f16x2, .bf16, .bf16x2, .f32, .f64"
_BYTES = ".e5m2, .e5m2x2, .e5m2x4, .e4m3, .e4m3x2, .e4m3x4"
_FP8 = ".e5m2|.e5m2x2|.e5m2x4|.e4m3|.e4m3x2|.e4m3x4"
_FP8_TARGETS: Since = (
    _FP8, "8.6", "sm_100a sm_110a sm_120a sm_121a", "8.8", "sm_100f sm_110f sm_120a sm_121a",
)
_INTEGER_RULES: tuple[Unless, ...] = (
    (".and|.or|.xor !.b32|.b64", ".and, .or and .xor take .b32 and .b64"),
    (".add|.min|.max .b32|.b64", ".add, .min and .max require a numeric type, not .b32 or .b64"),
    (".add .s64", ".add takes .u64, which is the same as .s64"),
)
_FLOAT_RULES: tuple[Unless, ...] = (
    ("!.v2|.v4|.v8 .f16|.bf16", "this type requires a vector of at least 32 bits"),
    (".v8 .f16x2|.bf16x2|.f32", "a vector has at most 128 bits in this form"),
    (".v2|.v4|.v8 .f64", ".f64 vectors are not allowed in this form"),
)
_FP8_RULES: tuple[Unless, ...] = (
    ("!.v2|.v4|.v8 .e5m2|.e4m3|.e5m2x2|.e4m3x2", "this type requires a vector of at least 32 bits"),
    (".v2 .e5m2|.e4m3", "a vector of this type has 4 or 8 elements"),
    (".v8 .e5m2x4|.e4m3x4", "a vector has at most 128 bits in this form"),
)

_COUNT = {".v2|.v4|.v8": ".vec", ".b32|.b64|.u32|.u64|.s32|.s64": 0, "": (0, 1)}
"""Floats may stand in braces, one or several."""

instruction(
    "multimem.ld_reduce",
    section=_SECTION,
    summary="Loads from the memory of every GPU that a multimem address maps to, and reduces the loaded "
            "values to one.",
    syntax=f"""
        multimem.ld_reduce{{.ldsem.scope}}{{.ss}}.op.type d, [a];
        multimem.ld_reduce.weak{{.ss}}.op.type d, [a];
        .ss = {{ .global }};
        .ldsem = {{ .relaxed, .acquire }};
        .scope = {{ .cta, .cluster, .gpu, .sys }};
        .op = {{ .min, .max, .add, .and, .or, .xor }};
        .type = {{ .b32, .b64, .u32, .u64, .s32, .s64 }};
        -----
        multimem.ld_reduce{{.ldsem.scope}}{{.ss}}.op{{.vec}}.type d, [a];
        multimem.ld_reduce.weak{{.ss}}.op{{.vec}}.type d, [a];
        .op = {{ .min, .max, .add }};
        .vec = {{ .v2, .v4, .v8 }};
        .type = {{ {_FLOATS}, {_BYTES} }};
        -----
        multimem.ld_reduce{{.ldsem.scope}}{{.ss}}.add.acc_prec{{.vec}}.type d, [a];
        multimem.ld_reduce.weak{{.ss}}.add.acc_prec{{.vec}}.type d, [a];
        .acc_prec = {{ .acc::f32, .acc::f16 }};
        .type = {{ .f16, .f16x2, .bf16, .bf16x2, {_BYTES} }};
    """,
    operands={"d": writes(count=_COUNT, sink=True), "a": _READ},
    unless=[
        ("vec= +d:sink", "the result cannot be _"),
        *_INTEGER_RULES,
        *_FLOAT_RULES,
        *_FP8_RULES,
        (".min|.max .f32|.f64", ".min and .max take integers and small floats"),
        (f".acc::f32 {_FP8}", "this type adds up in .f16: .acc::f16"),
        (f".acc::f16 !{_FP8}", "this type adds up in .f32: .acc::f32"),
    ],
    since=[("", "8.1", 90), (".acc::f32", "8.2", 90), _FP8_TARGETS],
    example="multimem.ld_reduce.relaxed.sys.global.add.u32 %u32_1, [%u64_1];",
)

instruction(
    "multimem.st",
    section=_SECTION,
    summary="Stores a value to the memory of every GPU that a multimem address maps to.",
    syntax=f"""
        multimem.st{{.stsem.scope}}{{.ss}}{{.vec}}.type [a], b;
        multimem.st.weak{{.ss}}{{.vec}}.type [a], b;
        .ss = {{ .global }};
        .stsem = {{ .relaxed, .release }};
        .scope = {{ .cta, .cluster, .gpu, .sys }};
        .vec = {{ .v2, .v4, .v8 }};
        .type = {{ .b32, .b64, .u32, .u64, .s32, .s64, {_FLOATS}, {_BYTES} }};
    """,
    operands={"a": _WRITTEN, "b": reads(count=_COUNT)},
    unless=[
        *_FLOAT_RULES,
        *_FP8_RULES,
        (".v2|.v4|.v8 .b32|.b64|.u32|.u64|.s32|.s64", "a vector must have a float type in this form"),
    ],
    since=[("", "8.1", 90), _FP8_TARGETS],
    example="multimem.st.relaxed.sys.global.u32 [%u64_1], %u32_1;",
)

instruction(
    "multimem.red",
    section=_SECTION,
    summary="Combines a value with the memory of every GPU that a multimem address maps to.",
    syntax=f"""
        multimem.red{{.redsem.scope}}{{.ss}}.op.type [a], b;
        .ss = {{ .global }};
        .redsem = {{ .relaxed, .release }};
        .scope = {{ .cta, .cluster, .gpu, .sys }};
        .op = {{ .min, .max, .add, .and, .or, .xor }};
        .type = {{ .b32, .b64, .u32, .u64, .s32, .s64 }};
        -----
        multimem.red{{.redsem.scope}}{{.ss}}.add{{.vec}}.type [a], b;
        .vec = {{ .v2, .v4, .v8 }};
        .type = {{ {_FLOATS} }};
        -----
        multimem.red{{.redsem.scope}}{{.ss}}.op.vec.type [a], b;
        .op = {{ .min, .max }};
        .vec = {{ .v2, .v4, .v8 }};
        .type = {{ .f16, .f16x2, .bf16, .bf16x2 }};
    """,
    operands={
        "a": address(_SPACE, access="both", type=".u64", also=("element",)),
        "b": reads(count=_COUNT),
    },
    unless=[*_INTEGER_RULES, *_FLOAT_RULES],
    since=[("", "8.1", 90)],
    notes=["ptxas takes .min and .max of vectors of .f16, .f16x2, .bf16 and .bf16x2 too."],
    example="multimem.red.relaxed.sys.global.add.u32 [%u64_1], %u32_1;",
)

instruction(
    "multimem.st.async",
    section="data-movement-and-conversion-instructions-multimem-st-async",
    summary="Starts a release store to the memory of every GPU that a multimem address maps to.",
    syntax="""
        multimem.st.async.release.scope{.global}.type [a], b;
        multimem.st.async.release.scope{.global}.ftype [a], f;
        .scope = { .gpu, .sys };
        .type = { .b8, .b16, .b32, .b64, .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64 };
        .ftype = { .f32, .f64 };
    """,
    operands={
        "a": address(_SPACE, access="write", type=_SIZED),
        "b": reads(
            {".b8": ".u8", ".b16": ".u16|.f16", ".b32": ".u32|.f32", "": ".type"}, wider=True
        ),
    },
    unless=[("ftype=.f32 +f:float", "a constant of .f32 must be written in the form 0f3F800000")],
    since=[("", "9.3", 100)],
    notes=["ptxas takes an integer register wider than the type, as for st."],
    example="multimem.st.async.release.gpu.global.u32 [%u64_1], %u32_1;",
)

instruction(
    "multimem.red.async",
    section="parallel-synchronization-and-communication-instructions-multimem-red-async",
    summary="Starts a release addition to the memory of every GPU that a multimem address maps to.",
    syntax="""
        multimem.red.async.release.scope{.global}.op.type [a], b;
        .scope = { .gpu, .sys };
        .op = { .add };
        .type = { .u32, .s32, .u64 };
    """,
    operands={"a": address(_SPACE, access="both", type=_SIZED)},
    since=[("", "9.3", 100)],
    example="multimem.red.async.release.gpu.global.add.u32 [%u64_1], %u32_1;",
)

instruction(
    "multimem.cp.async.bulk",
    section="data-movement-and-conversion-instructions-multimem-cp-async-bulk",
    summary="Starts to copy `size` bytes of shared memory to the memory of every GPU that a multimem "
            "address maps to.",
    syntax="""
        multimem.cp.async.bulk{.weak}.dst.src.completion_mechanism{.cp_mask}
            [dstMem], [srcMem], size{, byteMask};
        multimem.cp.async.bulk{.relaxed.scope}.dst.src.completion_mechanism{.cp_mask}.b128
            [dstMem], [srcMem], size{, byteMask};
        .scope = { .cta, .cluster, .gpu, .sys };
        .dst = { .global };
        .src = { .shared::cta };
        .completion_mechanism = { .bulk_group };
    """,
    operands={
        "dstMem": address(".global", access="write"),
        "srcMem": address(".shared"),
        "size": SIZE,
        "byteMask": BYTE_MASK,
    },
    unless=BYTE_MASK_RULES,
    since=[("", "9.1", 90), (".weak|.relaxed", "9.3", 90), (".cp_mask", "9.1", 100)],
    example="multimem.cp.async.bulk.global.shared::cta.bulk_group [%u64_1], [%u64_2], 512;",
)

instruction(
    "multimem.cp.reduce.async.bulk",
    section="data-movement-and-conversion-instructions-multimem-cp-reduce-async-bulk",
    summary="Starts to combine an array of `size` bytes in shared memory, element by element, with the "
            "arrays of every GPU that a multimem address maps to.",
    syntax="""
        multimem.cp.reduce.async.bulk{.relaxed.scope}.dst.src.completion_mechanism.redOp.type
            [dstMem], [srcMem], size;
        multimem.cp.reduce.async.bulk{.relaxed.scope}.dst.src.completion_mechanism.add.noftz.ftype
            [dstMem], [srcMem], size;
        .scope = { .cta, .cluster, .gpu, .sys };
        .dst = { .global };
        .src = { .shared::cta };
        .completion_mechanism = { .bulk_group };
        .redOp = { .and, .or, .xor, .add, .inc, .dec, .min, .max };
        .type = { .f16, .bf16, .b32, .u32, .s32, .b64, .u64, .s64, .f32, .f64 };
        .ftype = { .f16, .bf16, .f32 };
    """,
    operands={
        "dstMem": address(".global", access="both"),
        "srcMem": address(".shared"),
        "size": SIZE,
    },
    unless=REDUCTION_RULES,
    since=[("", "9.1", 90), (".relaxed", "9.3", 90), (".noftz .f32", "9.4", 90)],
    example="multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32"
    " [%u64_1], [%u64_2], %u32_1;",
)
