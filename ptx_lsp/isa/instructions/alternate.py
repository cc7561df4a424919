"""Four small floats at once (PTX ISA 9.4, section "Alternate Floating Point Instructions").

The result has four 8-bit floats. The sources may have 8, 6 or 4 bits each: `.e2m1x4` packs four
into 16 bits, `.e2m1p4x4` pads each of them to a byte.
"""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import Since, instruction
from ptx_lsp.isa.schema.meaning import Operation, Real
from ptx_lsp.isa.schema.operand import Operand, only, reads

_SINCE: tuple[Since, ...] = (("", "9.4", "sm_100a sm_103a"),)
_NOTES = ["ptxas also takes a vector of any length for an operand; the manual has no such thing."]
_BYTES = "{ .e5m2x4, .e4m3x4 };"
_ELEMENTS = "{ .e5m2x4, .e4m3x4, .e3m2x4, .e2m3x4, .e2m1x4, .e2m1p4x4, .ue8m0x4 };"


def _result(type: str) -> Operand:
    """A register; ptxas admits a vector, and does not count its elements."""
    return only("register", "vector", access="write", type=type)


def _source(type: str) -> Operand:
    return reads(type, also=("vector",))


_SUM = f"""
        NAME{{.rnd}}{{.satfinite}}.cdtype.atype d, a, c;
        .cdtype = {_BYTES}
        .atype = {_ELEMENTS}
        .rnd = {{ .rn }};
"""
_SUM_OPERANDS = {"d": _result(".cdtype"), "a": _source(".atype"), "c": _source(".cdtype")}


@instruction(
    "add",
    section="alternate-floating-point-instructions-add",
    summary="Adds four 4-, 6- or 8-bit floats to four 8-bit floats, each rounded once.",
    syntax=_SUM.replace("NAME", "add"),
    operands=_SUM_OPERANDS,
    since=_SINCE,
    notes=_NOTES,
    example="add.rn.satfinite.e5m2x4.e4m3x4 %r1, %r2, %r3;",
)
def add(op: Operation, a: Real, c: Real) -> Real:
    return op.round(a + c)


@instruction(
    "sub",
    section="alternate-floating-point-instructions-sub",
    summary="Subtracts four 8-bit floats from four 4-, 6- or 8-bit floats, each rounded once.",
    syntax=_SUM.replace("NAME", "sub"),
    operands=_SUM_OPERANDS,
    since=_SINCE,
    notes=_NOTES,
    example="sub.rn.e5m2x4.e2m3x4 %r1, %r2, %r3;",
)
def sub(op: Operation, a: Real, c: Real) -> Real:
    return op.round(a - c)


@instruction(
    "mul",
    section="alternate-floating-point-instructions-mul",
    summary="Multiplies four pairs of 4-, 6- or 8-bit floats into four 8-bit floats.",
    syntax=f"""
        mul{{.rnd}}{{.satfinite}}.dtype.atype.ctype d, a, c;
        .dtype = {_BYTES}
        .atype = .ctype = {_ELEMENTS}
        .rnd = {{ .rn }};
    """,
    operands={"d": _result(".dtype"), "a": _source(".atype"), "c": _source(".ctype")},
    since=_SINCE,
    notes=_NOTES,
    example="mul.rn.e4m3x4.ue8m0x4.e5m2x4 %r1, %r2, %r3;",
)
def mul(op: Operation, a: Real, c: Real) -> Real:
    return op.round(a * c)


@instruction(
    "fma",
    section="alternate-floating-point-instructions-fma",
    summary="Multiplies four pairs of 4-, 6- or 8-bit floats and adds four 8-bit floats, with a"
    " single rounding.",
    syntax=f"""
        fma{{.rnd}}{{.satfinite}}.cdtype.atype.btype d, a, b, c;
        .cdtype = {_BYTES}
        .atype = .btype = {_ELEMENTS}
        .rnd = {{ .rn }};
    """,
    operands={
        "d": _result(".cdtype"),
        "a": _source(".atype"),
        "b": _source(".btype"),
        "c": _source(".cdtype"),
    },
    since=_SINCE,
    notes=_NOTES,
    example="fma.rn.e5m2x4.ue8m0x4.e2m1p4x4 %r1, %r2, %r3, %r4;",
)
def fma(op: Operation, a: Real, b: Real, c: Real) -> Real:
    return op.round(a * b + c)
