"""The data set of kernels that register estimates are judged by.

build   compiles PTX files with ptxas and adds what it says to a data set, which is divided into the parts
        `train`, `calibration` and `fresh`; goes on where an earlier run was ended
measure the error of the estimate on parts
train   the correction of the estimate, from parts; writes it, the figures of left-out repositories and
        docs/accuracy.md
fresh   measures a part that nobody has looked at, and adds its figures to docs/accuracy.md under a name
count   the kernels of each part by compiler, target and program, without estimating
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, median

from ptx_lsp import ptxas
from ptx_lsp.analyses.registers.correction import FILE
from tests.oracle.instructions.machine_code import disassembler
from tests.oracle.registers.build import Settings, build
from tests.oracle.registers.data_set import TRUTH, DataSet, records
from tests.oracle.registers.estimates import estimates
from tests.oracle.registers.figures import drawn_again, error, is_covered, spread, table
from tests.oracle.registers.page import record_fresh, record_left_out
from tests.oracle.registers.parts import PARTS, SHARES
from tests.oracle.registers.truth import Tools


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a subcommand."""
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        match given.command:
            case "build":
                return _build(given)
            case "measure":
                return _measure(given.part, given.every)
            case "train":
                return _train(given)
            case "fresh":
                record_fresh(given.draw, estimates(_part(given.part)))
                return 0
            case _:
                return _count(given.data)
    except (OSError, ValueError) as problem:
        print(f"registers: {problem}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.oracle.registers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    add = commands.add_parser("build", help="add PTX files to a data set")
    add.add_argument("data", type=Path, help="the data set: a folder outside the repository")
    add.add_argument("files", type=Path, nargs="+", help="folders of PTX files with files.jsonl")
    add.add_argument("--seed", default="1", help="decides the part of each repository")
    add.add_argument(
        "--shares", type=float, nargs=len(PARTS), default=SHARES, metavar=tuple(map(str.upper, PARTS)),
        help="of the repositories, by part",
    )  # fmt: skip
    add.add_argument("--most", type=int, default=30, help="kernels of a file, drawn by the seed")
    add.add_argument("--timeout", type=float, default=60, help="of ptxas, in seconds")
    add.add_argument("--workers", type=int, default=2)
    show = commands.add_parser("measure", help="print the error of the estimate")
    show.add_argument("part", type=Path, nargs="+", help="a folder with truth.jsonl")
    show.add_argument("--every", type=int, default=1, help="only each so many files")
    learn = commands.add_parser("train", help="train the correction of the estimate")
    learn.add_argument("--data", type=Path, action="append", required=True, help="a part")
    learn.add_argument(
        "--calibration", type=Path, action="append", default=[],
        help="a part to train on that also decides the width of intervals",
    )  # fmt: skip
    learn.add_argument("--seed", type=int, default=1, help="of folds and trees")
    learn.add_argument("--workers", type=int, default=2)
    learn.add_argument("--dry-run", action="store_true", help="only print the figures")
    once = commands.add_parser("fresh", help="record the figures of a fresh part")
    once.add_argument("part", type=Path)
    once.add_argument("--draw", default="fresh", help="the name of its row in docs/accuracy.md")
    count = commands.add_parser("count", help="print the numbers of kernels")
    count.add_argument("data", type=Path)
    return parser


def _build(given: argparse.Namespace) -> int:
    compiler, nvdisasm = ptxas.find(), disassembler()
    if compiler is None or nvdisasm is None:
        print("registers: no ptxas or no nvdisasm at hand", file=sys.stderr)
        return 2
    data = DataSet(given.data)
    settings = Settings(Tools(compiler, nvdisasm), given.seed, given.most, given.timeout, given.shares)
    for folder in given.files:
        for name, count in build(folder, data, settings, given.workers).most_common():
            print(f"{folder}: {count} {name}")
    return 0


def _measure(parts: Sequence[Path], every: int) -> int:
    rows = [row for part in parts for row in estimates(_part(part), every)]
    print("\n".join(table(rows)))
    by_origin = spread(rows, lambda found: found.error)
    if by_origin is not None:
        low, middle, high = by_origin
        print(f"\nMedian error of a repository: quartiles {low:.1%}, {middle:.1%}, {high:.1%}")
        low, high = drawn_again(rows, lambda row: abs(error(row)), median)
        least, most = drawn_again(rows, is_covered, mean)
        print(
            "In nine of ten draws of as many such repositories, the median error is"
            f" {low:.1%} to {high:.1%},\nand the interval holds {least:.1%} to {most:.1%}"
        )
    return 0


def _train(given: argparse.Namespace) -> int:
    from tests.oracle.registers.samples import samples
    from tests.oracle.registers.train import to_text, train

    parts: Sequence[Path] = given.data
    calibration: Sequence[Path] = given.calibration
    rows = samples([_part(part) for part in parts], [_part(part) for part in calibration], given.workers)
    if not rows:
        raise ValueError("there are no kernels to train on")
    found = train(rows, given.seed)
    print("\n".join(table(found.left_out)))
    if not given.dry_run:
        Path(FILE).write_text(to_text(found.correction))
        record_left_out(found.left_out)
    return 0


def _part(folder: Path) -> Path:
    if not (folder / TRUTH).exists():
        raise FileNotFoundError(f"{folder / TRUTH}: no such file")
    return folder


def _count(data: Path) -> int:
    for part in PARTS:
        if not (data / part).exists():
            continue
        by: dict[str, Counter[str]] = {"compiler": Counter(), "target": Counter()}
        programs: set[tuple[str, str]] = set()
        for record in records(data / part):
            number = len(record["kernels"])
            by["compiler"][record["compiler"]] += number
            by["target"][record["arch"]] += number
            programs.add((record["repository"], record["program"]))
        repositories = len({repository for repository, _ in programs})
        print(
            f"{part}: {by['target'].total()} kernels of {len(programs)} programs"
            f" of {repositories} repositories"
        )
        for name, counts in by.items():
            print(f"  by {name}: {', '.join(f'{key} {n}' for key, n in sorted(counts.items()))}")
    return 0
