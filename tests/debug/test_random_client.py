"""Random requests: `random_client.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.debug.random_client import ask_at_random


@pytest.mark.parametrize("seed", range(5))
def test_random_requests(seed: int, tmp_path: Path) -> None:
    ask_at_random(seed, 100, tmp_path)
