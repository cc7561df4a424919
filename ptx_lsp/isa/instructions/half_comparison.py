"""Comparison of `.f16` and `.bf16` (PTX ISA, "Half Precision Comparison Instructions")."""

from __future__ import annotations

from ptx_lsp.isa.instructions.comparison import (
    BOOLEAN,
    FLOAT_ORDER,
    INTEGER_ORDER,
    INTEGERS,
    ORDER_RULES,
    combined,
    compared,
    compared_floats,
)
from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.meaning import Lanes, Operation, Real
from ptx_lsp.isa.schema.operand import only, predicate, writes

_SECTION = "half-precision-comparison-instructions"
_RESULT = {"d": writes(".dtype"), "c": predicate()}
_SINGLE = {"p": predicate("write", sink=True), "c": predicate()}
_PAIR = _SINGLE | {"q": predicate("write", sink=True)}
_REGISTER = {"c": only("register", type=".pred", what="a predicate register")}
_BRAIN = ("dtype=.bf16", "7.8", 90)
_UNPAIRED_NOTE = "The manual asks for both predicates of a pair; ptxas takes the first alone."


@instruction(
    "set",
    section=f"{_SECTION}-set",
    summary="Compares two integers and writes 1.0 where it holds, else 0.0, as a half."
    " The comparison may be combined with a predicate.",
    syntax=f"""
        set.CmpOp.dtype.type        d, a, b;
        set.CmpOp.BoolOp.dtype.type d, a, b, {{!}}c;
        {INTEGER_ORDER} {BOOLEAN}
        .dtype = {{ .f16, .bf16 }};
        .type  = {INTEGERS};
    """,
    operands=_RESULT,
    unless=ORDER_RULES,
    since=[("", "4.2", 53), _BRAIN],
    notes=["ptxas takes .lo .ls .hi .hs for unsigned integers, which the manual leaves out."],
    example="set.lt.f16.s32 %rs1, %r1, %r2;",
)
def set_half_of_integers(
    op: Operation, a: Lanes, b: Lanes, c: Lanes | None = None
) -> Lanes:
    return _written(op, combined(op, compared(op, a, b), c))


def _written(op: Operation, holds: Lanes) -> Lanes:
    """1.0 or all ones where the comparison holds, else 0."""
    ones = {".f16": 0x3C00, ".f16x2": 0x3C00, ".bf16": 0x3F80, ".bf16x2": 0x3F80}
    one = ones.get(op.slot("dtype"))
    return -holds if one is None else op.select(holds, one, 0)


@instruction(
    "set",
    section=f"{_SECTION}-set",
    summary="Compares two floats and writes 1.0 where it holds, else 0.0, as a half."
    " The comparison may be combined with a predicate.",
    syntax=f"""
        set.CmpOp{{.ftz}}.dtype.type        d, a, b;
        set.CmpOp.BoolOp{{.ftz}}.dtype.type d, a, b, {{!}}c;
        {FLOAT_ORDER} {BOOLEAN}
        .dtype = {{ .f16, .bf16 }};
        .type  = {{ .f16, .f32, .f64 }};
    """,
    operands=_RESULT,
    unless=[
        (".ftz type=.f64", "`.ftz` is not allowed with `.f64`"),
        (".ftz dtype=.bf16", "`.ftz` is not allowed with `.bf16`"),
    ],
    since=[("", "4.2", 53), _BRAIN],
    example="set.lt.f16.f32 %rs1, %f1, %f2;",
)
def set_of_floats(op: Operation, a: Real, b: Real, c: Lanes | None = None) -> Lanes:
    return _written(op, combined(op, compared_floats(op, a, b), c))


@instruction(
    "set",
    section=f"{_SECTION}-set",
    summary="Compares two halves (or two pairs, each half for itself) and writes all ones or 1.0"
    " where it holds, else 0. The comparison may be combined with a predicate.",
    syntax=f"""
        set.CmpOp{{.ftz}}.dtype.f16          d, a, b;
        set.CmpOp.BoolOp{{.ftz}}.dtype.f16   d, a, b, {{!}}c;
        .dtype = {{ .u16, .s16, .u32, .s32 }};
        {FLOAT_ORDER} {BOOLEAN}
        -----
        set.CmpOp{{.ftz}}.dtype.f16x2        d, a, b;
        set.CmpOp.BoolOp{{.ftz}}.dtype.f16x2 d, a, b, {{!}}c;
        .dtype = {{ .f16x2, .u32, .s32 }};
    """,
    operands=_RESULT,
    since=[("", "4.2", 53), ("dtype=.u16|.s16|.u32|.s32", "6.5", 53)],
    example="set.eq.u16.f16 %rs1, %rs2, %rs3;",
)
def set_of_halves(op: Operation, a: Real, b: Real, c: Lanes | None = None) -> Lanes:
    return _written(op, combined(op, compared_floats(op, a, b), c))


@instruction(
    "set",
    section=f"{_SECTION}-set",
    summary="Compares two bf16 values (or two pairs, each half for itself) and writes all ones or"
    " 1.0 where it holds, else 0. The comparison may be combined with a predicate.",
    syntax=f"""
        set.CmpOp.dtype.bf16          d, a, b;
        set.CmpOp.BoolOp.dtype.bf16   d, a, b, {{!}}c;
        .dtype = {{ .bf16, .u16, .s16, .u32, .s32 }};
        {FLOAT_ORDER} {BOOLEAN}
        -----
        set.CmpOp.dtype.bf16x2        d, a, b;
        set.CmpOp.BoolOp.dtype.bf16x2 d, a, b, {{!}}c;
        .dtype = {{ .bf16x2, .u32, .s32 }};
    """,
    operands=_RESULT | _REGISTER,
    since=[("", "7.8", 90)],
    example="set.eq.u16.bf16 %rs1, %rs2, %rs3;",
)
def set_of_brains(op: Operation, a: Real, b: Real, c: Lanes | None = None) -> Lanes:
    return _written(op, combined(op, compared_floats(op, a, b), c))


@instruction(
    "setp",
    section=f"{_SECTION}-setp",
    summary="Compares two halves and writes the answer to a predicate; two pairs (.f16x2) give"
    " two predicates. Either may be combined with a predicate c.",
    syntax=f"""
        setp.CmpOp{{.ftz}}.f16          p, a, b;
        setp.CmpOp.BoolOp{{.ftz}}.f16   p, a, b, {{!}}c;
        setp.CmpOp{{.ftz}}.f16x2        p{{|q}}, a, b;
        setp.CmpOp.BoolOp{{.ftz}}.f16x2 p{{|q}}, a, b, {{!}}c;
        {FLOAT_ORDER} {BOOLEAN}
    """,
    operands=_PAIR,
    since=[("", "4.2", 53)],
    notes=[_UNPAIRED_NOTE],
    example="setp.gt.f16 %p1, %rs1, %rs2;",
)
def setp_of_halves(op: Operation, a: Real, b: Real, c: Lanes | None = None) -> Lanes:
    return combined(op, compared_floats(op, a, b), c)


@instruction(
    "setp",
    section=f"{_SECTION}-setp",
    summary="Compares two bf16 values and writes the answer to a predicate; two pairs (.bf16x2)"
    " give two predicates. Either may be combined with a predicate c.",
    syntax=f"""
        setp.CmpOp.bf16          p, a, b;
        setp.CmpOp.BoolOp.bf16   p, a, b, {{!}}c;
        setp.CmpOp.bf16x2        p{{|q}}, a, b;
        setp.CmpOp.BoolOp.bf16x2 p{{|q}}, a, b, {{!}}c;
        {FLOAT_ORDER} {BOOLEAN}
    """,
    operands=_PAIR | _REGISTER,
    since=[("", "7.8", 90)],
    notes=[_UNPAIRED_NOTE],
    example="setp.gt.bf16x2 %p1|%p2, %r1, %r2;",
)
def setp_of_brains(op: Operation, a: Real, b: Real, c: Lanes | None = None) -> Lanes:
    return combined(op, compared_floats(op, a, b), c)
