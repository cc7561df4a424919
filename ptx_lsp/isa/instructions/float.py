"""Floating point (PTX ISA, section "Floating Point Instructions"): f32, f64 and the packed f32x2.

Up to PTX ISA 1.3 the approximate instructions needed no `.approx`, and `.ftz` did not exist.
"""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import Since, Until, instruction
from ptx_lsp.isa.schema.meaning import Lanes, Operation, Real
from ptx_lsp.isa.schema.operand import predicate

_ROUNDINGS = ".rnd = { .rn, .rz, .rm, .rp };"
_FTZ: Since = (".ftz", "1.4", 10)
_PAIR: Since = (".f32x2", "8.6", 100)
_DIRECTED: Since = (".rm|.rp .f32", "2.0", 20)
_DIRECTED_64: Since = (".rm|.rp .f64", "1.0", 13)
_EXPLICIT: tuple[Since, ...] = (
    (".approx|.ftz", "1.4", 10),
    (".rn|.rz|.rm|.rp .f32", "2.0", 20),
)
_DIVIDED_64: Since = (".rz|.rm|.rp .f64", "2.0", 20)
_WAY: Until = (
    "!.approx|.rn|.rz|.rm|.rp",
    "1.4",
    10,
    "from PTX ISA 1.4 on .approx or a rounding (.rn, .rz, .rm, .rp) is required",
)


@instruction(
    "testp",
    section="floating-point-instructions-testp",
    summary="Tests whether a is finite, infinite, a number, not a number, normal or subnormal.",
    syntax="""
        testp{.op}.type p, a;
        .op = { .finite, .infinite, .number, .notanumber, .normal, .subnormal };
        .type = { .f32, .f64 };
    """,
    operands={"p": predicate("write")},
    since=[("", "2.0", 20)],
    notes=[
        "ptxas does not insist on the test; the manual requires one.",
        "ptxas 13.5 drops the guard: `@%p1 testp` is always executed.",
    ],
    example="testp.finite.f32 %p1, %f1;",
)
def testp(op: Operation, a: Lanes) -> Lanes:
    mantissa = 23 if op.width == 32 else 52
    one = 1 << mantissa
    infinite = (1 << (op.width - 1)) - one
    size = a & ((1 << (op.width - 1)) - 1)
    match op.slot("op"):
        case ".finite":
            return size < infinite
        case ".infinite":
            return op.select(size ^ infinite, 0, (a & 0) + 1)
        case ".notanumber":
            return op.select(size <= infinite, 0, (a & 0) + 1)
        case ".normal":
            return op.select(size < one, op.select(size, 0, (a & 0) + 1), size < infinite)
        case ".subnormal":
            return op.select(size, size < one, 0)
        case _:
            return size <= infinite


@instruction(
    "copysign",
    section="floating-point-instructions-copysign",
    summary="Gives b the sign of a.",
    syntax="""
        copysign.type d, a, b;
        .type = { .f32, .f64 };
    """,
    since=[("", "2.0", 20)],
    example="copysign.f32 %f1, %f2, %f3;",
)
def copysign(op: Operation, a: Lanes, b: Lanes) -> Lanes:
    sign = 1 << (op.width - 1)
    return (a & sign) | (b & (sign - 1))


_SUM = f"""
        NAME{{.rnd}}{{.ftz}}{{.sat}}.f32 d, a, b;
        NAME{{.rnd}}{{.ftz}}.f32x2     d, a, b;
        NAME{{.rnd}}.f64             d, a, b;
        {_ROUNDINGS}
"""


@instruction(
    "add",
    section="floating-point-instructions-add",
    summary="Adds two floats, or two pairs of them; without a rounding the sum may be fused.",
    syntax=_SUM.replace("NAME", "add"),
    since=[("", "1.0", 10), _FTZ, _DIRECTED, _DIRECTED_64, _PAIR],
    example="add.rn.f32 %f1, %f2, %f3;",
)
def add(op: Operation, a: Real, b: Real) -> Real:
    return op.round(a + b)


@instruction(
    "sub",
    section="floating-point-instructions-sub",
    summary="Subtracts b from a, or pair from pair; without a rounding it may be fused.",
    syntax=_SUM.replace("NAME", "sub"),
    since=[("", "1.0", 10), _FTZ, _DIRECTED, _DIRECTED_64, _PAIR],
    example="sub.ftz.f32 %f1, %f2, %f3;",
)
def sub(op: Operation, a: Real, b: Real) -> Real:
    return op.round(a - b)


@instruction(
    "mul",
    section="floating-point-instructions-mul",
    summary="Multiplies two floats, or two pairs of them; without a rounding it may be fused.",
    syntax=_SUM.replace("NAME", "mul"),
    since=[("", "1.0", 10), _FTZ, _DIRECTED, _DIRECTED_64, _PAIR],
    example="mul.f32 %f1, %f2, 0f3F000000;",
)
def mul(op: Operation, a: Real, b: Real) -> Real:
    return op.round(a * b)


@instruction(
    "fma",
    section="floating-point-instructions-fma",
    summary="Multiplies a by b and adds c to the exact product, with a single rounding.",
    syntax=f"""
        fma.rnd{{.ftz}}{{.sat}}.f32 d, a, b, c;
        fma.rnd{{.ftz}}.f32x2     d, a, b, c;
        fma.rnd.f64             d, a, b, c;
        {_ROUNDINGS}
    """,
    since=[("", "1.4", 10), (".f32", "2.0", 20), _DIRECTED_64, _PAIR],
    example="fma.rn.f32 %f1, %f2, %f3, %f4;",
)
def fma(op: Operation, a: Real, b: Real, c: Real) -> Real:
    return op.round(a * b + c)


@instruction(
    "mad",
    section="floating-point-instructions-mad",
    summary="Multiplies a by b and adds c; the same as fma for targets from sm_20 on.",
    syntax=f"""
        mad.rnd{{.ftz}}{{.sat}}.f32 d, a, b, c;
        mad.rnd.f64             d, a, b, c;
        mad{{.ftz}}{{.sat}}.f32     d, a, b, c;  // sm_1x
        mad.f64                 d, a, b, c;  // up to PTX ISA 1.3
        {_ROUNDINGS}
    """,
    since=[("", "1.0", 10), _FTZ, (".rn|.rz|.rm|.rp .f32", "2.0", 20), _DIRECTED_64],
    until=[
        ("!.rn|.rz|.rm|.rp .f64", "1.4", 10, "since PTX ISA 1.4, mad.f64 requires a rounding modifier"),
        ("!.rn|.rz|.rm|.rp .f32", "3.2", 20, "since PTX ISA 3.2, mad.f32 requires a rounding modifier"),
        (
            "!.rn|.rz|.rm|.rp .f32",
            "3.1",
            20,
            "mad.f32 without a rounding is taken as mad.rn.f32",
            "deprecated",
        ),
    ],
    example="mad.rn.f32 %f1, %f2, %f3, %f4;",
)
def mad(op: Operation, a: Real, b: Real, c: Real) -> Real:
    return op.round(a * b + c)


@instruction(
    "div",
    section="floating-point-instructions-div",
    summary="Divides a by b, rounded; or with .approx by a quick approximation.",
    syntax=f"""
        div.approx{{.ftz}}.f32 d, a, b;
        div.rnd{{.ftz}}.f32    d, a, b;
        div.rnd.f64          d, a, b;
        div.type             d, a, b;  // up to PTX ISA 1.3
        .type = {{ .f32, .f64 }};
        {_ROUNDINGS}
    """,
    since=[("", "1.0", 10), *_EXPLICIT, _DIVIDED_64],
    until=[_WAY],
    example="div.rn.f32 %f1, %f2, %f3;",
)
def div(op: Operation, a: Real, b: Real) -> Real:
    is_approximate = op.has(".approx") or op.slot("type") == ".f32"
    return op.approximation("div", a, b) if is_approximate else op.round(a / b)


@instruction(
    "div.full",
    section="floating-point-instructions-div",
    summary="Approximates a divided by b over the whole range of b, within 2 units in the last place.",
    syntax="div.full{.ftz}.f32 d, a, b;",
    since=[("", "1.4", 10)],
    example="div.full.f32 %f1, %f2, %f3;",
)
def div_full(op: Operation, a: Real, b: Real) -> Real:
    return op.round(a / b)


@instruction(
    "abs",
    section="floating-point-instructions-abs",
    summary="The absolute value of a float.",
    syntax="abs{.ftz}.f32 d, a; abs.f64 d, a;",
    since=[("", "1.0", 10), _FTZ],
    example="abs.f32 %f1, %f2;",
)
def absolute(op: Operation, a: Real) -> Real:
    return abs(a)


@instruction(
    "neg",
    section="floating-point-instructions-neg",
    summary="Changes the sign of a float.",
    syntax="neg{.ftz}.f32 d, a; neg.f64 d, a;",
    since=[("", "1.0", 10), _FTZ],
    example="neg.f64 %fd1, %fd2;",
)
def neg(op: Operation, a: Real) -> Real:
    return -a


_EXTREME = """
        NAME{.ftz}{.NaN}{.xorsign.abs}.f32 d, a, b;
        NAME{.ftz}{.NaN}{.abs}.f32         d, a, b, c;
        NAME.f64                           d, a, b;
"""
_EXTREME_SINCE: tuple[Since, ...] = (
    ("", "1.0", 10),
    _FTZ,
    (".NaN", "7.0", 80),
    (".abs", "7.2", 86),
    ("+c", "8.8", 100),
)


@instruction(
    "min",
    section="floating-point-instructions-min",
    summary="The smallest of two or three floats; a NaN loses, unless .NaN lets it win."
    " With .xorsign.abs, of the absolute values with the product of the signs.",
    syntax=_EXTREME.replace("NAME", "min"),
    since=_EXTREME_SINCE,
    example="min.f32 %f1, %f2, %f3;",
)
def least(op: Operation, a: Real, b: Real, c: Real | None = None) -> Real:
    if op.has(".xorsign"):
        return op.signed_like(op.least(abs(a), abs(b)), a, b)
    if op.has(".abs"):
        a, b, c = abs(a), abs(b), c and abs(c)
    smaller = op.least(a, b)
    return smaller if c is None else op.least(smaller, c)


@instruction(
    "max",
    section="floating-point-instructions-max",
    summary="The largest of two or three floats; a NaN loses, unless .NaN lets it win."
    " With .xorsign.abs, of the absolute values with the product of the signs.",
    syntax=_EXTREME.replace("NAME", "max"),
    since=_EXTREME_SINCE,
    example="max.NaN.f32 %f1, %f2, %f3;",
)
def greatest(op: Operation, a: Real, b: Real, c: Real | None = None) -> Real:
    if op.has(".xorsign"):
        return op.signed_like(op.greatest(abs(a), abs(b)), a, b)
    if op.has(".abs"):
        a, b, c = abs(a), abs(b), c and abs(c)
    larger = op.greatest(a, b)
    return larger if c is None else op.greatest(larger, c)


@instruction(
    "rcp",
    section="floating-point-instructions-rcp",
    summary="The reciprocal 1/a: rounded, or approximately (.approx).",
    syntax=f"""
        rcp.approx{{.ftz}}.f32 d, a;
        rcp.rnd{{.ftz}}.f32    d, a;
        rcp.rnd{{.ftz}}.f64    d, a;
        rcp.approx.ftz.f64   d, a;
        rcp.f32              d, a;  // up to PTX ISA 1.3
        {_ROUNDINGS}
    """,
    since=[
        ("", "1.0", 10),
        *_EXPLICIT,
        (".f64", "1.4", 10),
        _DIVIDED_64,
        (".approx .f64", "2.1", 20),
    ],
    until=[_WAY],
    notes=["ptxas takes .ftz with a rounding for f64, which the manual does not have."],
    example="rcp.rn.f32 %f1, %f2;",
)
def rcp(op: Operation, a: Real) -> Real:
    if op.has(".approx") and op.width == 64:
        return op.approximation("gross rcp", a)
    return op.round(1 / a)


@instruction(
    "sqrt",
    section="floating-point-instructions-sqrt",
    summary="The square root: rounded, or approximately (.approx).",
    syntax=f"""
        sqrt.approx{{.ftz}}.f32 d, a;
        sqrt.rnd{{.ftz}}.f32    d, a;
        sqrt.rnd.f64          d, a;
        sqrt.type             d, a;  // up to PTX ISA 1.3
        .type = {{ .f32, .f64 }};
        {_ROUNDINGS}
    """,
    since=[("", "1.0", 10), *_EXPLICIT, _DIVIDED_64],
    until=[_WAY],
    example="sqrt.approx.f32 %f1, %f2;",
)
def sqrt(op: Operation, a: Real) -> Real:
    return op.round(op.root(a))


_APPROXIMATE = """
        NAME.approx{.ftz}.f32 d, a;
        NAME.f32              d, a;  // up to PTX ISA 1.3
"""
_APPROXIMATE_SINCE: tuple[Since, ...] = (("", "1.0", 10), (".approx", "1.4", 10))
_APPROXIMATE_UNTIL: Until = ("!.approx", "1.4", 10, "from PTX ISA 1.4 on .approx is required")


@instruction(
    "rsqrt",
    section="floating-point-instructions-rsqrt",
    summary="Approximates one over the square root of a.",
    syntax="""
        rsqrt.approx{.ftz}.type d, a;
        rsqrt.type              d, a;  // up to PTX ISA 1.3
        .type = { .f32, .f64 };
    """,
    since=[*_APPROXIMATE_SINCE, (".ftz .f64", "4.0", 20)],
    until=[_APPROXIMATE_UNTIL],
    example="rsqrt.approx.f32 %f1, %f2;",
)
def rsqrt(op: Operation, a: Real) -> Real:
    gross = op.has(".ftz") and op.width == 64
    return op.approximation("gross rsqrt" if gross else "rsqrt", a)


@instruction(
    "sin",
    section="floating-point-instructions-sin",
    summary="Approximates the sine of an angle in radians.",
    syntax=_APPROXIMATE.replace("NAME", "sin"),
    since=_APPROXIMATE_SINCE,
    until=[_APPROXIMATE_UNTIL],
    example="sin.approx.f32 %f1, %f2;",
)
def sin(op: Operation, a: Real) -> Real:
    return op.approximation("sin", a)


@instruction(
    "cos",
    section="floating-point-instructions-cos",
    summary="Approximates the cosine of an angle in radians.",
    syntax=_APPROXIMATE.replace("NAME", "cos"),
    since=_APPROXIMATE_SINCE,
    until=[_APPROXIMATE_UNTIL],
    example="cos.approx.ftz.f32 %f1, %f2;",
)
def cos(op: Operation, a: Real) -> Real:
    return op.approximation("cos", a)


@instruction(
    "lg2",
    section="floating-point-instructions-lg2",
    summary="Approximates the logarithm to the base 2.",
    syntax=_APPROXIMATE.replace("NAME", "lg2"),
    since=_APPROXIMATE_SINCE,
    until=[_APPROXIMATE_UNTIL],
    example="lg2.approx.f32 %f1, %f2;",
)
def lg2(op: Operation, a: Real) -> Real:
    return op.approximation("lg2", a)


@instruction(
    "ex2",
    section="floating-point-instructions-ex2",
    summary="Approximates 2 to the power of a.",
    syntax=_APPROXIMATE.replace("NAME", "ex2"),
    since=_APPROXIMATE_SINCE,
    until=[_APPROXIMATE_UNTIL],
    example="ex2.approx.ftz.f32 %f1, %f2;",
)
def ex2(op: Operation, a: Real) -> Real:
    return op.approximation("ex2", a)


@instruction(
    "tanh",
    section="floating-point-instructions-tanh",
    summary="Approximates the hyperbolic tangent.",
    syntax="tanh.approx.f32 d, a;",
    since=[("", "7.0", 75)],
    example="tanh.approx.f32 %f1, %f2;",
)
def tanh(op: Operation, a: Real) -> Real:
    return op.approximation("tanh", a)
