"""Half precision (PTX ISA, "Half Precision Floating Point Instructions"): f16, bf16, their pairs.

A pair is computed lane by lane. bf16 values live in `.b16` registers, pairs in `.b32`.
"""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import Since, instruction
from ptx_lsp.isa.schema.meaning import Lanes, Operation, Real

_BF16_ARITHMETIC: Since = (".bf16|.bf16x2", "7.8", 90)
_BF16: Since = (".bf16|.bf16x2", "7.0", 80)
_TYPES = """
        .type  = { .f16, .f16x2 };
        .btype = { .bf16, .bf16x2 };
"""

_SUM = f"""
        NAME{{.rnd}}{{.ftz}}{{.sat}}.type d, a, b;
        NAME{{.rnd}}.btype            d, a, b;
        .rnd = {{ .rn }};
        {_TYPES}
"""


@instruction(
    "add",
    section="half-precision-floating-point-instructions-add",
    summary="Adds two half-precision numbers, or two pairs of them.",
    syntax=_SUM.replace("NAME", "add"),
    since=[("", "4.2", 53), _BF16_ARITHMETIC],
    example="add.f16x2 %r1, %r2, %r3;",
)
def add(op: Operation, a: Real, b: Real) -> Real:
    return op.round(a + b)


@instruction(
    "sub",
    section="half-precision-floating-point-instructions-sub",
    summary="Subtracts half-precision b from a, or pair from pair.",
    syntax=_SUM.replace("NAME", "sub"),
    since=[("", "4.2", 53), _BF16_ARITHMETIC],
    example="sub.rn.bf16x2 %r1, %r2, %r3;",
)
def sub(op: Operation, a: Real, b: Real) -> Real:
    return op.round(a - b)


@instruction(
    "mul",
    section="half-precision-floating-point-instructions-mul",
    summary="Multiplies two half-precision numbers, or two pairs of them.",
    syntax=_SUM.replace("NAME", "mul"),
    since=[("", "4.2", 53), _BF16_ARITHMETIC],
    example="mul.f16x2 %r1, %r2, %r3;",
)
def mul(op: Operation, a: Real, b: Real) -> Real:
    return op.round(a * b)


@instruction(
    "fma",
    section="half-precision-floating-point-instructions-fma",
    summary="Multiplies a by b and adds c with a single rounding, in half precision;"
    " .relu turns negative results, .oob those of out-of-bounds inputs, into 0.",
    syntax=f"""
        fma.rnd{{.ftz}}{{.sat}}.type   d, a, b, c;
        fma.rnd{{.ftz}}.relu.type    d, a, b, c;
        fma.brnd{{.relu}}.btype      d, a, b, c;
        fma.rnd.oob{{.relu}}.type    d, a, b, c;
        fma.rnd.oob{{.sat}}.type     d, a, b, c;
        fma.brnd.oob{{.relu}}.btype  d, a, b, c;
        .rnd  = {{ .rn }};
        .brnd = {{ .rn, .rz, .rm, .rp }};
        {_TYPES}
    """,
    since=[("", "4.2", 53), _BF16, (".relu", "7.0", 80), (".oob", "8.1", 90)],
    notes=[
        "ptxas takes every rounding for bf16 and bf16x2; the manual has .rn only.",
        "ptxas takes .oob.sat for f16 and f16x2, which the manual does not have.",
    ],
    example="fma.rn.relu.f16x2 %r1, %r2, %r3, %r4;",
)
def fma(op: Operation, a: Lanes, b: Lanes, c: Lanes) -> Real | Lanes:
    result = op.round(op.float(a) * op.float(b) + op.float(c))
    if not op.has(".oob"):
        return result
    bits = op.bits(result)
    for operand in (a, b, c):
        bits = op.select((operand & 0xFFFF) ^ OUT_OF_BOUNDS, bits, 0)
    return bits


OUT_OF_BOUNDS = 0x7FF7
"""The NaN that stands for an element outside of a tensor (the manual does not give its bits; GPUs fill in
these).
"""


_SIGN = f"""
        NAME{{.ftz}}.type d, a;
        NAME.btype      d, a;
        {_TYPES}
"""


@instruction(
    "neg",
    section="half-precision-floating-point-instructions-neg",
    summary="Changes the sign of a half-precision number, or of a pair.",
    syntax=_SIGN.replace("NAME", "neg"),
    since=[("", "6.0", 53), _BF16],
    example="neg.f16x2 %r1, %r2;",
)
def neg(op: Operation, a: Real) -> Real:
    return -a


@instruction(
    "abs",
    section="half-precision-floating-point-instructions-abs",
    summary="The absolute value of a half-precision number, or of a pair.",
    syntax=_SIGN.replace("NAME", "abs"),
    since=[("", "6.5", 53), _BF16],
    example="abs.bf16x2 %r1, %r2;",
)
def absolute(op: Operation, a: Real) -> Real:
    return abs(a)


_EXTREME = f"""
        NAME{{.ftz}}{{.NaN}}{{.xorsign.abs}}.type d, a, b;
        NAME{{.NaN}}{{.xorsign.abs}}.btype      d, a, b;
        {_TYPES}
"""
_EXTREME_SINCE: tuple[Since, ...] = (("", "7.0", 80), (".xorsign", "7.2", 86))


@instruction(
    "min",
    section="half-precision-floating-point-instructions-min",
    summary="The smaller of two half-precision numbers; a NaN loses, unless .NaN lets it win."
    " With .xorsign.abs, of the absolute values with the product of the signs.",
    syntax=_EXTREME.replace("NAME", "min"),
    since=_EXTREME_SINCE,
    example="min.f16x2 %r1, %r2, %r3;",
)
def least(op: Operation, a: Real, b: Real) -> Real:
    if op.has(".xorsign"):
        return op.signed_like(op.least(abs(a), abs(b)), a, b)
    return op.least(a, b)


@instruction(
    "max",
    section="half-precision-floating-point-instructions-max",
    summary="The larger of two half-precision numbers; a NaN loses, unless .NaN lets it win."
    " With .xorsign.abs, of the absolute values with the product of the signs.",
    syntax=_EXTREME.replace("NAME", "max"),
    since=_EXTREME_SINCE,
    example="max.NaN.bf16x2 %r1, %r2, %r3;",
)
def greatest(op: Operation, a: Real, b: Real) -> Real:
    if op.has(".xorsign"):
        return op.signed_like(op.greatest(abs(a), abs(b)), a, b)
    return op.greatest(a, b)


@instruction(
    "tanh",
    section="half-precision-floating-point-instructions-tanh",
    summary="Approximates the hyperbolic tangent in half precision.",
    syntax="tanh.approx.type d, a; .type = { .f16, .f16x2, .bf16, .bf16x2 };",
    since=[("", "7.0", 75), _BF16_ARITHMETIC],
    example="tanh.approx.f16x2 %r1, %r2;",
)
def tanh(op: Operation, a: Real) -> Real:
    return op.approximation("tanh", a)


@instruction(
    "ex2",
    section="half-precision-floating-point-instructions-ex2",
    summary="Approximates 2 to the power of a in half precision.",
    syntax=f"ex2.approx.type d, a; ex2.approx.ftz.btype d, a; {_TYPES}",
    since=[("", "7.0", 75), _BF16_ARITHMETIC],
    example="ex2.approx.f16x2 %r1, %r2;",
)
def ex2(op: Operation, a: Real) -> Real:
    return op.approximation("ex2", a)
