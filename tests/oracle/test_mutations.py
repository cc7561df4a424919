"""The linter finds what ptxas finds in files that were damaged as people do; see `mutations.py`."""

from __future__ import annotations

import pytest

from tests.oracle.mutations import SUITES, compare_all, explain, recorded
from tests.oracle.suite import Suite
from tests.oracle.tokens import PtxFile

_KINDS = [(suite, kind) for suite in SUITES.values() if suite.record.exists() for kind in suite.kinds]


@pytest.mark.parametrize(("suite", "kind"), _KINDS, ids=lambda one: getattr(one, "name", one))
def test_agreement(suite: Suite, kind: str) -> None:
    pairs = [(mutation, verdict) for mutation, verdict in recorded(suite) if mutation.kind == kind]
    names = {mutation.file for mutation, _ in pairs}
    files = {p.name: PtxFile(p.name, p.read_text()) for p in suite.files if p.name in names}
    compared = compare_all(pairs, files)
    false = [one for one in compared if one.outcome == "false error"]
    assert not false, explain(false[0], files)
    rejected = [one for one in compared if not one.verdict.accepted]
    different = [one for one in rejected if one.outcome not in suite.agreeing]
    assert rejected
    assert len(different) <= (1 - suite.least[kind]) * len(rejected), explain(different[0], files)
