"""Pairs of a wrong kernel and its correct twin: the wrong one is found in a few orders, its twin never."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx_lsp import ptxas
from tests.executor.pairs import FILES, Pair, name_of

_NAMES = [name_of(path).replace("/", "-") for path in FILES]


@pytest.mark.parametrize("path", FILES, ids=_NAMES)
def test_wrong_kernels_are_found_with_a_seed_that_replays_it(path: Path) -> None:
    pair = Pair.of(path)
    found = pair.run("wrong", seeds=6)
    assert pair.right(found)
    for one in found:
        if one.kind in pair.kinds and one.kind != "schedule-dependent":  # which compares two orders
            again = pair.run("wrong", seed=one.seed)
            assert (one.kind, one.line, one.message) in [(two.kind, two.line, two.message) for two in again]


@pytest.mark.parametrize("path", FILES, ids=_NAMES)
def test_correct_twins_are_silent(path: Path) -> None:
    pair = Pair.of(path)
    found = pair.run("correct", seeds=12)
    assert pair.reported(found) == []


def test_the_set() -> None:
    assert len(FILES) >= 40
    assert all(set(Pair.of(path).comments) == {"wrong", "correct"} for path in FILES)


def test_pairs_are_legal() -> None:
    judge = ptxas.find()
    if judge is None:
        pytest.skip("no ptxas")
    for path in FILES:
        report = ptxas.judge(path.read_bytes(), ptxas=judge)
        assert report.accepted, (path.name, report.messages)
