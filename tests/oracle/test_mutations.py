"""The linter finds what ptxas finds in files that were damaged as people do; see `mutations.py`."""

from __future__ import annotations

import pytest

from tests.oracle import corpus
from tests.oracle.damage import KINDS, LEAST
from tests.oracle.mutations import compare_all, explain, recorded
from tests.oracle.tokens import PtxFile


@pytest.mark.parametrize("kind", KINDS)
def test_agreement(kind: str) -> None:
    pairs = [(mutation, verdict) for mutation, verdict in recorded() if mutation.kind == kind]
    names = {mutation.file for mutation, _ in pairs}
    files = {p.name: PtxFile(p.name, p.read_text()) for p in corpus.files() if p.name in names}
    compared = compare_all(pairs, files)
    false = [one for one in compared if one.outcome == "false error"]
    assert not false, explain(false[0], files)
    rejected = [one for one in compared if not one.verdict.accepted]
    different = [one for one in rejected if one.outcome != "found"]
    assert rejected
    assert len(different) <= (1 - LEAST[kind]) * len(rejected), explain(different[0], files)
