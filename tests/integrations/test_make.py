"""`make test` runs all of its parts, and fails where one of them does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integrations.conftest import ROOT

PARTS = ("ruff", "pyright", "python", "npm")
SET_UP = (
    "pyproject.toml", "setup.py", "vscode-extension/package-lock.json", "installed", "set-up", "modules",
)
"""Files in the order in which one is made from others, so that nothing has to be."""


@pytest.mark.parametrize("failing", [None, *PARTS])
def test_every_part_runs(failing: str | None, tmp_path: Path) -> None:
    """With programs that tell of themselves, in a folder that is set up."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in PARTS:
        program = programs / name
        program.write_text(f'#!/bin/sh\necho {name} >> "{tmp_path}/ran"\nexit {int(name == failing)}\n')
        program.chmod(0o755)
    (tmp_path / "vscode-extension").mkdir()
    for name in SET_UP:
        (tmp_path / name).touch()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    environment["PATH"] = f"{programs}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(
        [
            "make", "test", f"BIN={programs}", "INSTALLED=installed", "STAMP=set-up", "MODULES=modules",
            "C_SOURCES=",
        ],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert sorted((tmp_path / "ran").read_text().split()) == sorted(PARTS), done.stderr
    assert (done.returncode == 0) == (failing is None)


def test_the_demo_shows_findings_a_race_and_a_report(tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    done = subprocess.run(
        ["sh", ROOT / "examples" / "demo.sh", Path(sys.executable).parent, report],
        capture_output=True, text=True, check=True, timeout=120,
    )
    assert "error[missing-modifier] `mul` requires `.hi` or `.lo`" in done.stdout
    assert "63," in done.stdout
    assert "error[race] it reads `tile`" in done.stderr
    assert "<html" in report.read_text(encoding="utf-8")
    assert done.stdout.rpartition("Next:")[2].count("\n") > 5
