"""Sessions of `ptx-run --debug` with commands from a pipe."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.debug import kernels

SECONDS = 120
"""Enough on a busy machine."""


def command(path: Path, *options: str) -> list[str]:
    """The command that runs a file."""
    return [sys.executable, "-m", "ptx_lsp.cli.run", str(path), *options]


def transcript(
    folder: Path, text: str | None, *lines: str, options: tuple[str, ...] = (), status: int = 0
) -> str:
    """What the debugger prints when these lines are piped into it, with its prompts and the lines. Without a
    text the path is that of the file.
    """
    path = kernels.written(folder, text) if text else folder
    done = subprocess.run(
        command(path, "--debug", *options), input="".join(f"{line}\n" for line in lines), text=True,
        capture_output=True, timeout=SECONDS, env={**os.environ, "COLUMNS": "80"}, check=False,
    )
    assert done.stderr == ""
    assert done.returncode == status, done.stdout
    return done.stdout


def answers(text: str) -> dict[str, str]:
    """What was printed after each line of a session, without the last end of line."""
    parts = text.split("(ptx) ")[1:]
    found: dict[str, str] = {}
    for part in parts:
        line, _, said = part.partition("\n")
        found[line] = said.rstrip("\n")
    return found
