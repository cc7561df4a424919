"""Recorded logs with their sources and PTX. `//!` or `#!` marks each line that ptxas has a message about."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

LOGS = Path(__file__).parent / "logs"
Recorded: TypeAlias = Callable[[str], Path]


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    """Copies a log and its files, and goes to their folder."""

    def copy(name: str) -> Path:
        folder = tmp_path / name
        shutil.copytree(LOGS / name, folder)
        for path in folder.glob("*.py.txt"):
            path.rename(path.with_suffix(""))
        monkeypatch.chdir(folder)
        return folder

    return copy
