"""A linting can be left at any step, and what was found is taken over."""

from __future__ import annotations

from itertools import islice

import pytest

from ptx_lsp.lint.diagnostic import SEVERITIES
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.module import Module
from ptx_lsp.text import Edit

TEXT = """.version 8.5
.target sm_90
.address_size 64
.entry first() { .reg .u32 %r<3>; add.u32 %r1, %r2, 2; ret; }
.entry second() { .reg .u32 %r<3>; add.u32 %r1, %q, 2; ret; }
.entry third() { .reg .u32 %r<3>; addd.u32 %r1, 1, 2; ret; }
"""


@pytest.mark.parametrize("left_after", [0, 1, 40, 77, 123, 200])
def test_left_at_some_step_and_taken_over_after_an_edit(left_after: int) -> None:
    left = LintSession(Module.parse(TEXT), staged=True)
    list(islice(left.steps(), left_after))
    at = TEXT.index("%q")
    document = left.module.document.edited(Edit(at, at + 2, b"%r2"))
    edited = LintSession(Module(document, left.module), previous=left)
    assert edited.is_complete
    assert edited.diagnostics == LintSession(Module.parse(TEXT.replace("%q", "%r2"))).diagnostics


@pytest.mark.parametrize("left_after", [0, 1, 5, 20, 40, 123])
@pytest.mark.parametrize("left_again_after", [0, 1, 5, 20, 40, 123])
def test_left_twice_between_edits_of_several_functions(
    left_after: int, left_again_after: int
) -> None:
    linting = LintSession(Module.parse(TEXT))
    text = TEXT
    for old, new, steps in (
        ("%q, 2", "%p, 2", left_after),
        ("%r1, %r2, 2", "%r1, %r9, here: 2", left_again_after),
        ("addd.u32 %r1, 1, 2", "add.u32 %r1, 1, 2; unused: .shared .b32 v; .pragma 7", None),
    ):
        at = text.index(old)
        text = text.replace(old, new, 1)
        edited = linting.module.document.edited(Edit(at, at + len(old), new.encode()))
        linting = LintSession(Module(edited, linting.module), previous=linting, staged=True)
        list(islice(linting.steps(), steps))
    assert linting.diagnostics == LintSession(Module.parse(text)).diagnostics


@pytest.mark.parametrize("most", [0, 1, 2, 3, 100])
def test_the_worst_are_some_of_all(most: int) -> None:
    linting = LintSession(Module.parse(TEXT))
    worst, total = linting.worst(most)
    everything = linting.diagnostics
    assert total == len(everything)
    assert len(worst) == min(most, total)
    ranks = sorted(SEVERITIES.index(one.severity) for one in everything)
    assert sorted(SEVERITIES.index(one.severity) for one in worst) == ranks[:most]
    assert [one for one in everything if one in worst] == worst


def test_what_is_found_can_be_asked_for_at_any_step() -> None:
    linting = LintSession(Module.parse(TEXT), staged=True)
    assert linting.diagnostics == []
    counts = [len(linting.diagnostics) for _ in linting.steps()]
    assert counts == sorted(counts)
    assert linting.is_complete
    assert linting.diagnostics == LintSession(Module.parse(TEXT)).diagnostics
