"""Counts the findings that ptx-lint has in the output of compilers, by compiler and optimisation level.

    python -m benchmarks.findings

The files are those of `benchmarks/corpus.py`. "Shown" are the findings that reports for people show by
default, grouped by their cause; "all" are those of `--min-severity hint`, one by one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.corpus import all_files, default_folder, own_files
from ptx_lsp.lint.diagnostic import SEVERITIES
from ptx_lsp.lint.results.report import FileReport, count
from ptx_lsp.lint.results.shown import groups
from ptx_lsp.linting import lint_files

_LEVELS: Final = {
    "O3": "-O3", "G": "-G", "lineinfo": "-O3 -lineinfo", "fast_rdc": "-O3 -use_fast_math -rdc=true",
    "O0": "-O0", "O2": "-O2", "O1g": "-O1 -g", "dbg": "debug",
}
_DEFAULT: Final = {"nvcc": "-O3", "cub": "-O3", "numba": "opt", "triton": "opt", "tinygrad": "opt"}


class Row(NamedTuple):
    """The findings in files with one compiler and level."""

    compiler: str
    level: str
    reports: list[FileReport]

    def cells(self) -> Iterator[str]:
        """The cells of the table."""
        counts = count(self.reports)
        shown = [one for file in self.reports for one in groups(file, "warning")]
        yield from (self.compiler, self.level, str(len(self.reports)))
        yield from (str(counts[severity]) for severity in SEVERITIES)
        yield str(sum(counts.values()))
        yield f"{len(shown)} in {sum(bool(groups(file, 'warning')) for file in self.reports)} files"


def kind_of(name: str) -> tuple[str, str]:
    """The compiler and the level of a file of the corpus, such as `clang/scan.sm_90.O2`."""
    folder, _, rest = name.rpartition("/")
    compiler = folder.partition("/")[0].rstrip("0123456789") or "other"
    levels = [_LEVELS[word] for word in rest.split(".") if word in _LEVELS]
    return compiler, levels[-1] if levels else _DEFAULT.get(compiler, "")


def rows(files: dict[str, Path]) -> list[Row]:
    """The rows of the table."""
    found: dict[tuple[str, str], list[Path]] = {}
    for name, path in files.items():
        found.setdefault(kind_of(name), []).append(path)
    return [Row(*kind, list(lint_files(paths))) for kind, paths in sorted(found.items())]


def main() -> None:
    """Prints the table as Markdown."""
    heads = ("compiler", "options", "files", *(f"{severity}s" for severity in SEVERITIES), "all", "shown")
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    with tempfile.TemporaryDirectory() as scratch:
        for row in rows(all_files(default_folder(), Path(scratch)) or own_files()):
            print(f"| {' | '.join(row.cells())} |")


if __name__ == "__main__":
    main()
