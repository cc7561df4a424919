"""Directives three at a time: nearly all that ptxas rejected is found, and nothing else."""

from __future__ import annotations

from tests.oracle.directive_combinations import PLACES, compare, recorded


def test_the_record_has_every_place_and_both_verdicts() -> None:
    rows = recorded()
    assert {row.where.name for row in rows} == {where.name for where in PLACES}
    assert {row.accepted for row in rows} == {True, False}
    assert len(rows) > 1_000


def test_the_linter_says_what_ptxas_said() -> None:
    count = compare(recorded())
    assert not count.false
    assert count.found_percent >= 99.8
