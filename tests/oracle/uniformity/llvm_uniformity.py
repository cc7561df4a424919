"""Compares `ptx_lsp.analyses.divergence.uniformity` with LLVM's analysis of the same blocks and values.

    python -m tests.oracle.uniformity.llvm_uniformity                  the files beside this one
    python -m tests.oracle.uniformity.llvm_uniformity FOLDER|FILE ...  others; of a folder all `*.ptx` in it
    python -m tests.oracle.uniformity.llvm_uniformity --random 2000    so many random kernels
    python -m tests.oracle.uniformity.llvm_uniformity --update         records LLVM's verdicts on our files

`opt-22` (Debian's package llvm-22) is asked, or the program that $LLVM_OPT names. What a file becomes for
it is told in `llvm_skeleton.py`.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from ptx_lsp.analyses.control_flow.dominance import dominance
from ptx_lsp.model.module import Module
from tests.analyses.blocks import HEADER
from tests.analyses.random_kernels import program
from tests.oracle import corpus
from tests.oracle.uniformity import branches
from tests.oracle.uniformity.branches import Branch, Recorded
from tests.oracle.uniformity.llvm_skeleton import DECLARATIONS, skeleton

RECORDED = Path(__file__).parent / "llvm_uniformity.txt"
_PASSES = "mem2reg,print<uniformity>"
_COLUMNS = ("branches", "both", "only LLVM", "only we", "neither")


class Compared(NamedTuple):
    """A branch, and whether LLVM holds it uniform."""

    file: str
    branch: Branch
    by_llvm: bool

    @property
    def column(self) -> str:
        ours = self.branch.level.is_uniform
        if ours and self.by_llvm:
            return "both"
        return "only LLVM" if self.by_llvm else "only we" if ours else "neither"


def compare(file: str, text: str, tool: str) -> Iterator[Compared]:
    """All branches of the functions of one file."""
    functions = branches.defined(Module.parse(text))
    found = [list(branches.branches_of(function)) for function in functions]
    wanted = {f"f{index}": functions[index] for index, one in enumerate(found) if one}
    divergent = _divergent(
        DECLARATIONS + "".join(skeleton(function, name) for name, function in wanted.items()), tool
    )
    for index, those in enumerate(found):
        for branch in those:
            yield Compared(file, branch, (f"f{index}", f"b{branch.block}") not in divergent)


def _divergent(text: str, tool: str) -> set[tuple[str, str]]:
    """The functions and blocks with a divergent end."""
    command = [tool, "-mtriple=nvptx64-nvidia-cuda", f"-passes={_PASSES}", "-disable-output", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        raise RuntimeError(done.stderr[:500])
    found: set[tuple[str, str]] = set()
    function = block = ""
    for line in done.stderr.splitlines():
        if match := re.match(r"UniformityInfo for function '(\w+)'", line):
            function = match[1]
        elif match := re.match(r"BLOCK (\w+)", line):
            block = match[1]
        elif re.match(r"\s*DIVERGENT:\s+(br|switch) ", line):
            found.add((function, block))
    return found


def find() -> str | None:
    """LLVM's `opt`."""
    return os.environ.get("LLVM_OPT") or shutil.which("opt-22")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--update", action="store_true", help="record what LLVM says of our files")
    parser.add_argument("--random", type=int, default=0, help="so many random kernels")
    parser.add_argument("paths", nargs="*", type=Path)
    options = parser.parse_args()
    tool = find()
    if tool is None:
        parser.error("no opt-22 at hand")
    texts = _random(options.random) if options.random else _files(options.paths or corpus.files())
    rows: list[Compared] = []
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for name, file, text in texts:
        for row in compare(file, text, tool):
            rows.append(row)
            for key in (name, "all"):
                table[key].update(("branches", row.column))
            if row.column == "only LLVM":
                branch = row.branch
                print(f"{file}:{branch.line}: {branch.level.name.lower()}: {branch.because}")
    print(f"{'':24}", *(f"{column:>10}" for column in _COLUMNS))
    for name, counts in sorted(table.items()):
        print(f"{name:24}", *(f"{counts[column]:10}" for column in _COLUMNS))
    if options.update:
        branches.write(RECORDED, [_record(row) for row in rows])
    return 0


def _record(row: Compared) -> Recorded:
    return Recorded(row.file, row.branch.line, "uniform" if row.by_llvm else "divergent")


def _files(paths: list[Path]) -> Iterator[tuple[str, str, str]]:
    """Each file with the name of its row in the table: its folder, or the first word of its name."""
    for path in paths:
        for file in sorted(path.rglob("*.ptx")) if path.is_dir() else [path]:
            name = path.name if path.is_dir() else file.name.partition("_")[0]
            yield name, file.name, file.read_text(errors="replace")


def _random(count: int) -> Iterator[tuple[str, str, str]]:
    """Random kernels; those with an irreducible graph apart."""
    for seed in range(count):
        text = HEADER + program(Random(seed))
        found = dominance(Module.parse(text).functions[0])
        yield "irreducible" if found.is_irreducible else "reducible", f"random {seed}", text


if __name__ == "__main__":
    sys.exit(main())
