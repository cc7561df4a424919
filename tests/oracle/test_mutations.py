"""The linter finds what ptxas finds in files that were damaged as people do; see `mutations.py`."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from tests.oracle.mutation.mutations import Compared, compare_all, explain, recorded
from tests.oracle.mutation.suite import COMPILED, MADE, Suite
from tests.oracle.mutation.tokens import PtxFile

LEAST_MADE = 0.99
"""The share of what ptxas rejects that must be found of the suite `made`, all kinds together."""


class Judged(NamedTuple):
    """How many changes of a kind ptxas rejects and how many of those the linter finds, with one that it does
    not.
    """

    rejected: int
    agreeing: int
    example: str


def test_agreement_of_each_kind_on_compiled_files() -> None:
    found = _judged(COMPILED)
    assert set(found) == set(COMPILED.kinds)
    for kind, one in found.items():
        assert one.rejected, kind
        assert one.rejected - one.agreeing <= (1 - COMPILED.least[kind]) * one.rejected, one.example


def test_agreement_of_all_kinds_on_files_made_for_them() -> None:
    assert len(MADE.kinds) >= 40
    found = _judged(MADE)
    assert set(found) == set(MADE.kinds)
    assert all(one.rejected for one in found.values())
    rejected = sum(one.rejected for one in found.values())
    agreeing = sum(one.agreeing for one in found.values())
    assert agreeing >= LEAST_MADE * rejected, f"{agreeing} of {rejected}"


def _judged(suite: Suite) -> dict[str, Judged]:
    """By kind. All kinds are judged together, as the undamaged files are linted once. Fails where the linter
    reports an error in what ptxas accepts.
    """
    files = {path.name: PtxFile(path.name, path.read_text()) for path in suite.files}
    kinds: defaultdict[str, list[Compared]] = defaultdict(list)
    for one in compare_all(recorded(suite), files):
        assert one.outcome != "false error", explain(one, files)
        kinds[one.mutation.kind].append(one)
    return {kind: _of_kind(suite, compared, files) for kind, compared in kinds.items()}


def _of_kind(suite: Suite, compared: list[Compared], files: dict[str, PtxFile]) -> Judged:
    rejected = [one for one in compared if not one.verdict.accepted]
    different = [one for one in rejected if one.outcome not in suite.agreeing]
    example = explain(different[0], files) if different else ""
    return Judged(len(rejected), len(rejected) - len(different), example)
