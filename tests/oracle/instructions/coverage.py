"""Writes docs/coverage.md: for each instruction, what is judged and how far it agrees with ptxas.

python -m tests.oracle.instructions.coverage
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from ptx_lsp.isa.schema.entry import Entry
from tests.executor.conformance import conformed
from tests.oracle.instructions.executed import PAGE, renewed
from tests.oracle.instructions.judge import explained, is_explained, sections
from tests.oracle.instructions.replay import replay

_HEAD = """# Coverage

`python -m tests.oracle.instructions.coverage` writes this page from the recorded verdicts of ptxas 13.5
(tests/oracle/verdicts), which the whole linter replays. A *line* is one spelling with operands at one
version and target: every form with every choice alone and a pairwise cover of them, at the least version
and target and one below each, and near misses. *Agreement* is the share of lines on which the linter and
ptxas agree; what they disagree on is explained at the end. `parsed`: the grammar has its shape. `checked`:
the table judges it. `described`: it has a summary, its syntax, its requirements and an example. `executed`:
the executor runs it in all spellings that ptxas accepts, or so many of its forms; what it does not run is
listed at the end, too (`python -m tests.oracle.instructions.executed --update` renews that alone).
"""


class Counts(NamedTuple):
    """Of one section: lines and agreeing lines by row, spellings by row, and known disagreements."""

    lines: Counter[int]
    agreeing: Counter[int]
    spellings: Counter[int]
    reasons: Counter[str]


def count(section: str) -> Counts:
    """Counts a section; the rows are numbered as `sections` has them."""
    rows = sections()[section]
    known = explained(section)
    counts = Counts(Counter(), Counter(), Counter(), Counter())
    spellings: set[str] = set()
    for one in replay(section):
        spelling = one.line.partition(" ")[0].rstrip(";")
        row = _row(spelling, rows)
        counts.lines[row] += 1
        counts.agreeing[row] += one.agrees
        if spelling not in spellings:
            spellings.add(spelling)
            counts.spellings[row] += 1
        if not one.agrees:
            reasons = [why for pattern, why in known if is_explained(one.line, [(pattern, why)])]
            counts.reasons[(*reasons, "not explained")[0]] += 1
    return counts


def _row(spelling: str, rows: tuple[Entry, ...]) -> int:
    """The first row with the longest name that the spelling begins with."""
    words = spelling.split(".")
    fitting = [
        (-len(row.name), number)
        for number, row in enumerate(rows)
        if words[: row.name.count(".") + 1] == row.name.split(".")
    ]
    return min(fitting)[1] if fitting else 0


def page() -> str:
    table = sections()
    with ProcessPoolExecutor(2) as pool:
        counted = dict(zip(table, pool.map(count, table), strict=True))
    lines = sum(counts.lines.total() for counts in counted.values())
    agreeing = sum(counts.agreeing.total() for counts in counted.values())
    spellings = sum(counts.spellings.total() for counts in counted.values())
    rows = sum(map(len, table.values()))
    parts = [
        _HEAD,
        f"{rows} rows, {spellings:,} spellings, {lines:,} lines; agreement {_share(agreeing, lines)}.\n",
    ]
    for name, entries in table.items():
        parts += [f"## {name}", _COLUMNS, _RULE]
        groups: dict[str, list[int]] = {}
        for number, entry in enumerate(entries):
            groups.setdefault(entry.name, []).append(number)
        parts += [_line(entries, numbers, counted[name]) for numbers in groups.values()]
        parts.append("")
    parts += [
        "## Where ptxas and the linter disagree",
        "| section | lines | why |",
        "|---|--:|---|",
    ]
    for name in table:
        parts += [f"| {name} | {n} | {why} |" for why, n in sorted(counted[name].reasons.items())]
    return conformed.renewed(renewed("\n".join(parts) + "\n"))


_COLUMNS = "| instruction | forms | spellings | lines | agreement | parsed | checked | described | executed |"
_RULE = "|---|--:|--:|--:|--:|---|---|---|---|"


def _line(entries: tuple[Entry, ...], numbers: list[int], counts: Counts) -> str:
    rows = [entries[number] for number in numbers]
    lines = sum(counts.lines[number] for number in numbers)
    agreeing = sum(counts.agreeing[number] for number in numbers)
    described = all(row.summary and row.syntax and row.needs and row.example for row in rows)
    cells = [
        f"`{rows[0].name}`",
        str(sum(len(row.forms) for row in rows)),
        f"{sum(counts.spellings[number] for number in numbers):,}",
        f"{lines:,}",
        _share(agreeing, lines),
        "yes",
        "yes",
        "yes" if described else "no",
        "?",
    ]
    return f"| {' | '.join(cells)} |"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f} %" if whole else "-"


if __name__ == "__main__":
    PAGE.write_text(page())
