"""Every Markdown file beside this one: what it expects is found, and nothing else.

Errors must all be expected. Other findings must be where the file speaks of their rule at all: most cases
are no whole programs, in which much is unused.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.registry import all_rules
from ptx_lsp.model.module import Module
from tests.lint.markdown import Case, Expected, cases


def about(path: Path) -> frozenset[str]:
    """The rules that a file expects somewhere."""
    return frozenset(expected.rule for case in cases(path) for expected in case.expected)


FILES = sorted(Path(__file__).parent.glob("*.md"))


PAIRS = [(case, about(path)) for path in FILES for case in cases(path)]


@pytest.mark.parametrize(
    ("case", "rules"), PAIRS, ids=[case.title for case, _ in PAIRS]
)
def test_findings(case: Case, rules: frozenset[str]) -> None:
    module = Module.parse(case.source)
    source = module.document.source
    found = [
        (source.position(d.span.start).line + 1, d.severity, d.rule, d.message)
        for d in LintSession(module, all_rules()).diagnostics
        if d.severity == "error" or d.rule in rules
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
