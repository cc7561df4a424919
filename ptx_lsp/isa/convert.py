"""Conversion of numbers (PTX ISA, "Data Movement and Conversion Instructions", cvt, cvt.pack).

The formats of 8 bits and less, and all that are packed, have their rows in `convert_packed`.
"""

from __future__ import annotations

from ptx_lsp.isa.entry import instruction
from ptx_lsp.isa.meaning import Lanes, Operation
from ptx_lsp.isa.operand import reads, writes

_SECTION = "data-movement-and-conversion-instructions-cvt"
_INTEGERS = "{ .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64 }"
_FLOATS = "{ .f16, .bf16, .f32, .f64 }"
_INTEGER_ROUNDING = ".irnd = { .rni, .rzi, .rmi, .rpi };"
_FLOAT_ROUNDING = ".frnd = { .rn, .rz, .rm, .rp };"
_OPERANDS = {"d": writes(".type", wider=True), "a": reads(".atype", wider=True)}

_FLUSH = (".ftz", "1.4", 10)
_BRAIN = (".bf16", "7.8", 90)
_NO_FLUSH = (".ftz !.f32", ".ftz is for conversions from or to .f32")
_NO_BRAIN_SATURATION = (".sat .bf16", ".sat does not go with .bf16")

# The source types whose every value the destination holds: .sat is refused there.
_HELD = {
    ".u8": ".u8",
    ".u16": ".u8|.u16",
    ".u32": ".u8|.u16|.u32",
    ".u64": ".u8|.u16|.u32|.u64",
    ".s8": ".s8",
    ".s16": ".u8|.s8|.s16",
    ".s32": ".u8|.u16|.s8|.s16|.s32",
    ".s64": ".u8|.u16|.u32|.s8|.s16|.s32|.s64",
}


@instruction(
    "cvt",
    section=_SECTION,
    summary="Converts an integer to another size or sign: extended or chopped, or with .sat"
    " limited to what the new type holds.",
    syntax=f"""
        cvt{{.sat}}.type.atype d, a;
        .type = .atype = {_INTEGERS};
    """,
    operands=_OPERANDS,
    unless=[
        (f".sat type={wide} atype={held}", f".sat has no use here: {wide} holds every such value")
        for wide, held in _HELD.items()
    ],
    since=[("", "1.0", 10)],
    example="cvt.s64.s32 %rd1, %r1;",
)
def convert_integer(op: Operation, a: Lanes) -> Lanes:
    return op.clamp(a) if op.has(".sat") else a


instruction(
    "cvt",
    section=_SECTION,
    summary="Converts a float to an integer, rounded as the modifier says and limited to what the"
    " integer type holds.",
    syntax=f"""
        cvt.irnd{{.ftz}}{{.sat}}.type.atype d, a;
        {_INTEGER_ROUNDING}
        .type  = {_INTEGERS};
        .atype = {_FLOATS};
    """,
    operands=_OPERANDS,
    unless=[_NO_FLUSH, _NO_BRAIN_SATURATION],
    since=[("", "1.0", 10), _FLUSH, _BRAIN],
    example="cvt.rzi.s32.f32 %r1, %f1;",
)

instruction(
    "cvt",
    section=_SECTION,
    summary="Converts an integer to a float, rounded as the modifier says.",
    syntax=f"""
        cvt.frnd{{.ftz}}{{.sat}}.type.atype d, a;
        {_FLOAT_ROUNDING}
        .type  = {_FLOATS};
        .atype = {_INTEGERS};
    """,
    operands=_OPERANDS,
    unless=[_NO_FLUSH, _NO_BRAIN_SATURATION],
    since=[("", "1.0", 10), _FLUSH, _BRAIN],
    example="cvt.rn.f32.s32 %f1, %r1;",
)

instruction(
    "cvt",
    section=_SECTION,
    summary="Rounds a float to an integer that stays a float; without a rounding modifier it only"
    " copies, flushes or saturates.",
    syntax=f"""
        cvt{{.irnd}}{{.ftz}}{{.sat}}.type.atype d, a;
        .type = .atype = {{ .f32 }};
        {_INTEGER_ROUNDING}
        -----
        cvt{{.irnd}}{{.sat}}.type.atype d, a;
        .type = .atype = {{ .f16 }};
        -----
        cvt{{.irnd}}{{.sat}}.type.atype d, a;
        .type = .atype = {{ .f64 }};
        -----
        cvt{{.irnd}}.type.atype d, a;
        .type = .atype = {{ .bf16 }};
    """,
    operands=_OPERANDS,
    since=[("", "1.0", 10), _FLUSH, _BRAIN],
    example="cvt.rni.f32.f32 %f1, %f2;",
)

instruction(
    "cvt",
    section=_SECTION,
    summary="Converts a float to a larger format, which holds its value exactly.",
    syntax=f"""
        cvt{{.ftz}}{{.sat}}.type.atype d, a;
        .type  = {{ .f32 }};
        .atype = {{ .f16 }};
        -----
        cvt{{.ftz}}{{.sat}}.type.atype d, a;
        .type  = {{ .f64 }};
        .atype = {{ .f32 }};
        -----
        cvt{{.sat}}.type.atype d, a;
        .type  = {{ .f64 }};
        .atype = {{ .f16 }};
        -----
        cvt{{.frnd}}{{.ftz}}.type.atype d, a;
        .type  = {{ .f32 }};
        .atype = {{ .bf16 }};
        {_FLOAT_ROUNDING}
        -----
        cvt{{.frnd}}.type.atype d, a;
        .type  = {{ .f64, .f16 }};
        .atype = {{ .bf16 }};
        -----
        cvt{{.frnd}}.type.atype d, a;
        .type  = {{ .bf16 }};
        .atype = {{ .f16 }};
    """,
    operands=_OPERANDS,
    since=[
        ("", "1.0", 10),
        _FLUSH,
        ("type=.f32 atype=.bf16", "7.1", 80),
        ("type=.f32 atype=.bf16 .ftz|.rn|.rz|.rm|.rp", "7.8", 90),
        ("type=.f64|.f16 atype=.bf16", "7.8", 90),
        ("type=.bf16 atype=.f16", "7.8", 90),
    ],
    notes=["ptxas takes a rounding modifier with .bf16, and none from .f16 to .bf16 and back."],
    example="cvt.f64.f32 %fd1, %f1;",
)

instruction(
    "cvt",
    section=_SECTION,
    summary="Converts a float to a smaller format, rounded as the modifier says.",
    syntax=f"""
        cvt.frnd{{.ftz}}{{.sat}}.type.atype d, a;
        .type  = {{ .f32 }};
        .atype = {{ .f64 }};
        {_FLOAT_ROUNDING}
        -----
        cvt.frnd{{.ftz}}{{.sat}}.type.atype d, a;
        .type  = {{ .f16 }};
        .atype = {{ .f32 }};
        -----
        cvt.frnd{{.sat}}.type.atype d, a;
        .type  = {{ .f16 }};
        .atype = {{ .f64 }};
        -----
        cvt.frnd.type.atype d, a;
        .type  = {{ .bf16 }};
        .atype = {{ .f64 }};
        -----
        cvt.frnd{{.ftz}}.type.atype d, a;
        .type  = {{ .bf16 }};
        .atype = {{ .f32 }};
    """,
    operands=_OPERANDS,
    since=[
        ("", "1.0", 10),
        _FLUSH,
        (".bf16 .f64", "7.8", 90),
        (".bf16 .f32", "7.0", 80),
        (".bf16 .f32 .rm|.rp|.ftz", "7.8", 90),
    ],
    example="cvt.rn.f16.f32 %rs1, %f1;",
)

instruction(
    "cvt",
    section=_SECTION,
    summary="Converts .f32 to a 16-bit float. With .relu negative values give 0, with .satfinite"
    " large ones the largest finite number, with .pzo there is no -0.",
    syntax="""
        cvt.frnd2{.relu}{.satfinite}{.pzo}.type.f32 d, a;
        .type  = { .f16, .bf16 };
        .frnd2 = { .rn, .rz };
    """,
    operands={"d": writes(".type", wider=True), "a": reads(".f32", wider=True)},
    since=[
        ("", "7.0", 80),
        (".satfinite", "8.1", 80),
        (".pzo", "9.4", "sm_107f"),
    ],
    example="cvt.rn.relu.f16.f32 %rs1, %f1;",
)

instruction(
    "cvt",
    section=_SECTION,
    summary="Rounds .f32 to the .tf32 of tensor cores, held in 32 bits.",
    syntax="""
        cvt.rna{.satfinite}.tf32.f32 d, a;
        cvt.frnd2{.satfinite}{.relu}{.pzo}.tf32.f32 d, a;
        .frnd2 = { .rn, .rz };
    """,
    operands={"d": writes(".tf32"), "a": reads(".f32", wider=True)},
    since=[
        ("", "7.0", 80),
        (".rn|.rz", "7.8", 90),
        (".satfinite", "8.1", 80),
        (".satfinite .rn|.rz", "8.6", 100),
        (".pzo", "9.4", "sm_107f"),
    ],
    example="cvt.rna.tf32.f32 %r1, %f1;",
)

instruction(
    "cvt.pack",
    section="data-movement-and-conversion-instructions-cvt-pack",
    summary="Limits two integers to a smaller type and puts them side by side, b lowest;"
    " c, shifted left, fills the rest.",
    syntax="""
        cvt.pack.sat.ctype.s32     d, a, b;
        .ctype = { .u16, .s16 };
        -----
        cvt.pack.sat.ctype.s32.b32 d, a, b, c;
        .ctype = { .u2, .s2, .u4, .s4, .u8, .s8 };
    """,
    operands={
        "d": writes(".u32"),
        "a": reads(".s32"),
        "b": reads(".s32"),
        "c": reads(".b32"),
    },
    since=[("", "6.5", 72), (".u2|.s2|.u4|.s4", "6.5", 75)],
    example="cvt.pack.sat.u8.s32.b32 %r1, %r2, %r3, %r4;",
)
