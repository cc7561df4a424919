"""docs/ptx-run.md lists the kinds of findings that there are."""

from __future__ import annotations

import re
from pathlib import Path

from ptx_lsp.finding_kinds.registry import KINDS

PAGE = Path(__file__).parents[2] / "docs" / "ptx-run.md"
_TABLE = re.compile(r"(?<=\| kind \| cause \|\n\|---\|---\|\n)(?:\|.*\n)*")


def test_the_list_is_the_table(*, update: bool) -> None:
    page = PAGE.read_text(encoding="utf-8")
    rows = "".join(f"| `{one.name}` | {one.summary} |\n" for one in KINDS.values())
    if update:
        PAGE.write_text(_TABLE.sub(lambda _: rows, page, count=1), encoding="utf-8")
        return
    (found,) = _TABLE.findall(page)
    assert found == rows
