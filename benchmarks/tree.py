"""Times `ptx-lint` on a tree of many files: with an empty cache, with a full one, and with one file changed.

    python -m benchmarks.tree [--files N] [--rounds N]

The files are kernels of real compilers, each with a header of its own and a comment that makes it unlike all
others. Every figure is the least of some runs of the command as a process of its own. Figures on one machine
at one time can be compared; hence the ratios. `benchmarks.lint` compares numbers of jobs.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterable
from itertools import count, cycle
from pathlib import Path

from benchmarks.processes import ptx_lint, run


def main() -> None:
    """Prints a table."""
    from benchmarks.inputs import HEADER, kernels

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--files", type=int, default=500, metavar="N")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tree, cache = Path(folder, "tree"), Path(folder, "cache")
        size = fill(tree, options.files, [f"{HEADER}{text}" for _, text in kernels()])
        print(f"{options.files} files, {size / 1e6:.1f} MB, {os.cpu_count()} cores")
        for line in table(tree, cache, options.rounds):
            print(line)


def fill(tree: Path, files: int, texts: Iterable[str]) -> int:
    """Writes that many files, 25 in a folder, of the texts over and over. Returns their bytes."""
    size = 0
    for number, text in zip(range(files), cycle(texts), strict=False):
        path = tree / f"{number // 25:02}" / f"k{number}.ptx"
        path.parent.mkdir(parents=True, exist_ok=True)
        size += path.write_text(f"// {number}\n{text}\n")
    return size


def table(tree: Path, cache: Path, rounds: int) -> list[str]:
    """The lines of the table."""
    changes = count()
    command = [*ptx_lint(), "--quiet", "--exit-zero", str(tree)]

    def change() -> None:
        with (tree / "00" / "k0.ptx").open("a") as file:
            file.write(f"// {next(changes)}\n")

    def empty() -> None:
        for entry in cache.glob("*/*"):
            entry.unlink()

    def least(before: Callable[[], None]) -> float:
        times: list[float] = []
        for _ in range(rounds):
            before()
            times.append(run(command, {"PTX_LINT_CACHE_DIR": str(cache)}).seconds)
        return min(times)

    def nothing() -> None:
        pass

    rows = {"cold": least(empty), "warm": least(nothing), "one file changed": least(change)}
    cold = rows["cold"]
    lines = [f"{name:16}  {seconds:7.2f} s" for name, seconds in rows.items()]
    lines.append(f"warm is {cold / rows['warm']:.1f} times as fast as cold")
    lines.append(f"with one file changed it is {cold / rows['one file changed']:.1f} times as fast")
    return lines


if __name__ == "__main__":
    main()
