"""The fix for what an instruction lacks stands where its form has it."""

from __future__ import annotations

import pytest

from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.module import Module

BODY = """.version 9.5
.target sm_90
.address_size 64
.entry kernel()
{{
    .reg .b32 %r<4>;
    .reg .b64 %d<4>;
    .reg .f32 %f<4>;
    .reg .pred %p<4>;
    {}
    ret;
}}
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("setp.lt %p1, %f1, %f2;", "setp.lt.f32 %p1, %f1, %f2;"),
        ("@%p1 setp.lt\n    %p1, %f1, %f2;", "@%p1 setp.lt.f32\n    %p1, %f1, %f2;"),
        ("mul .s32 %d1, %r1, %r2;", "mul.wide .s32 %d1, %r1, %r2;"),
        (
            "ldmatrix.m8n8.x1.shared.b16 {%r1}, [%d1];",
            "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%d1];",
        ),
        (
            "ld.global.f32 %f1, [%d1], %d2;",  # an excluded combination
            "ld.global.L2::cache_hint.f32 %f1, [%d1], %d2;",
        ),
        ("ex2.f32 %f1, %f2;", "ex2.approx.f32 %f1, %f2;"),  # a form that is gone
    ],
)
def test_fix(before: str, after: str) -> None:
    module = Module.parse(BODY.format(before))
    source = module.document.source
    errors = [found for found in LintSession(module).diagnostics if found.severity == "error"]
    fixes = [found.fix for found in errors if found.fix is not None]
    assert len(fixes) == 1
    for edit in sorted(fixes[0].edits, reverse=True):
        source = source.edited(edit)
    assert source.data.decode() == BODY.format(after)
    mended = LintSession(Module.parse(source.data.decode())).diagnostics
    assert [found for found in mended if found.severity == "error"] == []


@pytest.mark.parametrize("line", ["mul.s32 %r1, %r2, %r3;", "mul.wide.u64 %d1, %d2, %d3;"])
def test_no_fix_where_it_would_be_a_guess(line: str) -> None:
    found = LintSession(Module.parse(BODY.format(line))).diagnostics
    assert found
    assert all(diagnostic.fix is None for diagnostic in found)


@pytest.mark.parametrize(
    ("line", "titles"),
    [
        ("mul.s32 %r1, %r2, %r3;", ["Insert `.hi`", "Insert `.lo`"]),
        ("cvt.f32.s32 %f1, %r1;", ["Insert `.rn`", "Insert `.rz`", "Insert `.rm`", "Insert `.rp`"]),
        ("sqrt.f32 %f1, %f2;", ["Insert `.approx`", *(f"Insert `.r{way}`" for way in "nzmp")]),
        ("add %r1, %r2, %r3;", []),
    ],
)
def test_a_few_to_choose_from(line: str, titles: list[str]) -> None:
    found = [
        one
        for one in LintSession(Module.parse(BODY.format(line))).diagnostics
        if one.severity == "error"
    ]
    assert [fix.message for one in found for fix in one.alternatives] == titles
    assert not any(fix.safe for one in found for fix in one.alternatives)
