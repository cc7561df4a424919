"""Mixed precision (PTX ISA, "Mixed Precision Floating Point Instructions"): f32 with f16 or bf16."""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.meaning import Operation, Real
from ptx_lsp.isa.schema.operand import reads, writes

_SUM = {"d": writes(".f32"), "c": reads(".f32")}
_CHOICES = """
        .type = { .f16, .bf16 };
        .rnd  = { .rn, .rz, .rm, .rp };
"""


@instruction(
    "add",
    section="mixed-precision-floating-point-instructions-add",
    summary="Widens half-precision a and adds it to the single-precision c.",
    syntax=f"add{{.rnd}}{{.sat}}.f32.type d, a, c; {_CHOICES}",
    operands=_SUM,
    since=[("", "8.6", 100)],
    example="add.rn.f32.f16 %f1, %rs2, %f3;",
)
def add(op: Operation, a: Real, c: Real) -> Real:
    return op.round(a + c)


@instruction(
    "sub",
    section="mixed-precision-floating-point-instructions-sub",
    summary="Widens half-precision a and subtracts the single-precision c from it.",
    syntax=f"sub{{.rnd}}{{.sat}}.f32.type d, a, c; {_CHOICES}",
    operands=_SUM,
    since=[("", "8.6", 100)],
    example="sub.f32.bf16 %f1, %rs2, %f3;",
)
def sub(op: Operation, a: Real, c: Real) -> Real:
    return op.round(a - c)


@instruction(
    "fma",
    section="mixed-precision-floating-point-instructions-fma",
    summary="Multiplies half-precision a and b, adds the single-precision c, and rounds once.",
    syntax=f"fma.rnd{{.sat}}.f32.type d, a, b, c; {_CHOICES}",
    operands=_SUM,
    since=[("", "8.6", 100)],
    example="fma.rn.f32.f16 %f1, %rs2, %rs3, %f4;",
)
def fma(op: Operation, a: Real, b: Real, c: Real) -> Real:
    return op.round(a * b + c)
