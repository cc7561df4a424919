"""Conversion of packed and small floats (PTX ISA, "Data Movement and Conversion", cvt).

Two results are packed into one register, the first source in the upper half. `.satfinite` turns
what is too large into the largest finite number, `.relu` what is negative into 0, `.pzo` -0 into 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptx_lsp.isa.schema.entry import Since, instruction
from ptx_lsp.isa.schema.meaning import Lanes, Operation, Real
from ptx_lsp.isa.schema.operand import only, reads, writes

_SECTION = "data-movement-and-conversion-instructions-cvt"
_EIGHT = ".e4m3x2, .e5m2x2"
_SMALL = ".e2m3x2, .e3m2x2, .e2m1x2"
_SIX_AND_FOUR = ".e2m3x2|.e3m2x2|.e2m1x2"
_FAMILIES = "sm_100f sm_110f sm_120f"
_PACKED = {"d": writes(".type"), "a": reads(".atype")}
_OPERANDS = _PACKED | {"b": reads(".atype")}
# Where ptxas does not ask that a register with two .bf16 be untyped.
_LOOSE = reads(
    {
        f"atype=.bf16x2 {_SIX_AND_FOUR}": ".b32",
        "atype=.bf16x2 .scaled::n1::ue8m0": ".b32|.pred",
        "": ".atype",
    },
    count={"atype=.bf16x2 .scaled::n1::ue8m0": (0, 1), "": 0},
)
_ONE_SCALE = {"scale": only("register", type=".ue8m0")}
_TWO_SCALES = {"scale": only("register", type=".ue8m0x2")}
# Like a packed format, random bits must be in a register without a type.
_RANDOM = {"rbits": only("register", type=".ue8m0x4", what="a `.b32` register")}
_PZO_NOTE = "The manual has .pzo with .rs; ptxas 13.5 refuses it."

_EIGHT_SINCE = (".e4m3x2|.e5m2x2", "7.8", 90, "8.1", 89)
_SMALL_SINCE = (_SIX_AND_FOUR, "8.6", _FAMILIES)
_LATER = [(".rz|.pzo|.scaled::n1::ue8m0", "9.4", "sm_107f")]

_PAIR_SINCE: Sequence[Since] = [
    ("", "7.0", 80),
    (".satfinite", "8.1", 80),
    (".rs", "8.7", "sm_100a sm_103a sm_107a"),
    (".pzo", "9.4", "sm_107f"),
]

_LOOSE_SCALED = reads(
    {"atype=.bf16x2 .scaled::n1::ue8m0": ".b32|.pred", "": ".atype"},
    count={"atype=.bf16x2 .scaled::n1::ue8m0": (0, 1), "": 0},
)
_LOOSE_SCALE = {"scale": reads({".scaled::n1::ue8m0": ".ue8m0", "atype=.bf16x2": ".u8|.u16", "": ".u8"})}


@instruction(
    "cvt",
    section=_SECTION,
    summary="Converts two .f32 to .f16, packed: a becomes the upper half.",
    syntax="""
        cvt.frnd2{.relu}{.satfinite}{.pzo}.f16x2.f32 d, a, b;
        cvt.rs{.relu}{.satfinite}.f16x2.f32          d, a, b, rbits;
        .frnd2 = { .rn, .rz };
    """,
    operands={
        "d": writes(".f16x2", wider=True),
        "a": reads(".f32", wider=True),
        "b": reads(".f32", wider=True),
    }
    | _RANDOM,
    since=_PAIR_SINCE,
    notes=[_PZO_NOTE],
    example="cvt.rn.f16x2.f32 %r1, %f1, %f2;",
)
def to_halves(op: Operation, a: Real, b: Real, rbits: Lanes | None = None) -> Lanes:
    if rbits is None:
        return _packed(op, 16, op.round(a), op.round(b))
    upper, lower = (rbits >> 16) & 0x1FFF, rbits & 0x1FFF
    return _packed(op, 16, op.stochastic(a, upper, 13), op.stochastic(b, lower, 13))


@instruction(
    "cvt",
    section=_SECTION,
    summary="Converts two .f32 to .bf16, packed: a becomes the upper half.",
    syntax="""
        cvt.frnd2{.relu}{.satfinite}{.pzo}.bf16x2.f32 d, a, b;
        cvt.rs{.relu}{.satfinite}.bf16x2.f32          d, a, b, rbits;
        .frnd2 = { .rn, .rz };
    """,
    operands={"d": writes(".bf16x2")} | _RANDOM,
    since=_PAIR_SINCE,
    notes=[_PZO_NOTE],
    example="cvt.rn.bf16x2.f32 %r1, %f1, %f2;",
)
def to_brains(op: Operation, a: Real, b: Real, rbits: Lanes | None = None) -> Lanes:
    if rbits is None:
        return _packed(op, 16, op.round(a), op.round(b))
    upper, lower = rbits >> 16, rbits & 0xFFFF
    return _packed(op, 16, op.stochastic(a, upper, 16), op.stochastic(b, lower, 16))


def _packed(op: Operation, width: int, *elements: Real) -> Lanes:
    """Elements side by side, the first one uppermost."""
    first, *others = elements
    packed = op.bits(first)
    for element in others:
        packed = (packed << width) | op.bits(element)
    return packed


@instruction(
    "cvt",
    section=_SECTION,
    summary="Converts two .f32 to a format of 8, 6 or 4 bits, packed: a becomes the upper half."
    " With a scale (.ue8m0) they are divided by it first.",
    syntax=f"""
        cvt.frnd2.satfinite{{.relu}}{{.pzo}}.type.atype                     d, a, b;
        cvt.frnd2.satfinite{{.relu}}{{.pzo}}.scaled::n1::ue8m0.type.atype   d, a, b, scale;
        .frnd2 = {{ .rn, .rz }};
        .type  = {{ {_EIGHT}, {_SMALL} }};
        .atype = {{ .f32 }};
    """,
    operands=_OPERANDS | _ONE_SCALE,
    since=[("", "7.8", 89), _EIGHT_SINCE, _SMALL_SINCE, *_LATER],
    example="cvt.rn.satfinite.e4m3x2.f32 %rs1, %f1, %f2;",
)
def to_small(op: Operation, a: Real, b: Real, scale: Lanes | None = None) -> Lanes:
    return _divided(op, a, b, scale, scale)


def _divided(
    op: Operation, a: Real, b: Real, of_a: Lanes | None, of_b: Lanes | None
) -> Lanes:
    """Both numbers, divided by their scales, in the type of the instruction."""
    x = a if of_a is None else a / op.scale(of_a)
    y = b if of_b is None else b / op.scale(of_b)
    return _packed(op, op.width, op.round(x), op.round(y))


@instruction(
    "cvt",
    section=_SECTION,
    summary="Converts two packed .f16 or .bf16 to a format of 8, 6 or 4 bits."
    " With a scale (.ue8m0) they are divided by it first.",
    syntax=f"""
        cvt.frnd2.satfinite{{.relu}}{{.pzo}}.type.atype                     d, a;
        cvt.frnd2.satfinite{{.relu}}{{.pzo}}.scaled::n1::ue8m0.type.atype   d, a, scale;
        .frnd2 = {{ .rn, .rz }};
        .type  = {{ {_EIGHT}, {_SMALL} }};
        .atype = {{ .f16x2, .bf16x2 }};
    """,
    operands=_PACKED | _ONE_SCALE | {"a": _LOOSE},
    since=[
        ("", "7.8", 89),
        _EIGHT_SINCE,
        (_SIX_AND_FOUR, "9.1", _FAMILIES),
        (".bf16x2", "9.1", _FAMILIES),
        *_LATER,
    ],
    example="cvt.rn.satfinite.e5m2x2.f16x2 %rs1, %r1;",
)
def pairs_to_small(op: Operation, a: Real, scale: Lanes | None = None) -> Real:
    return op.round(a if scale is None else a / op.scale(scale))


@instruction(
    "cvt",
    section=_SECTION,
    summary="Converts two packed numbers of 8, 6 or 4 bits to .f16 or .bf16."
    " With two scales (.ue8m0, packed) the results are multiplied by them.",
    syntax=f"""
        cvt.rn{{.relu}}.type.atype d, a;
        .type  = {{ .f16x2 }};
        .atype = {{ {_EIGHT}, {_SMALL} }};
        -----
        cvt.rn{{.relu}}{{.satfinite}}.type.atype                    d, a;
        cvt.rn{{.relu}}{{.satfinite}}.scaled::n2::ue8m0.type.atype  d, a, scale;
        .type  = {{ .bf16x2 }};
    """,
    operands=_PACKED | _TWO_SCALES,
    since=[("", "7.8", 89), _EIGHT_SINCE, _SMALL_SINCE, (".bf16x2", "9.2", _FAMILIES)],
    example="cvt.rn.f16x2.e4m3x2 %r1, %rs1;",
)
def small_to_pairs(op: Operation, a: Real, scale: Lanes | None = None) -> Real:
    return op.round(a if scale is None else a * op.scale(scale))


@instruction(
    "cvt",
    section=_SECTION,
    summary="Converts four .f32 to a format of 8, 6 or 4 bits, packed, rounded by random bits.",
    syntax="""
        cvt.rs{.relu}.satfinite.type.f32 d, {a, b, e, f}, rbits;
        .type = { .e4m3x4, .e5m2x4, .e2m3x4, .e3m2x4, .e2m1x4 };
    """,
    operands={"d": writes(".type")} | {part: reads(".f32") for part in "abef"} | _RANDOM,
    since=[("", "8.7", "sm_100a sm_103a sm_107a")],
    notes=[_PZO_NOTE],
    example="cvt.rs.satfinite.e4m3x4.f32 %r1, {%f1, %f2, %f3, %f4}, %r2;",
)
def to_four(op: Operation, a: Real, b: Real, e: Real, f: Real, rbits: Lanes) -> Lanes:
    if op.width == 4:
        upper = ((rbits >> 16) & 0xFF00) | ((rbits >> 8) & 0xFF)
        lower = ((rbits >> 8) & 0xFF00) | (rbits & 0xFF)
    else:
        upper, lower = rbits >> 16, rbits & 0xFFFF
    values = ((a, _reversed(upper)), (b, upper), (e, _reversed(lower)), (f, lower))
    return _packed(op, op.width, *(op.stochastic(value, random, 16) for value, random in values))


def _reversed(bits: Lanes) -> Lanes:
    """The 16 bits in reverse order. Two elements share them: by what has been seen of GPUs (the manual shows
    no more than a figure) the first of both takes them from behind.
    """
    for by, mask in ((8, 0x00FF), (4, 0x0F0F), (2, 0x3333), (1, 0x5555)):
        bits = ((bits & mask) << by) | ((bits >> by) & mask)
    return bits


@instruction(
    "cvt",
    section=_SECTION,
    summary="Converts two numbers to .ue8m0, powers of two for scaling, or back to .bf16.",
    syntax="""
        cvt.frnd3{.satfinite}.type.atype d, a, b;
        .type  = { .ue8m0x2 };
        .atype = { .f32 };
        .frnd3 = { .rz, .rp };
        -----
        cvt.frnd3{.satfinite}.type.atype d, a;
        .type  = { .ue8m0x2 };
        .atype = { .bf16x2 };
        -----
        cvt.rn.type.atype d, a;
        .type  = { .bf16x2 };
        .atype = { .ue8m0x2 };
    """,
    operands=_OPERANDS,
    since=[("", "8.6", _FAMILIES)],
    example="cvt.rp.satfinite.ue8m0x2.f32 %rs1, %f1, %f2;",
)
def powers(op: Operation, a: Real, b: Real | None = None) -> Lanes | Real:
    return op.round(a) if b is None else _packed(op, 8, op.round(a), op.round(b))


@instruction(
    "cvt",
    section=_SECTION,
    summary="Converts two numbers to .s2f6, fixed point with six fraction bits, or back to .bf16. Two "
            "scales (.ue8m0, packed) divide the inputs, or multiply the results.",
    syntax="""
        cvt.frnd2.satfinite{.relu}.type.atype                     d, a, b;
        cvt.frnd2.satfinite{.relu}.scaled::n2::ue8m0.type.atype   d, a, b, scale;
        .type  = { .s2f6x2 };
        .atype = { .f32 };
        .frnd2 = { .rn, .rz };
        -----
        cvt.frnd2.satfinite{.relu}.type.atype                     d, a;
        cvt.frnd2.satfinite{.relu}.scaled::n2::ue8m0.type.atype   d, a, scale;
        .type  = { .s2f6x2 };
        .atype = { .bf16x2 };
        -----
        cvt.rn{.satfinite}{.relu}.type.atype                      d, a;
        cvt.rn{.satfinite}{.relu}.scaled::n2::ue8m0.type.atype    d, a, scale;
        .type  = { .bf16x2 };
        .atype = { .s2f6x2 };
    """,
    operands=_OPERANDS | _TWO_SCALES | {"d": writes({"type=.s2f6x2": ".b16", "": ".type"})},
    since=[("", "9.1", "sm_100a sm_103a sm_107a sm_110a sm_120a sm_121a"), (".rz", "9.4", "sm_107a")],
    example="cvt.rn.satfinite.s2f6x2.f32 %rs1, %f1, %f2;",
)
def fixed(
    op: Operation, a: Real, b: Real | None = None, scale: Lanes | None = None
) -> Lanes | Real:
    if b is not None:
        return _divided(op, a, b, scale and scale >> 8, scale)
    if scale is None:
        return op.round(a)
    by = op.scale(scale)
    return op.round(a * by if op.slot("type") == ".bf16x2" else a / by)


@instruction(
    "cvt",
    section=_SECTION,
    summary="Converts two numbers to .ue5m3, which has no sign. With a scale (.ue8m0) they are"
    " divided by it first.",
    syntax="""
        cvt.frnd4{.satfinite}.type.atype                      d, a, b;
        cvt.frnd2{.satfinite}.scaled::n1::ue8m0.type.atype    d, a, b, scale;
        .type  = { .ue5m3x2 };
        .atype = { .f32 };
        .frnd2 = { .rn, .rz };
        .frnd4 = { .rn, .rz, .rp };
        -----
        cvt.frnd4{.satfinite}.type.atype                      d, a{, scale};
        cvt.frnd2{.satfinite}.scaled::n1::ue8m0.type.atype    d, a, scale;
        .type  = { .ue5m3x2 };
        .atype = { .f16x2, .bf16x2 };
    """,
    operands=_OPERANDS | _LOOSE_SCALE | {"a": _LOOSE_SCALED},
    since=[("", "9.4", "sm_107f")],
    notes=["ptxas takes a scale for packed sources without .scaled, too."],
    example="cvt.rn.satfinite.ue5m3x2.f32 %rs1, %f1, %f2;",
)
def to_unsigned(
    op: Operation, a: Real, b: Real | None = None, scale: Lanes | None = None
) -> Lanes | Real:
    if b is not None:
        return _divided(op, a, b, scale, scale)
    return op.round(a if scale is None else a / op.scale(scale))


@instruction(
    "cvt",
    section=_SECTION,
    summary="Converts two packed .ue5m3 to .f16 or .bf16; two scales (.ue8m0, packed) multiply the"
    " results.",
    syntax="""
        cvt.rn.type.atype d, a;
        .type  = { .f16x2 };
        .atype = { .ue5m3x2 };
        -----
        cvt.rn{.satfinite}.type.atype                      d, a;
        cvt.rn{.satfinite}.scaled::n2::ue8m0.type.atype    d, a, scale;
        .type  = { .bf16x2 };
    """,
    operands=_PACKED | _TWO_SCALES,
    since=[("", "9.4", "sm_107f")],
    example="cvt.rn.f16x2.ue5m3x2 %r1, %rs1;",
)
def from_unsigned(op: Operation, a: Real, scale: Lanes | None = None) -> Real:
    return op.round(a if scale is None else a * op.scale(scale))
