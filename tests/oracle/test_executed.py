"""Checks the executor column of docs/coverage.md: executes a part of all spellings."""

from __future__ import annotations

import re

import pytest

from tests.oracle.instructions.executed import PAGE, executed, lines
from tests.oracle.instructions.judge import sections

_SAMPLE = 25
LEAST = 95.0
"""The share of forms in percent."""


@pytest.mark.parametrize("section", sections())
def test_the_column_is_true(section: str) -> None:
    part = PAGE.read_text().partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    cells = {
        line.split(" | ")[0].strip("|` "): line.rstrip(" |").rpartition(" | ")[2]
        for line in part.splitlines() if line.startswith("| `")
    }
    assert set(cells) == {row.name for row in sections()[section]}
    count = sum(map(len, lines(section).values()))
    for one in executed(section, max(1, count // _SAMPLE)):
        cell = cells[one.entry.name]
        if one.reason:
            assert cell != "yes", f"{one.line}: {one.reason}"
        else:
            assert cell != "no", one.line


def test_nearly_all_forms_are_executed() -> None:
    found = re.search(r"The executor runs (\d+) of (\d+) forms", PAGE.read_text())
    assert found is not None
    assert 100 * int(found[1]) / int(found[2]) >= LEAST
