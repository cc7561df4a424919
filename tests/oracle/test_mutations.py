"""The linter finds what ptxas finds in files that were damaged as people do; see `mutations.py`."""

from __future__ import annotations

from functools import cache

import pytest

from tests.oracle.mutation.mutations import compare_all, explain, recorded
from tests.oracle.mutation.suite import COMPILED, MADE, Suite
from tests.oracle.mutation.tokens import PtxFile

LEAST_MADE = 0.99
"""The share of what ptxas rejects that must be found of the suite `made`, all kinds together."""


@pytest.mark.parametrize("kind", COMPILED.kinds)
def test_agreement(kind: str) -> None:
    rejected, agreeing, example = _judged(COMPILED, kind)
    assert rejected
    assert rejected - agreeing <= (1 - COMPILED.least[kind]) * rejected, example


def test_agreement_of_all_kinds_on_files_made_for_them() -> None:
    assert len(MADE.kinds) >= 40
    found = [_judged(MADE, kind) for kind in MADE.kinds]
    assert all(rejected for rejected, _, _ in found)
    rejected, agreeing = sum(one[0] for one in found), sum(one[1] for one in found)
    assert agreeing >= LEAST_MADE * rejected, f"{agreeing} of {rejected}"


@cache
def _judged(suite: Suite, kind: str) -> tuple[int, int, str]:
    """How many changes ptxas rejects and how many of those the linter finds, with one that it does not. Fails
    where it reports an error in what ptxas accepts.
    """
    pairs = [(mutation, verdict) for mutation, verdict in recorded(suite) if mutation.kind == kind]
    names = {mutation.file for mutation, _ in pairs}
    files = {p.name: PtxFile(p.name, p.read_text()) for p in suite.files if p.name in names}
    compared = compare_all(pairs, files)
    false = [one for one in compared if one.outcome == "false error"]
    assert not false, explain(false[0], files)
    rejected = [one for one in compared if not one.verdict.accepted]
    different = [one for one in rejected if one.outcome not in suite.agreeing]
    example = explain(different[0], files) if different else ""
    return len(rejected), len(rejected) - len(different), example
