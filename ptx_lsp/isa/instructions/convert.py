"""Conversion of numbers (PTX ISA, "Data Movement and Conversion Instructions", cvt, cvt.pack).

The formats of 8 bits and less, and all that are packed, have their rows in `convert_packed`.
"""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.meaning import Lanes, Operation, Real
from ptx_lsp.isa.schema.operand import only, reads, writes

_SECTION = "data-movement-and-conversion-instructions-cvt"
_INTEGERS = "{ .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64 }"
_FLOATS = "{ .f16, .f32, .f64 }"
_INTEGER_ROUNDING = ".irnd = { .rni, .rzi, .rmi, .rpi };"
_FLOAT_ROUNDING = ".frnd = { .rn, .rz, .rm, .rp };"
_OPERANDS = {
    "d": writes(".type", wider=True),
    "a": reads(".atype", wider=True),
}
_INTEGER_SOURCE = {"a": reads(".atype", wider=True, also=("special",))}

_FLUSH = [(".ftz", "1.4", 10), (".ftz type=.u64|.s64|.f64", "1.5", 10)]
_NO_FLUSH = (".ftz !.f32", "`.ftz` is for conversions from or to `.f32`")

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
    operands=_OPERANDS | _INTEGER_SOURCE,
    unless=[
        (f".sat type={wide} atype={held}", f"`.sat` has no effect: `{wide}` can represent every such value")
        for wide, held in _HELD.items()
    ],
    since=[("", "1.0", 10)],
    example="cvt.s64.s32 %rd1, %r1;",
)
def convert_integer(op: Operation, a: Lanes) -> Lanes:
    return op.clamp(a) if op.has(".sat") else a


@instruction(
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
    unless=[_NO_FLUSH],
    since=[("", "1.0", 10), *_FLUSH],
    example="cvt.rzi.s32.f32 %r1, %f1;",
)
def float_to_integer(op: Operation, a: Real) -> Lanes:
    return op.integer(a)


@instruction(
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
    unless=[_NO_FLUSH],
    since=[("", "1.0", 10), *_FLUSH],
    example="cvt.rn.f32.s32 %f1, %r1;",
)
def integer_to_float(op: Operation, a: Lanes) -> Real:
    return op.round(op.real(a))


@instruction(
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
    """,
    operands=_OPERANDS,
    since=[("", "1.0", 10), *_FLUSH],
    example="cvt.rni.f32.f32 %f1, %f2;",
)
def round_to_integer(op: Operation, a: Real) -> Real:
    return op.whole(a) if op.slot("irnd") else op.round(a)


@instruction(
    "cvt",
    section=_SECTION,
    summary="Converts a float to a larger format, which holds its value exactly.",
    syntax="""
        cvt{.ftz}{.sat}.type.atype d, a;
        .type  = { .f32 };
        .atype = { .f16 };
        -----
        cvt{.ftz}{.sat}.type.atype d, a;
        .type  = { .f64 };
        .atype = { .f32 };
        -----
        cvt{.sat}.type.atype d, a;
        .type  = { .f64 };
        .atype = { .f16 };
    """,
    operands=_OPERANDS,
    since=[("", "1.0", 10), *_FLUSH],
    example="cvt.f64.f32 %fd1, %f1;",
)
def widen(op: Operation, a: Real) -> Real:
    return op.round(a)


@instruction(
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
    """,
    operands=_OPERANDS,
    since=[("", "1.0", 10), *_FLUSH],
    example="cvt.rn.f16.f32 %rs1, %f1;",
)
def narrow(op: Operation, a: Real) -> Real:
    return op.round(a)


_RELU = (
    " With .relu negative values give 0, with .satfinite large ones the largest finite number,"
    " with .pzo there is no -0."
)


@instruction(
    "cvt",
    section=_SECTION,
    summary="Converts .f32 to .f16." + _RELU,
    syntax="""
        cvt.frnd2{.relu}{.satfinite}{.pzo}.f16.f32 d, a;
        cvt.frnd.pzo.f16.f32 d, a;
        .frnd2 = { .rn, .rz };
        .frnd  = { .rn, .rz, .rm, .rp };
    """,
    operands={"d": writes(".f16", wider=True), "a": reads(".f32", wider=True)},
    since=[
        ("", "1.0", 10),
        (".relu", "7.0", 80),
        (".satfinite", "8.1", 70),
        (".pzo", "9.4", "sm_107f"),
    ],
    notes=[
        "The manual asks for sm_80 with .satfinite; ptxas takes sm_70.",
        "ptxas takes .rm and .rp with .pzo, which the manual does not have.",
    ],
    example="cvt.rn.relu.f16.f32 %rs1, %f1;",
)
def to_half(op: Operation, a: Real) -> Real:
    return op.round(a)


@instruction(
    "cvt",
    section=_SECTION,
    summary="Converts from or to .bf16. Registers must have the size of their type.",
    syntax=f"""
        cvt.irnd.type.atype d, a;
        .type  = {_INTEGERS};
        .atype = {{ .bf16 }};
        {_INTEGER_ROUNDING}
        -----
        cvt.frnd.type.atype d, a;
        .type  = {{ .bf16 }};
        .atype = {{ .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64, .f64 }};
        {_FLOAT_ROUNDING}
        -----
        cvt{{.irnd}}.type.atype d, a;
        .type = .atype = {{ .bf16 }};
        -----
        cvt{{.frnd}}.type.atype d, a;
        .type  = {{ .f16, .f64 }};
        .atype = {{ .bf16 }};
        -----
        cvt{{.frnd}}.type.atype d, a;
        .type  = {{ .bf16 }};
        .atype = {{ .f16 }};
    """,
    operands={"a": reads(".atype")},
    since=[("", "7.8", 90)],
    notes=["ptxas requires no rounding between .f16 and .bf16, and accepts one from .bf16 to .f64."],
    example="cvt.rn.bf16.s32 %rs1, %r1;",
)
def brain(op: Operation, a: Real) -> Real | Lanes:
    if op.slot("type") in _HELD:
        return op.integer(a)
    return op.whole(a) if op.slot("irnd") else op.round(a)


@instruction(
    "cvt",
    section=_SECTION,
    summary="Converts .bf16 to .f32, which holds its value exactly.",
    syntax=f"cvt{{.frnd}}{{.ftz}}.f32.bf16 d, a; {_FLOAT_ROUNDING}",
    operands={"d": writes(".f32")},
    since=[("", "7.1", 80), (".ftz", "7.8", 90)],
    notes=["ptxas takes a rounding modifier, though nothing is rounded."],
    example="cvt.f32.bf16 %f1, %rs1;",
)
def from_brain(op: Operation, a: Real) -> Real:
    return op.round(a)


@instruction(
    "cvt",
    section=_SECTION,
    summary="Converts .f32 to .bf16." + _RELU,
    syntax=f"""
        cvt.frnd{{.ftz}}{{.pzo}}.bf16.f32 d, a;
        cvt.frnd2{{.relu}}{{.satfinite}}{{.pzo}}.bf16.f32 d, a;
        {_FLOAT_ROUNDING}
        .frnd2 = {{ .rn, .rz }};
    """,
    operands={"d": writes(".bf16")},
    since=[("", "7.0", 80), (".satfinite", "8.1", 80), (".pzo", "9.4", "sm_107f")],
    notes=["ptxas takes .rm and .rp, and .ftz, which the manual does not have."],
    example="cvt.rn.bf16.f32 %rs1, %f1;",
)
def to_brain(op: Operation, a: Real) -> Real:
    return op.round(a)


@instruction(
    "cvt",
    section=_SECTION,
    summary="Rounds .f32 to the .tf32 of tensor cores, held in 32 bits." + _RELU,
    syntax="""
        cvt.rna{.satfinite}.tf32.f32 d, b;
        cvt.frnd2{.satfinite}{.relu}{.pzo}.tf32.f32 d, a;
        .frnd2 = { .rn, .rz };
    """,
    operands={"d": writes(".tf32"), "b": only("register", "single", type=".f32")},
    since=[
        ("", "7.0", 80),
        (".rn|.rz", "7.8", 90),
        (".satfinite", "8.1", 80),
        (".satfinite .rn|.rz", "8.6", 100),
        (".pzo", "9.4", "sm_107f"),
    ],
    example="cvt.rna.tf32.f32 %r1, %f1;",
)
def to_tf32(op: Operation, b: Real) -> Real:
    return op.round(b)


@instruction(
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
        "d": writes(".u32", wider=True),
        "a": reads(".s32", wider=True),
        "b": reads(".s32", wider=True),
        "c": reads(".b32", wider=True),
    },
    since=[("", "6.5", 72), (".u2|.s2|.u4|.s4", "6.5", 75)],
    example="cvt.pack.sat.u8.s32.b32 %r1, %r2, %r3, %r4;",
)
def convert_pack(op: Operation, a: Lanes, b: Lanes, c: Lanes | None = None) -> Lanes:
    type = op.slot("ctype")
    width = int(type[2:])
    low = -(1 << (width - 1)) if type.startswith(".s") else 0
    mask = (1 << width) - 1
    packed = (_limited(op, a, low, low + mask) & mask) << width
    packed = packed | (_limited(op, b, low, low + mask) & mask)
    return packed if c is None else packed | (c << (2 * width))


def _limited(op: Operation, value: Lanes, low: int, high: int) -> Lanes:
    return op.select(value < low, low, op.select(value <= high, value, high))
