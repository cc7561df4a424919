"""How the cost of linting and of a keystroke grows with the size of hostile texts (`benchmarks.shapes`).

    python -m benchmarks.hostile [SHAPE ...] [--scale X] [--rounds N] [--limit SECONDS]

Each text is read in two sizes, n and 2n, each in a process of its own. `lint` is the CPU time of
`ptx-lint --no-cache` without its start-up; `key` that of the worst of some keystrokes in the middle of the
text, until all findings are known that a server reports. Both are medians of some rounds. A ratio is that of
2n to n: 2 is linear, and more than 2.5 is reported. `memory` is by how much the process grows that lints, in
bytes for each byte of text; more than 200 are reported.

`--scale` is that of all sizes; at 1, most texts take about a second. `tests/properties/test_hostile.py` holds
the ratios without times.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from statistics import median
from typing import TypedDict

from benchmarks.shapes import SHAPES
from ptx_lsp.cli.lint import main as ptx_lint
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Edit, Source

MOST = 2.5
"""Times the cost for twice the size."""
MOST_MEMORY = 200
_LITTLE = 0.05
"""Seconds that are too few to compare."""


class Cost(TypedDict):
    """Seconds and bytes."""

    lint: float
    key: float
    kind: str
    memory: float


def measure(name: str, size: int, rounds: int) -> Cost:
    """The time and memory of this process for a shape of some size."""
    text = SHAPES[name].text(size)
    data = text.encode()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "hostile.ptx")
        file.write_text(SHAPES["kernels-with-work"].text(3))
        _lint(file)  # the table and the rules are loaded
        file.write_bytes(data)
        del text
        before = _memory()
        lint = [_lint(file)]
        memory = (_memory() - before) / len(data)
        lint += [_lint(file) for _ in range(rounds - 1)]
    keys = _keys(data, rounds)
    kind = max(keys, key=lambda kind: keys[kind])
    return {"lint": median(lint), "key": keys[kind], "kind": kind, "memory": memory}


def _lint(file: Path) -> float:
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        return _seconds(lambda: ptx_lint(["--no-cache", "--exit-zero", str(file)]))


def _keys(data: bytes, rounds: int) -> dict[str, float]:
    """The time that keystrokes of each kind take."""
    document = Document.parse(Source(data))
    before = LintSession(Module(document))
    found: dict[str, float] = {}
    for kind, edit in edits(data):

        def press(edit: Edit = edit) -> None:
            LintSession(Module(document.edited(edit), before.module), previous=before).worst(1_000)

        found[kind] = median([_seconds(press) for _ in range(rounds)])
    return found


def edits(data: bytes) -> Iterator[tuple[str, Edit]]:
    """Keystrokes of several kinds in the middle of a text, or at the beginning of a line there."""
    middle = len(data) // 2
    line = data.rfind(b"\n", 0, middle) + 1
    yield "space", Edit(middle, middle, b" ")
    yield "letter", Edit(middle, middle, b"a")
    yield "delete", Edit(middle, middle + 1, b"")
    for new in (b"\n", b"{", b"}", b'"', b"/*", b"x:\n"):
        yield repr(new.decode()), Edit(line, line, new)


def _seconds(work: Callable[[], object]) -> float:
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        work()
        return time.process_time() - start
    finally:
        gc.enable()


def _memory() -> int:
    """The most bytes that this process has had so far."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def _measured(name: str, size: int, rounds: int, limit: float) -> Cost | None:
    """What a process takes of its own; None where it takes more than `limit` seconds or fails."""
    command = [sys.executable, "-m", "benchmarks.hostile", name]
    command += ["--one", str(size), "--rounds", str(rounds)]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    if run.returncode:
        print(run.stderr[-1_000:], file=sys.stderr)
        return None
    return json.loads(run.stdout)


def main(arguments: Sequence[str]) -> int:
    options = argparse.ArgumentParser(prog="benchmarks.hostile", description="time hostile texts")
    options.add_argument("shapes", nargs="*", metavar="SHAPE", default=[], help=", ".join(SHAPES))
    options.add_argument("--scale", type=float, default=0.1, help="of all sizes")
    options.add_argument("--rounds", type=int, default=1)
    options.add_argument("--limit", type=float, default=60.0, help="seconds for a process")
    options.add_argument("--one", type=int, help=argparse.SUPPRESS)
    given = options.parse_args(arguments)
    if given.one:
        print(json.dumps(measure(given.shapes[0], given.one, given.rounds)))
        return 0
    print("| shape | n | lint n | 2n | ratio | key n | 2n | ratio | kind | memory | |")
    print("|---" + "|--:" * 7 + "|---|--:|---|")
    for name in given.shapes or SHAPES:
        size = int(SHAPES[name].size * given.scale)
        once, twice = (_measured(name, times * size, given.rounds, given.limit) for times in (1, 2))
        row, complaints = _row(once, twice)
        print(f"| {name} | {size:,} | {row} | {complaints} |", flush=True)
    return 0


def _row(once: Cost | None, twice: Cost | None) -> tuple[str, str]:
    """The cells of a row, and what is wrong with it."""
    if once is None or twice is None:
        return " | ".join(["-"] * 8), "no end"
    cells: list[str] = []
    complaints: list[str] = []
    for key in ("lint", "key"):
        ratio = twice[key] / max(once[key], 1e-9)
        cells += [f"{once[key]:.3f}", f"{twice[key]:.3f}", f"{ratio:.2f}"]
        if ratio > MOST and twice[key] > _LITTLE:
            complaints.append(key)
    cells += [twice["kind"].replace("|", "\\|"), f"{twice['memory']:.0f}"]
    if twice["memory"] > MOST_MEMORY:
        complaints.append("memory")
    return " | ".join(cells), " ".join(complaints)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
