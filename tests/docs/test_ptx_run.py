"""These pages of docs/ are true: their files are made, their commands run and print that."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.test_tutorial import commands, fits

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


COMMANDS = {
    "ptx-run": "ptx_lsp.cli.run", "ptx-lint": "ptx_lsp", "ptx-reduce": "ptx_lsp.cli.reducing.reduction",
    "pytest": "pytest",
}  # fmt: skip
PAGES = [
    "ptx-run.md", "ptx-lint.md", "executor.md", "for-cuda.md",
    "for-triton.md", "for-compilers.md", "for-ci.md",
]  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
def test_page(name: str, tmp_path: Path, *, update: bool) -> None:
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    for command, module in COMMANDS.items():
        run = bin_ / command
        run.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
        run.chmod(0o755)
    environment = {
        **os.environ, "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "110",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYTEST_PLUGINS": "ptx_lsp.pytest_plugin",
    }
    work = tmp_path / "work"
    shutil.copytree(ROOT / "examples", work / "examples")
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    count = 0
    for language, title, text in _BLOCK.findall(page):
        if title:
            (work / title).write_text(text)
        elif language == "console":
            for command, expected in commands(text):
                done = subprocess.run(
                    command.replace("\\\n", " "), shell=True, cwd=work, env=environment, check=False,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                )
                count += 1
                if update:
                    page = page.replace(f"$ {command}\n{expected}", f"$ {command}\n{done.stdout}", 1)
                else:
                    assert fits(expected, done.stdout), f"{command}\n{done.stdout}"
        elif language == "python":
            done = subprocess.run([sys.executable, "-c", text], cwd=work, env=environment, check=False)
            count += 1
            assert done.returncode == 0, text
    assert count >= 2
    if update:
        (ROOT / "docs" / name).write_text(page, encoding="utf-8")
