"""Pairs of a wrong kernel and its correct twin: the wrong one is found in a few orders, its twin never."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from ptx_lsp import ptxas
from tests.executor.pairs import FILES, Pair, name_of
from tests.strength import number

_NAMES = [name_of(path).replace("/", "-") for path in FILES]


@pytest.mark.parametrize("path", FILES, ids=_NAMES)
def test_wrong_kernels_are_found_with_a_seed_that_replays_it(path: Path) -> None:
    pair = Pair.of(path)
    found = pair.run("wrong", seeds=6)
    assert pair.right(found)

    @cache
    def replayed(seed: int) -> list[tuple[str, int, str]]:
        return [(one.kind, one.line, one.message) for one in pair.run("wrong", seed=seed)]

    for one in found:
        if one.kind in pair.kinds and one.kind != "schedule-dependent":  # which compares two orders
            assert (one.kind, one.line, one.message) in replayed(one.seed)


@pytest.mark.parametrize("path", FILES, ids=_NAMES)
def test_correct_twins_are_silent(path: Path) -> None:
    pair = Pair.of(path)
    found = pair.run("correct", seeds=number(5, 12))
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
