"""docs/tutorial.md is true: its files are made, its commands run, and they print what stands there.

`...` in an expected output stands for anything.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Each command of a console, with what it is to print."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def fits(expected: str, output: str) -> bool:
    """Whether an output is the expected one, with anything for `...`."""
    pattern = ".*?".join(map(re.escape, expected.rstrip("\n").split("...")))
    return re.fullmatch(pattern, output.rstrip("\n"), re.DOTALL) is not None


def test_tutorial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    for name, module in (("ptx-lint", "-m ptx_lsp"), ("python", "-p")):
        run = f'"{sys.executable}" {module} "$@"' if name == "ptx-lint" else f'"{sys.executable}" "$@"'
        (bin_ / name).write_text(f"#!/bin/sh\nexec {run}\n")
        (bin_ / name).chmod(0o755)
    environment = {
        **os.environ, "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYTEST_PLUGINS": "ptx_lsp.pytest_plugin",
    }
    work = tmp_path / "work"
    work.mkdir()
    run_ = 0
    for language, title, text in _BLOCK.findall((DOCS / "tutorial.md").read_text(encoding="utf-8")):
        if title:
            (work / title).write_text(text, encoding="utf-8")
        elif language == "console":
            for command, expected in commands(text):
                done = subprocess.run(
                    ["bash", "-c", command], cwd=work, env=environment, text=True, stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT, check=False, timeout=60,
                )
                assert fits(expected, done.stdout), f"$ {command}\n{done.stdout}"
                run_ += 1
    assert run_ > 12


def test_what_fits() -> None:
    assert fits("a\n...\nc\n", "a\nb\nb\nc\n")
    assert fits("a ... c", "a b c\n")
    assert not fits("a\n...\nc\n", "a\nb\n")
    assert not fits("a\n", "a\nb\n")
