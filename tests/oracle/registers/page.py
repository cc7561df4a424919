"""docs/accuracy.md, from the figures in `figures.json`.

1. Figures are of two kinds of kernels: *left out*, by models trained without their origin, which `train`
   writes; and of *draws*, parts that nobody looked at before, which `fresh` writes, the latest first.
2. `figures.json` names the correction that it is about by its digest. `fresh` refuses another one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypedDict

from ptx_lsp.analyses.registers.correction import FILE
from tests.oracle.registers.estimates import Estimated
from tests.oracle.registers.figures import (
    HEADER,
    Figures,
    compiler,
    figures,
    grouped,
    origin,
    row,
    size_class,
    spread,
    target_class,
)

RECORD: Final = Path(__file__).with_name("figures.json")
TEMPLATE: Final = Path(__file__).with_name("accuracy.md")
PAGE: Final = Path(__file__).parents[3] / "docs" / "accuracy.md"

_KEYS: Final[Mapping[str, Callable[[Estimated], str]]] = {
    "compiler": compiler, "target": target_class, "instructions": size_class,
}  # fmt: skip
_SPREAD: Final[Mapping[str, Callable[[Figures], float]]] = {
    "`estimate`: median error": lambda one: one.error,
    "within 10 %": lambda one: one.within_tenth,
    "in the interval": lambda one: one.coverage,
    "`peak_live`: median error": lambda one: one.peak_error or 0.0,
}
_HEADER: Final = f"| {' | '.join(HEADER)} |\n|---|{'--:|' * (len(HEADER) - 1)}"


class Summary(TypedDict):
    """The figures of some kernels: altogether, by groups, and quartiles over origins."""

    origins: int
    all: list[float | None]
    by: dict[str, dict[str, list[float | None]]]
    spread: dict[str, list[float]]


class Record(TypedDict):
    """The contents of `figures.json`."""

    correction: str
    left_out: Summary
    draws: dict[str, Summary]
    """By name, the latest first."""


def digest() -> str:
    """The digest of the correction that the package has."""
    return hashlib.sha256(Path(FILE).read_bytes()).hexdigest()


def summary(rows: Sequence[Estimated]) -> Summary:
    """The figures of at least one kernel."""
    quartiles = {name: spread(rows, figure) for name, figure in _SPREAD.items()}
    return Summary(
        origins=len({origin(one) for one in rows}),
        all=_rounded(figures(rows)),
        by={
            name: {group: _rounded(figures(some)) for group, some in grouped(rows, key).items()}
            for name, key in _KEYS.items()
        },
        spread={
            name: [round(value, 4) for value in found]
            for name, found in quartiles.items()
            if found is not None
        },
    )


def read() -> Record:
    """The recorded figures."""
    return json.loads(RECORD.read_text())


def write(found: Record) -> None:
    """Records figures, and writes the page."""
    RECORD.write_text(json.dumps(found, indent=1) + "\n")
    PAGE.write_text(page(found))


def record_left_out(rows: Sequence[Estimated]) -> None:
    """Records the figures of left-out origins, by the correction that the package has now."""
    write(Record(correction=digest(), left_out=summary(rows), draws={}))


def record_fresh(draw: str, rows: Sequence[Estimated]) -> None:
    """Records the figures of a draw. Raises ValueError if the others are of another correction."""
    known = read()
    if known["correction"] != digest():
        raise ValueError(f"{RECORD.name} is about another correction: train again")
    known["draws"] = {draw: summary(rows), **known["draws"]}
    write(known)


def page(found: Record) -> str:
    """The text of docs/accuracy.md."""
    parts = {**found["draws"], "left out": found["left_out"]}
    main, shown = next(iter(parts.items()))
    values = {
        "all": "\n".join([_HEADER, *(row(name, _figures(one["all"])) for name, one in parts.items())]),
        "which": main,
        "kernels": str(_figures(shown["all"]).kernels),
        "origins": str(shown["origins"]),
        "train_kernels": str(_figures(found["left_out"]["all"]).kernels),
        "train_origins": str(found["left_out"]["origins"]),
        "error": _percent(_figures(shown["all"]).error),
        "within": f"{_figures(shown['all']).within_tenth:.0%}".replace("%", " %"),
        "coverage": f"{_figures(shown['all']).coverage:.0%}".replace("%", " %"),
        "peak_error": _percent(_figures(shown["all"]).peak_error or 0.0),
        "spread": "\n".join(_spread(parts)),
        **{name: "\n".join(_groups(shown["by"][name])) for name in _KEYS},
    }
    text = TEMPLATE.read_text()
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _groups(groups: Mapping[str, list[float | None]]) -> Iterator[str]:
    yield _HEADER
    for name, values in groups.items():
        yield row(name, _figures(values))


def _spread(parts: Mapping[str, Summary]) -> Iterator[str]:
    yield "| of a repository | kernels | lower quartile | median | upper quartile |"
    yield "|---|---|--:|--:|--:|"
    for name in _SPREAD:
        for part, found in parts.items():
            if name in found["spread"]:
                cells = " | ".join(_percent(value) for value in found["spread"][name])
                yield f"| {name} | {part} | {cells} |"


def _percent(value: float) -> str:
    return f"{value:.1%}".replace("%", " %")


def _rounded(found: Figures) -> list[float | None]:
    return [round(value, 4) if isinstance(value, float) else value for value in found]


def _figures(values: Sequence[float | None]) -> Figures:
    return Figures._make(values)
