"""`ptx-lint` as a program on PATH, and a copy of the checkout to build from."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with `ptx-lint`, first on PATH; the current one is empty."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "ptx-lint"
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{_path()}" exec "{sys.executable}" -m ptx_lsp "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return folder


def _path() -> str:
    return os.pathsep.join(path for path in sys.path if path)


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What git would hand out: a repository with the files as they are, and one commit."""
    copy = tmp_path_factory.mktemp("checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True,
    )
    for name in listed.stdout.decode().split("\0"):
        if name and not name.startswith(("tests/", "vscode-extension/")) and (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@localhost"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
        subprocess.run([*git, *arguments], cwd=copy, check=True)
    return copy


@pytest.fixture(scope="session")
def built(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel made from it; nothing is loaded from anywhere."""
    return build(checkout, tmp_path_factory.mktemp("dist"))


QUICKLY = {"CFLAGS": "-O0"}
"""The environment of builds in tests: most of their time would be optimisation."""


def build(checkout: Path, folder: Path) -> Path:
    """Builds the sdist, and the wheel from it, as `python -m build` does."""
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(checkout)],
        check=True, capture_output=True, env={**os.environ, **QUICKLY},
    )
    return folder
