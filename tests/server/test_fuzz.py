"""A short session of random edits and requests; `python -m tests.server.fuzz` does long ones."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.server.fuzz import Session, Unit


@pytest.mark.parametrize(("unit", "seed"), [("utf-8", 1), ("utf-16", 2), ("utf-32", 3)])
def test_random_session(unit: Unit, seed: int, tmp_path: Path) -> None:
    session = Session(random.Random(seed), unit, tmp_path)
    session.run(250)
    assert session.answered > 100
