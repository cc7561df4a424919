"""Times what `ptx-lint` does to files of several sizes, beside tree-sitter alone and beside `ptxas -O3`.

    python -m benchmarks.lint [--lines N ...] [--rounds N] [--no-ptxas]

Every figure is the least of some rounds in one process for each size; the spread is the largest by the
least. Garbage collection is off while a round runs, as in the command. `tree_sitter` is the C
parser, without any of our Python; `parse` adds the typed nodes, `model` the names, `lint` the rules.
`edit` is one character typed in the middle of the file, from the edit to the new findings. Peak memory is
that of the process after one lint.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypedDict

import tree_sitter_ptx
from tree_sitter import Language, Parser

from benchmarks.inputs import of_lines
from ptx_lsp import ptxas
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Edit, Source

SIZES = (1_000, 10_000, 50_000, 300_000)


class Figures(TypedDict):
    """Seconds, each as [least, largest]; `memory` in bytes."""

    lines: int
    size: int
    tree_sitter: list[float]
    parse: list[float]
    model: list[float]
    lint: list[float]
    edit: list[float]
    memory: int
    errors: int


def measure(lines: int, rounds: int) -> Figures:
    """The time of one process for a file of `lines` lines."""
    data = of_lines(lines)
    parser = Parser(Language(tree_sitter_ptx.language()))
    source = Source(data)
    LintSession(Module(Document.parse(Source(of_lines(1_000)))))  # the table and the rules are loaded
    before = _memory()
    linting = LintSession(Module(Document.parse(source)))
    memory = _memory() - before
    document = linting.module.document

    def edit() -> None:
        at = data.index(b"\n", len(data) // 2)
        edited = document.edited(Edit(at, at, b" "))
        LintSession(Module(edited, linting.module), previous=linting)

    return {
        "lines": data.count(b"\n"),
        "size": len(data),
        "tree_sitter": _timed(lambda: parser.parse(data), rounds),
        "parse": _timed(lambda: Document.parse(Source(data)), rounds),
        "model": _timed(lambda: Module(Document.parse(Source(data))), rounds),
        "lint": _timed(lambda: LintSession(Module(Document.parse(Source(data)))), rounds),
        "edit": _timed(edit, rounds),
        "memory": memory,
        "errors": sum(d.severity == "error" for d in linting.diagnostics),
    }


def _timed(action: Callable[[], object], rounds: int) -> list[float]:
    taken: list[float] = []
    for _ in range(rounds):
        gc.collect()
        gc.disable()
        start = time.perf_counter()
        result = action()
        taken.append(time.perf_counter() - start)
        gc.enable()
        del result
    return [min(taken), max(taken)]


def _memory() -> int:
    """The most bytes that this process has had so far."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def _ptxas_seconds(lines: int) -> float | None:
    tool = ptxas.find()
    if tool is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "input.ptx")
        file.write_bytes(of_lines(lines))
        command = [str(tool), "-O3", "-arch", "sm_90", "-o", str(Path(folder, "out")), str(file)]
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        return time.perf_counter() - start


def _start_up(rounds: int) -> tuple[list[float], list[float]]:
    """Of `ptx-lint --version`, and of Python that does nothing."""

    def run(*arguments: str) -> Callable[[], object]:
        command = [sys.executable, *arguments]
        return lambda: subprocess.run(command, check=True, capture_output=True)

    return _timed(run("-m", "ptx_lsp", "--version"), rounds), _timed(run("-c", "pass"), rounds)


def main(arguments: Sequence[str]) -> int:
    options = argparse.ArgumentParser(prog="benchmarks.lint", description="time linting")
    options.add_argument("--lines", type=int, nargs="+", default=SIZES)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--no-ptxas", action="store_true")
    options.add_argument("--one", type=int, help=argparse.SUPPRESS)
    given = options.parse_args(arguments)
    if given.one:
        print(json.dumps(measure(given.one, given.rounds)))
        return 0
    print(f"Python {platform.python_version()}, {platform.machine()}; {given.rounds} rounds; seconds\n")
    print(
        "| lines | MB | tree_sitter | parse | model | lint | spread | lines/s | edit (ms) | MB used "
        "| lint / tree_sitter | ptxas -O3 | lint / ptxas |"
    )
    print("|" + "--:|" * 13)
    for lines in given.lines:
        command = [sys.executable, "-m", "benchmarks.lint", "--one", str(lines)]
        command += ["--rounds", str(given.rounds)]
        run = subprocess.run(command, check=True, capture_output=True, text=True)
        print(_row(json.loads(run.stdout), None if given.no_ptxas else _ptxas_seconds(lines)), flush=True)
    ours, python = _start_up(10)
    print(
        f"\nstart-up: `ptx-lint --version` {ours[0] * 1000:.0f} to {ours[1] * 1000:.0f} ms, "
        f"Python itself {python[0] * 1000:.0f} to {python[1] * 1000:.0f} ms"
    )
    return 0


def _row(one: Figures, by_ptxas: float | None) -> str:
    assert not one["errors"], "the file has errors"
    lint = one["lint"][0]
    cells = [
        f"{one['lines']:,}",
        f"{one['size'] / 1e6:.1f}",
        *(f"{one[key][0]:.3f}" for key in ("tree_sitter", "parse", "model", "lint")),
        f"{one['lint'][1] / lint:.2f}",
        f"{one['lines'] / lint:,.0f}",
        f"{one['edit'][0] * 1000:.1f}",
        f"{one['memory'] / 1e6:.0f}",
        f"{lint / one['tree_sitter'][0]:.1f}",
        f"{by_ptxas:.2f}" if by_ptxas else "-",
        f"{lint / by_ptxas:.2f}" if by_ptxas else "-",
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
