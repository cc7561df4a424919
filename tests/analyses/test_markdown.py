"""Every Markdown file beside this one: what its views show stands in it, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx_lsp.analyses.instructions.uses_and_defs import instructions
from ptx_lsp.model.module import Module
from tests.analyses.markdown import Case, cases
from tests.analyses.views import VIEWS

_OF_OTHERS = {"uniformity", "memory_access"}
"""They say what must be known on some lines, and have tests of their own."""
FILES = sorted(f for f in Path(__file__).parent.glob("*.md") if f.stem not in _OF_OTHERS)


def shown(case: Case) -> frozenset[tuple[int, str]]:
    """What the views of a case show, with the number of the line."""
    module = Module.parse(case.source)
    source = module.document.source
    found: set[tuple[int, str]] = set()
    for function in module.functions:
        for view in case.views:
            for number, text in VIEWS[view](function):
                node = instructions(function).instructions[number].node
                start = module.span(function.place(node)).start
                found.add((source.position(start).line + 1, text))
    return frozenset(found)


@pytest.mark.parametrize("case", [c for f in FILES for c in cases(f)], ids=lambda c: c.title)
def test_expectations(case: Case) -> None:
    assert case.views, "no view is named in the info string"
    found = shown(case)
    missing, unexpected = sorted(case.expected - found), sorted(found - case.expected)
    assert not missing and not unexpected, f"missing: {missing}; unexpected: {unexpected}"


def test_the_comparison_sees_both_ways() -> None:
    source = ".version 8.5\n.target sm_90\n.entry k()\n{\n.reg .b32 %r<2>;\nmov.b32 %r0, %r1;\n}\n"
    seen = {(6, "reads %r1"), (6, "writes %r0")}
    assert shown(Case("", source, ("values",), frozenset())) == seen
