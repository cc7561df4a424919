"""How far estimates are from the truth: the figures of docs/accuracy.md.

Errors are parts of the truth. Means and shares are over kernels; `spread` is over repositories.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from random import Random
from statistics import median, quantiles
from typing import NamedTuple

from ptx_lsp.analyses.occupancy.calculator import occupancy
from tests.oracle.registers.estimates import Estimated

CLASSES: Mapping[str, str] = {
    "sm_75": "sm_75",
    "sm_80": "sm_80",
    "sm_86": "sm_86, sm_89",
    "sm_89": "sm_86, sm_89",
    "sm_90": "sm_90, sm_100",
    "sm_100": "sm_90, sm_100",
    "sm_120": "sm_120",
}
"""The classes of targets for which ptxas allocates alike."""
SIZES: Sequence[int] = (50, 200, 1000)
"""Upper limits of the classes by number of PTX instructions."""
_USUAL_BLOCK = 256
_MOST_THREADS = 1024
_MOST_REGISTERS = 255
_STEP = 8


class Figures(NamedTuple):
    """Of some kernels. Those of the live peak are None where no machine code was looked at."""

    kernels: int
    programs: int
    error: float
    """Median."""
    within_tenth: float
    within_tenth_or_two: float
    """Within 10 % or 2 registers, whichever is more."""
    same_step: float
    """The same multiple of eight registers is allocated."""
    same_blocks: float
    """As many blocks are resident, of the kernel's own size or of 256 threads."""
    bias: float
    """Median, with its sign."""
    coverage: float
    """The truth is in the interval."""
    width: float
    """Of the interval, median."""
    peak_error: float | None
    peak_within_tenth: float | None
    peak_bias: float | None


class Spread(NamedTuple):
    """Of a figure over repositories: quartiles."""

    low: float
    middle: float
    high: float


def figures(rows: Sequence[Estimated]) -> Figures:
    """The figures of at least one kernel."""
    errors = list(map(error, rows))
    seen = [(row.peak, row.live) for row in rows if row.live]
    peaks = [(peak - live) / live for peak, live in seen]
    return Figures(
        kernels=len(rows),
        programs=len({(row.repository, row.program) for row in rows}),
        error=median(map(abs, errors)),
        within_tenth=_share(abs(one) <= 0.1 for one in errors),
        within_tenth_or_two=_share(
            abs(row.estimate - row.used) <= max(2, 0.1 * row.used) for row in rows
        ),
        same_step=_share(_steps(row.estimate) == _steps(row.used) for row in rows),
        same_blocks=_share(_blocks(row, row.estimate) == _blocks(row, row.used) for row in rows),
        bias=median(errors),
        coverage=_share(map(is_covered, rows)),
        width=median((row.high - row.low) / row.used for row in rows),
        peak_error=median(map(abs, peaks)) if peaks else None,
        peak_within_tenth=_share(abs(peak) <= 0.1 for peak in peaks) if peaks else None,
        peak_bias=median(peaks) if peaks else None,
    )


def error(row: Estimated) -> float:
    """Of the estimate, with its sign."""
    return (row.estimate - row.used) / row.used


def is_covered(row: Estimated) -> bool:
    """Whether the truth is in the interval."""
    return row.low <= row.used <= row.high


def compiler(row: Estimated) -> str:
    """The producer of the PTX."""
    return row.compiler


def target_class(row: Estimated) -> str:
    """The class of the kernel's target, or the target where it is in none."""
    return CLASSES.get(row.target.rstrip("af"), row.target)


def size_class(row: Estimated) -> str:
    """The class of the kernel's size."""
    low = 1
    for high in SIZES:
        if row.instructions <= high:
            return f"{low} to {high}"
        low = high + 1
    return f"{low} and more"


def grouped(
    rows: Iterable[Estimated], key: Callable[[Estimated], str]
) -> dict[str, list[Estimated]]:
    """The kernels by what `key` says of them, in the order in which that first occurs when sorted."""
    groups: dict[str, list[Estimated]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return {name: groups[name] for name in sorted(groups, key=_natural)}


def origin(row: Estimated) -> str:
    """What the kernel is drawn with: its repository, or its program in collections of many authors, in which
    the same program is often found under the same name.
    """
    if row.repository not in COLLECTIONS:
        return row.repository
    return "".join(letter for letter in row.program.casefold() if letter.isalnum() or letter == "+")


COLLECTIONS = frozenset(
    {
        "NVIDIA/cuda-samples",
        "abduld/Parboil",
        "cavazos-lab/PolyBench-ACC",
        "gpgpu-sim/ispass2009-benchmarks",
        "gtcasl/gpuocelot",
        "vetter/shoc",
        "yuhc/gpu-rodinia",
        "zjin-lcf/HeCBench",
    }
)
"""Repositories whose programs are of different authors."""


def spread(
    rows: Iterable[Estimated], figure: Callable[[Figures], float], least: int = 5
) -> Spread | None:
    """The quartiles of a figure over the origins that have at least `least` kernels; None for less than two
    origins.
    """
    groups = [some for some in grouped(rows, origin).values() if len(some) >= least]
    if len(groups) < 2:
        return None
    return Spread(*quantiles((figure(figures(some)) for some in groups), n=4, method="inclusive"))


def drawn_again(
    rows: Iterable[Estimated],
    value: Callable[[Estimated], float],
    middle: Callable[[Iterable[float]], float],
    draws: int = 2000,
) -> tuple[float, float]:
    """Between which numbers the `middle` of a value is in nine of ten draws of as many origins, of these and
    with repetition.
    """
    groups, chance = [list(map(value, some)) for some in grouped(rows, origin).values()], Random(0)
    found = sorted(
        middle(list(chain.from_iterable(chance.choices(groups, k=len(groups))))) for _ in range(draws)
    )
    return found[draws // 20], found[-1 - draws // 20]


HEADER: Sequence[str] = (
    "kernels",
    "number",
    "`estimate`: median error",
    "within 10 %",
    "within 10 % or 2",
    "same step of 8",
    "same blocks",
    "bias",
    "in the interval",
    "its width",
    "`peak_live`: median error",
    "within 10 %",
    "bias",
)


def row(name: str, found: Figures) -> str:
    """A row of a Markdown table below `HEADER`."""
    cells = (
        name,
        str(found.kernels),
        f"{found.error:.1%}",
        f"{found.within_tenth:.0%}",
        f"{found.within_tenth_or_two:.0%}",
        f"{found.same_step:.0%}",
        f"{found.same_blocks:.0%}",
        f"{found.bias:+.1%}",
        f"{found.coverage:.1%}",
        f"{found.width:.2f}",
        *(
            "-" if value is None else form.format(value)
            for value, form in (
                (found.peak_error, "{:.1%}"),
                (found.peak_within_tenth, "{:.0%}"),
                (found.peak_bias, "{:+.1%}"),
            )
        ),
    )
    return f"| {' | '.join(cells)} |"


def table(rows: Sequence[Estimated]) -> list[str]:
    """The figures altogether, by compiler, by class of target and by size, as a Markdown table."""
    lines = [f"| {' | '.join(HEADER)} |", f"|---|{'--:|' * (len(HEADER) - 1)}"]
    if not rows:
        return lines
    lines.append(row("all", figures(rows)))
    for key in (compiler, target_class, size_class):
        lines.extend(row(name, figures(some)) for name, some in grouped(rows, key).items())
    return lines


def _share(holds: Iterable[bool]) -> float:
    found = list(holds)
    return sum(found) / len(found)


def _steps(registers: int) -> int:
    return -(-registers // _STEP)


def _blocks(kernel: Estimated, registers: int) -> int:
    threads = min(kernel.threads or _USUAL_BLOCK, _MOST_THREADS)
    return occupancy(kernel.target, threads, min(registers, _MOST_REGISTERS)).blocks_per_sm


def _natural(name: str) -> tuple[int, str]:
    digits = "".join(character for character in name.partition(" ")[0] if character.isdigit())
    return int(digits or 0), name
