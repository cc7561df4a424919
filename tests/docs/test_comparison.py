"""docs/comparison.md is what `benchmarks.comparison` prints, as far as this machine has the tools."""

from __future__ import annotations

from pathlib import Path

from benchmarks.comparison import MISTAKES, lint, run, table

PAGE = Path(__file__).parents[2] / "docs" / "comparison.md"


def test_the_table() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    recorded = [[cell.strip() for cell in row.strip("|").split("|")][:3] for row in rows]
    now = table({"ptx-lint": lint, "ptx-run --check": run})
    assert recorded == [[cell.strip() for cell in row.strip("|").split("|")] for row in now]
    assert len(now) == len(MISTAKES) + 2
