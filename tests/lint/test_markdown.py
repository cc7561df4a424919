"""Every Markdown file beside this one: what it expects is found, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx_lsp.lint.engine import Linting
from ptx_lsp.model.module import Module
from tests.lint.markdown import Case, Expected, cases

FILES = sorted(Path(__file__).parent.glob("*.md"))


@pytest.mark.parametrize("case", [c for f in FILES for c in cases(f)], ids=lambda c: c.title)
def test_findings(case: Case) -> None:
    module = Module.parse(case.source)
    source = module.document.source
    found = [
        (source.position(d.span.start).line + 1, d.severity, d.rule, d.message)
        for d in Linting(module).diagnostics
    ]
    missing: list[Expected] = []
    for wanted in case.expected:
        match = next(
            (f for f in found if f[:3] == wanted[:3] and wanted.text in f[3]), None
        )
        if match is None:
            missing.append(wanted)
        else:
            found.remove(match)
    assert not missing, f"not found: {missing}; found besides: {found}"
    assert not found, f"not expected: {found}"
