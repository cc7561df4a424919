"""How far the register estimate is from ptxas, on kernels whose figures are known.

    python -m tests.oracle.figures.accuracy [--corpus FOLDER] [--truth FILE] [--update]

FOLDER holds PTX files, FILE (else FOLDER/truth.jsonl) a JSON object a line with the keys `file`, `arch` and
`kernels`, of each by name the `registers` that ptxas says are used and perhaps `sass_peak`, the most that
are live in its machine code. Without FOLDER the files of this repository are measured, whose figures
are in registers.json. `--update` writes docs/accuracy.md and its plot, and those figures.

The constants of the estimate are found anew for each source, from all kernels of other sources, to see what
they are worth where they were not calibrated; a source is the program that kernels were compiled from, by
whichever compiler and for whichever target.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from multiprocessing import Pool
from pathlib import Path
from statistics import median
from typing import NamedTuple, TypedDict

from analyses.occupancy.calculator import occupancy
from analyses.occupancy.launch_bounds import launch_bounds
from analyses.registers import register_estimate as registers
from ptx_lsp.isa.target import parse_target
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Source
from tests.oracle import corpus

RECORD = Path(__file__).parent / "registers.json"
PAGE = Path(__file__).parents[3] / "docs" / "accuracy.md"
PLOT = PAGE.with_suffix(".svg")
_USUAL_BLOCK = 256


class _Kernel(TypedDict, total=False):
    registers: int
    sass_peak: int


class _Record(TypedDict):
    file: str
    arch: str
    accepted: bool
    kernels: dict[str, _Kernel] | None


class Truth(NamedTuple):
    """What ptxas says of one kernel; `peak` is None where the machine code was not looked at."""

    file: str
    target: str
    kernel: str
    used: int
    peak: int | None


class Figures(NamedTuple):
    """One kernel, measured and estimated. `choices` are the estimates with other constants."""

    truth: Truth
    kind: str
    steps: int
    threads: int
    peak: int
    estimate: int
    low: int
    high: int
    choices: tuple[tuple[int, int], ...]

    @property
    def source(self) -> str:
        return self.truth.file.replace("_", "/", 1).rpartition("/")[2].partition(".")[0]

    @property
    def folder(self) -> str:
        return self.truth.file.replace("_", "/", 1).partition("/")[0]


_RESERVES: Sequence[int] = (4, 5, 6, 7, 8)
_ABOVE: Sequence[int] = tuple(range(2, 10))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--corpus", type=Path)
    arguments.add_argument("--truth", type=Path)
    arguments.add_argument("--update", action="store_true")
    given = arguments.parse_args()
    if given.corpus is None:
        print("\n".join(table(measured(recorded()))))
        return
    truths = list(told(given.truth or given.corpus / "truth.jsonl"))
    found = list(measured_below(given.corpus, truths))
    report = table(found)
    print("\n".join(report))
    if given.update:
        _record(truths)
        PAGE.write_text(_page(report, found))
        PLOT.write_text(plot(found))


def told(truth: Path) -> Iterator[Truth]:
    """The kernels of a truth file."""
    for line in truth.read_text().splitlines():
        record: _Record = json.loads(line)
        for name, kernel in (record.get("kernels") or {}).items():
            if record["accepted"] and kernel.get("registers"):
                peak = kernel.get("sass_peak")
                used = kernel.get("registers", 0)
                yield Truth(record["file"], record["arch"], name, used, peak)


def recorded() -> list[Truth]:
    """The kernels of the files of this repository."""
    return [Truth(*row) for row in json.loads(RECORD.read_text())]


def measured(truths: Iterable[Truth]) -> list[Figures]:
    """The estimates of the files of this repository beside the truth."""
    return [one for group in _by_file(truths) for one in _of_file(corpus.FOLDER, group)]


def measured_below(folder: Path, truths: Iterable[Truth]) -> Iterator[Figures]:
    """The same for files below `folder`."""
    with Pool() as pool:
        tasks = [(folder, group) for group in _by_file(truths)]
        for figures in pool.starmap(_of_file, tasks, chunksize=2):
            yield from figures


def _by_file(truths: Iterable[Truth]) -> list[list[Truth]]:
    groups: dict[str, list[Truth]] = {}
    for truth in truths:
        groups.setdefault(truth.file, []).append(truth)
    return list(groups.values())


def _of_file(folder: Path, truths: list[Truth]) -> list[Figures]:
    module = Module(Document.parse(Source((folder / truths[0].file).read_bytes())))
    found = (_figures(module, truth) for truth in truths if truth.kernel in module.definitions)
    return [one for one in found if one is not None]


def _figures(module: Module, truth: Truth) -> Figures | None:
    function, target = module.definitions[truth.kernel], parse_target(truth.target)
    estimate = registers.register_estimate(function, target)
    if target is None or estimate is None:
        return None
    bounds = launch_bounds(function)
    kind = registers.spread(function, target)
    field = "pairs" if kind == "debug" else kind.replace(" ", "_")
    choices: list[tuple[int, int]] = []
    for reserve, above in product(_RESERVES, _ABOVE):
        calibration = registers.CALIBRATED._replace(**{"reserve": reserve, field: above})
        other = registers.register_estimate(function, target, calibration)
        choices.append((other.peak_live, other.estimate) if other else (0, 0))
    return Figures(
        truth,
        field,
        len(function.body.instructions),
        bounds.threads_per_block if bounds is not None else 0,
        *estimate,
        tuple(choices),
    )


def table(figures: Sequence[Figures]) -> list[str]:
    """The errors as lines of a Markdown table: altogether, by folder, and with constants found elsewhere."""
    lines = [
        "| kernels | number | `peak_live`: median error | within 10 % | `estimate`: median error "
        "| within 10 % | in the interval | same blocks |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
        _row("all", figures, lambda one: (one.peak, one.estimate)),
    ]
    lines.append(_row("constants of other sources", figures, left_out(figures)))
    for folder in sorted({one.folder for one in figures}):
        some = [one for one in figures if one.folder == folder]
        lines.append(_row(folder, some, lambda one: (one.peak, one.estimate)))
    return lines


def left_out(figures: Sequence[Figures]) -> Callable[[Figures], tuple[int, int]]:
    """The estimate of each kernel with the constants that are best for all other sources."""
    found: dict[str, dict[str, int]] = {}
    for source in sorted({one.source for one in figures}):
        others = [one for one in figures if one.source != source]
        best: dict[str, int] = {}
        reserve = min(
            range(len(_RESERVES)),
            key=lambda at: _error(
                [_chosen(one, at, 0)[0] for one in others], [one.truth.peak for one in others]
            ),
        )
        for kind in {one.kind for one in figures}:
            alike = [one for one in others if one.kind == kind]
            best[kind] = reserve * len(_ABOVE) + min(
                range(len(_ABOVE)),
                key=lambda at: _error(
                    [_chosen(one, reserve, at)[1] for one in alike],
                    [one.truth.used for one in alike],
                ),
            )
        found[source] = best
    return lambda one: one.choices[found[one.source][one.kind]]


def _chosen(one: Figures, reserve: int, above: int) -> tuple[int, int]:
    return one.choices[reserve * len(_ABOVE) + above]


def _error(estimates: Sequence[int], truths: Sequence[int | None]) -> float:
    """The mean error, errors above one half counting as that: it moves with each kernel."""
    errors = [
        min(0.5, abs(estimate - truth) / truth)
        for estimate, truth in zip(estimates, truths, strict=True)
        if truth
    ]
    return sum(errors) / len(errors) if errors else 0.0


def _row(
    name: str, figures: Sequence[Figures], estimate: Callable[[Figures], tuple[int, int]]
) -> str:
    peaks = [(estimate(one)[0], one.truth.peak) for one in figures if one.truth.peak]
    used = [(estimate(one)[1], one.truth.used) for one in figures]
    inside = sum(one.low <= one.truth.used <= one.high for one in figures)
    same = sum(_blocks(one, estimate(one)[1]) == _blocks(one, one.truth.used) for one in figures)
    count = len(figures)
    return (
        f"| {name} | {count} | {_errors(peaks)} | {_errors(used)} | {inside / count:.1%} "
        f"| {same / count:.1%} |"
    )


def _errors(pairs: Sequence[tuple[int, int]]) -> str:
    if not pairs:
        return "- | -"
    errors = [abs(estimate - truth) / truth for estimate, truth in pairs]
    return f"{median(errors):.1%} | {sum(error <= 0.1 for error in errors) / len(errors):.1%}"


def _blocks(one: Figures, used: int) -> int:
    threads = min(one.threads or _USUAL_BLOCK, 1024)
    return occupancy(one.truth.target, threads, min(used, 255)).blocks_per_sm


def _record(truths: Iterable[Truth]) -> None:
    own = {path.name for path in corpus.files()}
    rows = [truth._replace(file=truth.file.replace("/", "_")) for truth in truths]
    kept = [list(row) for row in rows if row.file in own]
    RECORD.write_text("[\n" + ",\n".join(map(json.dumps, kept)) + "\n]\n")


def _page(report: Sequence[str], figures: Sequence[Figures]) -> str:
    sources = len({one.source for one in figures})
    text = (Path(__file__).parent / "accuracy.md").read_text()
    return text.replace("{table}", "\n".join(report)).replace("{sources}", str(sources))


def plot(figures: Sequence[Figures], size: int = 520, margin: int = 46) -> str:
    """Estimates over what ptxas uses, both on logarithmic axes from 4 to 256, as SVG."""

    def at(registers: float) -> float:
        from math import log2

        return margin + (size - 2 * margin) * (log2(max(4, registers)) - 2) / 6

    marks = [4, 8, 16, 32, 64, 128, 256]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" font-family="sans-serif"'
        ' font-size="11">',
        f'<rect width="{size}" height="{size}" fill="#fff"/>',
    ]
    for mark in marks:
        x, y = at(mark), size - at(mark)
        parts.append(
            f'<path d="M{x:.1f} {margin}V{size - margin}M{margin} {y:.1f}H{size - margin}"'
            ' stroke="#ddd"/>'
            f'<text x="{x:.1f}" y="{size - margin + 16}" text-anchor="middle">{mark}</text>'
            f'<text x="{margin - 6}" y="{y + 4:.1f}" text-anchor="end">{mark}</text>'
        )
    low, high = at(4), at(256)
    for factor, dash in ((1.0, ""), (0.9, "4 3"), (1.1, "4 3")):
        shift = at(16 * factor) - at(16)
        parts.append(
            f'<path d="M{low:.1f} {size - low - shift:.1f}L{high:.1f} {size - high - shift:.1f}"'
            f' stroke="#888" stroke-dasharray="{dash}" fill="none"/>'
        )
    parts.extend(
        f'<circle cx="{at(one.truth.used):.1f}" cy="{size - at(one.estimate):.1f}" r="2.6"'
        ' fill="#1f6feb" fill-opacity=".35"/>'
        for one in figures
    )
    middle = size / 2
    parts.append(
        f'<text x="{middle}" y="{size - 8}" text-anchor="middle">registers used (ptxas)</text>'
        f'<text transform="translate(13 {middle}) rotate(-90)" text-anchor="middle">estimate</text></svg>'
    )
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    main()
