"""No fix makes another program of an instruction than the one that was meant."""

from __future__ import annotations

import pytest

from ptx_lsp.isa.removed_opcodes import REMOVED
from ptx_lsp.lint.diagnostic import Diagnostic
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.module import Module

BODY = """.version 8.5
.target sm_90
.address_size 64
.entry kernel()
{{
    .reg .b8 %q<4>;
    .reg .b16 %h<4>;
    .reg .b32 %r<4>;
    .reg .s32 %s<4>;
    .reg .f32 %f<4>;
    .reg .f64 %e<4>;
    .reg .b64 %d<4>;
    .reg .pred %p<4>;
    {}
    ret;
}}
"""


def _found(line: str) -> list[Diagnostic]:
    found = LintSession(Module.parse(BODY.format(line))).diagnostics
    return [one for one in found if one.severity == "error"]


def _advice(line: str) -> list[str]:
    """What the fixes of a line would write."""
    fixes = [fix for found in _found(line) for fix in (found.fix, *found.alternatives) if fix is not None]
    return [edit.replacement.decode() for fix in fixes for edit in fix.edits]


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("cvt.f32.f64 %f1, %e1;", [".rn", ".rz", ".rm", ".rp"]),
        ("cvt.rn.f64.f32 %e1, %f1;", []),
        ("ld.global.f16 %h1, [%d1];", [".b16"]),
        ("st.global.f16 [%d1], %h1;", [".b16"]),
        ("mov.b8 %q1, %q2;", []),
        ("cvt.u32.pred %r1, %p1;", []),
        ("fma.rn.s32 %r1, %r2, %r3, %r1;", []),
        ("and.f32 %f1, %f2, %f3;", [".b32"]),
        ("shl.u32 %r1, %r2, 3;", [".b32"]),
        ("slct.u32.u32 %r1, %r2, %r3, %r1;", [".s32"]),
        ("add %s1, %s2, %s3;", [".u32", ".s32"]),
        ("add %f1, %f2, %f3;", [".f32"]),
        ("div.f32 %f1, %f2, %f3;", [".approx", ".rn", ".rz", ".rm", ".rp", ".full"]),
    ],
)
def test_what_is_offered(line: str, advice: list[str]) -> None:
    assert _found(line)
    assert _advice(line) == advice


@pytest.mark.parametrize("opcode", REMOVED)
def test_removed_instructions_have_no_fix(opcode: str) -> None:
    (found,) = _found(f"{opcode}.f32 %f1, %f2;")
    assert "was removed from PTX" in found.message
    assert "did you mean" not in found.message
    assert _advice(f"{opcode}.f32 %f1, %f2;") == []
