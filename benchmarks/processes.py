"""Runs commands and measures them as whole processes."""

from __future__ import annotations

import compileall
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.corpus import ROOT

_SETTINGS = ("PYTHONDONTWRITEBYTECODE", "PTX_LINT_NO_CACHE", "PTX_LINT_CACHE_DIR")
"""Variables that would change what is measured."""


class Run(NamedTuple):
    """The cost of a process: seconds of wall-clock and of CPU time, and the most bytes of memory."""

    seconds: float
    cpu: float
    memory: int


class Spread(NamedTuple):
    """A figure over several rounds."""

    median: float
    least: float
    most: float

    @staticmethod
    def of(values: Sequence[float]) -> Spread:
        return Spread(median(values), min(values), max(values))


def ptx_lint() -> list[str]:
    """The command of this environment."""
    program = Path(sys.executable).with_name("ptx-lint")
    return [str(program)] if program.is_file() else [sys.executable, "-m", "ptx_lsp"]


def run(command: Sequence[str], environment: dict[str, str] | None = None) -> Run:
    """Runs a command without output. Raises CalledProcessError if it is killed or reports wrong usage."""
    variables = {name: value for name, value in os.environ.items() if name not in _SETTINGS}
    start = time.perf_counter()
    process = subprocess.Popen(
        command, env=variables | (environment or {}), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):  # ptx-lint: 1 if it finds errors
        raise subprocess.CalledProcessError(process.returncode, command)
    memory = used.ru_maxrss if sys.platform == "darwin" else used.ru_maxrss * 1024
    return Run(seconds, used.ru_utime + used.ru_stime, memory)


def compile_modules() -> None:
    """Writes the byte code of all modules, as an installation does."""
    for folder in ("ptx_lsp", "tree-sitter-ptx/bindings/python"):
        compileall.compile_dir(ROOT / folder, quiet=2)
