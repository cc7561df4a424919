"""Tables, fitted to the width of the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from ptx_lsp.debug.groups import mask_text


def table(rows: Sequence[Sequence[str]], align: str) -> list[str]:
    """Rows with columns as wide as needed. `align` has a letter per column: `<`, `>` or `^`; the last column
    of a left-aligned table is not filled.
    """
    widths = [max(len(row[at]) for row in rows) for at in range(len(align))]
    return [
        " ".join(f"{cell:{how}{width}}" for cell, how, width in zip(row, align, widths, strict=True)).rstrip()
        for row in rows
    ]


@dataclass(frozen=True)
class Row:
    """An expression, and its value in each lane; or why it has none."""

    name: str
    values: list[str]
    error: str = ""


def warp_table(rows: Sequence[Row], active: Sequence[bool], width: int) -> list[str]:
    """The values in all lanes of a warp, as many lanes side by side as there is room for. Lanes that are not
    active have a dot. What is the same in all lanes is shown once.
    """
    count = len(active)
    varied = [row for row in rows if len(set(row.values)) > 1 and not _is_mask(row)]
    found = table([("active", mask_text(list(active))), *_short(rows)], "<<")
    if not varied:
        return found
    label = max(len("lane"), *(len(row.name) for row in varied))
    headings = [f"{'' if is_active else '.'}{lane}" for lane, is_active in enumerate(active)]
    cell = max(len(text) for text in (*headings, *(value for row in varied for value in row.values))) + 1
    step = _step(count, (width - label) // cell)
    for first in range(0, count, step):
        lanes = range(first, min(first + step, count))
        heading = "".join(f"{headings[lane]:>{cell}}" for lane in lanes)
        found.append(f"{'lane':{label}}{heading}")
        found += [
            f"{row.name:{label}}" + "".join(f"{row.values[lane]:>{cell}}" for lane in lanes) for row in varied
        ]
    return found


def _short(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Expressions with one value in all lanes, and truths as masks."""
    found: list[tuple[str, str]] = []
    for row in rows:
        if len(set(row.values)) <= 1:
            found.append((row.name, row.error or f"{_UNSET.get(row.values[0], row.values[0])} in all lanes"))
        elif _is_mask(row):
            found.append((row.name, mask_text([value == "true" for value in row.values])))
    return found


_UNSET = {"-": "unset"}


def _is_mask(row: Row) -> bool:
    return set(row.values) == {"true", "false"}


def _step(count: int, room: int) -> int:
    """How many lanes come side by side: a power of two if there is room for four."""
    if room >= count:
        return count
    return max((step for step in (16, 8, 4, 2) if step <= room), default=1)


def wrapped(text: str, width: int) -> list[str]:
    """A text in lines that fit; the second and later ones are indented."""
    return textwrap.wrap(
        text, max(width, _LEAST_WIDTH), subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


_LEAST_WIDTH = 20


def spans(numbers: Sequence[int]) -> str:
    """Numbers as ranges, such as `0-11,15`."""
    found: list[list[int]] = []
    for one in numbers:
        if found and found[-1][-1] == one - 1:
            found[-1][1:] = [one]
        else:
            found.append([one])
    return ",".join("-".join(map(str, one)) for one in found)
