"""Times the whole command `ptx-lint` on files of real compilers, beside `ptxas -O3`.

    python -m benchmarks.lint [NAME ...] [--all] [--rounds N] [--cpu] [--format F] [--kernels]

Both commands run by turns on each file, with default rules and without cache. A ratio is that of two runs of
one round; a figure is the median over the rounds, with the least and the most in brackets. NAME is a part of
the name of a file of the corpus (`benchmarks/corpus.py`), or any path. Without one, the files are those of
`NAMES` there, and the start-up and a tree of files with one and two jobs are timed too.

ptxas gets `-g -O0` for files that it does not optimise (`.target debug`), `-c` for files that call functions
of other files, and its lowest target for files of older ones. Files that it rejects are left out: it stops at
their first error. `--cpu` compares CPU time, which depends less on what else the machine does.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.corpus import NAMES, ROOT, all_files, default_folder, own_files
from benchmarks.processes import Run, Spread, compile_modules, ptx_lint, run
from benchmarks.tree import fill
from ptx_lsp import ptxas

CLASSES = {
    "of 5 000 lines and more": (5_000, sys.maxsize),
    "of 1 000 to 5 000 lines": (1_000, 5_000),
    "below 1 000 lines": (0, 1_000),
}
LARGE = 10_000
"""Lines from which on lines a second are reported."""
SMALL = ROOT / "examples" / "saxpy.ptx"
_TREE_FILES = 500
_TREE_LINES = 1_000
"""Files of the tree have fewer lines."""
_PTXAS_OPTIONS = (["-O3"], ["-g", "-O0"], ["-O3", "-c"], ["-g", "-O0", "-c"])


class Figures(NamedTuple):
    """The figures of one file; `ratio` is None without ptxas."""

    name: str
    lines: int
    seconds: Spread
    ratio: Spread | None
    memory: int


def main(arguments: Sequence[str]) -> int:
    given = _options().parse_args(arguments)
    program = None if given.no_ptxas else ptxas.find()
    compile_modules()
    for line in _heading(program, given):
        print(line)
    command = [*ptx_lint(), "--no-cache", *_lint_options(given)]
    with tempfile.TemporaryDirectory() as folder:
        found = all_files(given.corpus, Path(folder, "corpus"))
        names = NAMES
        if not found:
            found = own_files()
            names = tuple(found)
            print(f"{given.corpus} has no corpus: its files are skipped, and there are {len(found)} here.\n")
        if given.all:
            names = tuple(found)
        elif given.names:
            names = tuple(name for name in found if any(word in name for word in given.names))
        files = {name: found[name] for name in names}
        files |= {name: Path(name) for name in given.names if Path(name).is_file()}
        figures = list(_table(files, command, program, given.rounds, given.cpu))
        for line in summary(figures):
            print(line)
        if not given.names:
            print(_start_up(command, given.rounds, given.cpu), flush=True)
            print(_jobs(command, found, Path(folder, "tree"), given.rounds))
    return 0


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog="benchmarks.lint", description="time ptx-lint beside ptxas")
    options.add_argument("names", nargs="*", metavar="NAME")
    options.add_argument("--all", action="store_true", help="all files of the corpus")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--cpu", action="store_true", help="CPU time instead of wall-clock time")
    options.add_argument("--format", help="of ptx-lint")
    options.add_argument("--kernels", action="store_true", help="of ptx-lint")
    options.add_argument("--corpus", type=Path, default=default_folder(), metavar="FOLDER")
    options.add_argument("--no-ptxas", action="store_true")
    return options


def _lint_options(given: argparse.Namespace) -> list[str]:
    form = ["--format", given.format] if given.format else []
    return [*form, *(["--kernels"] if given.kernels else [])]


def _heading(program: Path | None, given: argparse.Namespace) -> Iterator[str]:
    engine = find_spec("ptx_lsp.lint.engine")
    modules = "interpreted" if engine and str(engine.origin).endswith(".py") else "compiled"
    yield (
        f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores, load "
        f"{os.getloadavg()[0]:.1f}; modules {modules}; {given.rounds} rounds of "
        f"{'CPU' if given.cpu else 'wall-clock'} time"
    )
    beside = f"ptxas {ptxas.version(program)} -O3" if program else "nothing: there is no ptxas"
    yield f"`{' '.join(['ptx-lint', '--no-cache', *_lint_options(given), 'FILE'])}` beside {beside}\n"


def _table(
    files: dict[str, Path], command: list[str], program: Path | None, rounds: int, cpu: bool
) -> Iterator[Figures]:
    """Prints a row for each file, smallest file first."""
    print("| file | lines | ptx-lint (s) | lines/s | MB | ptxas (s) | its options | ratio |")
    print("|---|" + "--:|" * 5 + "---|--:|")
    lines = {name: path.read_bytes().count(b"\n") for name, path in files.items()}
    for name in sorted(files, key=lambda name: lines[name]):
        beside = _ptxas_command(files[name], program) if program else None
        if program and beside is None:
            print(f"| {name} | {lines[name]} | left out: ptxas rejects it |")
            continue
        ours: list[Run] = []
        theirs: list[Run] = []
        for _ in range(rounds):
            ours.append(run([*command, str(files[name])]))
            if beside:
                theirs.append(run([*beside, str(files[name])]))
        seconds = [_time(one, cpu) for one in ours]
        ratios = [a / _time(b, cpu) for a, b in zip(seconds, theirs, strict=True)] if theirs else None
        figures = Figures(
            name, lines[name], Spread.of(seconds), Spread.of(ratios) if ratios else None,
            max(one.memory for one in ours),
        )  # fmt: skip
        compiled = Spread.of([_time(one, cpu) for one in theirs]) if theirs else None
        print(_row(figures, compiled, " ".join(beside[1:-2]) if beside else ""), flush=True)
        yield figures


def _ptxas_command(file: Path, program: Path) -> list[str] | None:
    """The command with which ptxas accepts a file."""
    arch = ptxas.architecture(file.read_bytes(), program)
    for options in _PTXAS_OPTIONS:
        command = [str(program), *options, "-arch", arch, "-o", os.devnull]
        if not subprocess.run([*command, str(file)], capture_output=True, check=False).returncode:
            return command
    return None


def _time(one: Run, cpu: bool) -> float:
    return one.cpu if cpu else one.seconds


def _row(one: Figures, compiled: Spread | None, options: str) -> str:
    cells = [
        one.name,
        str(one.lines),
        _shown(one.seconds, 3),
        f"{one.lines / one.seconds.median:.0f}",
        f"{one.memory / 1e6:.0f}",
        f"{compiled.median:.3f}" if compiled else "",
        options,
        _shown(one.ratio, 2) if one.ratio else "",
    ]
    return f"| {' | '.join(cells)} |"


def summary(figures: Sequence[Figures]) -> Iterator[str]:
    """The figures of each class of sizes."""
    yield ""
    for words, (least, most) in CLASSES.items():
        ratios = [(one.ratio.median, one) for one in figures if least <= one.lines < most and one.ratio]
        if ratios:
            worst, file = max(ratios, key=lambda pair: pair[0])
            middle = median(ratio for ratio, _ in ratios)
            yield (
                f"{_files(len(ratios))} {words}: median {middle:.2f} times ptxas -O3, "
                f"worst {worst:.2f} ({file.name})"
            )
    large = [one for one in figures if one.lines > LARGE]
    if large:
        speeds = {one.name: one.lines / one.seconds.median for one in large}
        slowest = min(speeds, key=lambda name: speeds[name])
        yield (
            f"{_files(len(large))} beyond {_grouped(LARGE)} lines: median "
            f"{_grouped(median(speeds.values()))} lines/s, least {_grouped(speeds[slowest])} ({slowest})"
        )
    if figures:
        largest = max(figures, key=lambda one: one.memory)
        yield f"Peak memory: {largest.memory / 1e6:.0f} MB ({largest.name})"


def _start_up(command: list[str], rounds: int, cpu: bool) -> str:
    ours: list[float] = []
    bare: list[float] = []
    run([*command, str(SMALL)])
    for _ in range(4 * rounds):
        ours.append(_time(run([*command, str(SMALL)]), cpu))
        bare.append(_time(run([sys.executable, "-c", "pass"]), cpu))
    ratio = Spread.of([a / b for a, b in zip(ours, bare, strict=True)])
    lines = SMALL.read_bytes().count(b"\n")
    return f"{lines} lines: {median(ours) * 1e3:.0f} ms, {_shown(ratio, 1)} times `python -c pass`"


def _jobs(command: list[str], files: dict[str, Path], tree: Path, rounds: int) -> str:
    """How much faster two jobs are than one."""
    texts = [path.read_text() for path in files.values()]
    size = fill(tree, _TREE_FILES, [text for text in texts if text.count("\n") < _TREE_LINES])
    ratios: list[float] = []
    for _ in range(min(rounds, 3)):
        one, two = (run([*command, "--jobs", jobs, str(tree)]).seconds for jobs in ("1", "2"))
        ratios.append(one / two)
    return (
        f"A tree of {_TREE_FILES} files ({size / 1e6:.1f} MB): two jobs are {_shown(Spread.of(ratios), 2)} "
        "times as fast as one"
    )


def _files(number: int) -> str:
    return f"{number} file{'' if number == 1 else 's'}"


def _grouped(number: float) -> str:
    return f"{number:,.0f}".replace(",", " ")


def _shown(one: Spread, digits: int) -> str:
    return f"{one.median:.{digits}f} ({one.least:.{digits}f} to {one.most:.{digits}f})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
