"""A short session of random edits and requests; `python -m tests.server.fuzz` does long ones."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.server.fuzz import Session, Unit, judge_for


@pytest.mark.parametrize(
    ("unit", "seed", "targets"),
    [("utf-8", 1, ()), ("utf-16", 2, ()), ("utf-32", 3, ()), ("utf-8", 4, ("sm_50", "sm_80", "sm_100a"))],
)
def test_random_session(unit: Unit, seed: int, targets: tuple[str, ...], tmp_path: Path) -> None:
    judge_for(targets, tmp_path)
    session = Session(random.Random(seed), unit, tmp_path)
    session.run(250)
    assert session.answered > 100
