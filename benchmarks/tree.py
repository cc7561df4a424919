"""Times `ptx-lint` on a tree of many files: cold, warm, with one file changed, and with two jobs.

    python -m benchmarks.tree [--files N] [--rounds N]

The files are kernels of real compilers, each with a header of its own and a comment that makes it unlike all
others. Every figure is the least of some runs of the command as a process of its own; `start` is one with a
single small file and no cache, which is what starting costs. Figures on one machine at one time can be
compared; hence the ratios.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import count, cycle
from pathlib import Path

from benchmarks.inputs import HEADER, kernels


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--files", type=int, default=500, metavar="N")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tree, cache = Path(folder, "tree"), Path(folder, "cache")
        size = fill(tree, options.files)
        print(f"{options.files} files, {size / 1e6:.1f} MB, {os.cpu_count()} cores")
        for line in table(tree, cache, options.rounds):
            print(line)


def fill(tree: Path, files: int) -> int:
    """Writes that many files, 25 in a folder. Returns their bytes."""
    size = 0
    for number, (_, text) in zip(range(files), cycle(kernels()), strict=False):
        path = tree / f"{number // 25:02}" / f"k{number}.ptx"
        path.parent.mkdir(parents=True, exist_ok=True)
        size += path.write_text(f"// {number}\n{HEADER}{text}\n")
    return size


def table(tree: Path, cache: Path, rounds: int) -> list[str]:
    """The lines of the table."""
    changes = count()

    def change() -> None:
        with (tree / "00" / "k0.ptx").open("a") as file:
            file.write(f"// {next(changes)}\n")

    def empty() -> None:
        for entry in cache.glob("*/*"):
            entry.unlink()

    def least(before: Callable[[], None], *arguments: str) -> float:
        times: list[float] = []
        for _ in range(rounds):
            before()
            start = time.perf_counter()
            run(cache, *arguments)
            times.append(time.perf_counter() - start)
        return min(times)

    def nothing() -> None:
        pass

    where = str(tree)
    rows = {
        "cold": least(empty, where),
        "warm": least(nothing, where),
        "one file changed": least(change, where),
        "no cache, one job": least(nothing, "--no-cache", "--jobs", "1", where),
        "no cache, two jobs": least(nothing, "--no-cache", "--jobs", "2", where),
        "start": least(nothing, "--no-cache", str(tree / "00" / "k0.ptx")),
    }
    cold, alone = rows["cold"], rows["no cache, one job"]
    lines = [f"{name:18}  {seconds:7.2f} s" for name, seconds in rows.items()]
    lines.append(f"warm is {cold / rows['warm']:.1f} times as fast as cold")
    lines.append(f"with one file changed it is {cold / rows['one file changed']:.1f} times as fast")
    lines.append(f"two jobs are {alone / rows['no cache, two jobs']:.2f} times as fast as one")
    return lines


def run(cache: Path, *arguments: str) -> None:
    """One run of the command. Raises CalledProcessError where it fails."""
    command = [sys.executable, "-m", "ptx_lsp", "--quiet", "--exit-zero", *arguments]
    environment = {**os.environ, "PTX_LINT_CACHE_DIR": str(cache)}
    environment.pop("PTX_LINT_NO_CACHE", None)
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
