"""ptxas takes each kernel and function of directives_performance.md that has no error, and refuses the
others: what is a warning there, ptxas accepts, in making code too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from ptx_lsp import ptxas
from tests.lint.markdown import cases

PATH = Path(__file__).parent / "directives_performance.md"
OLDEST = 75
"""What ptxas 13 makes code for."""


class Line(NamedTuple):
    """A function on a line of its own, as a file."""

    source: str
    arch: str
    is_wrong: bool


def lines() -> Iterator[Line]:
    for case in cases(PATH):
        header = "".join(case.source.splitlines(keepends=True)[:3])
        target = re.search(r"\.target sm_(\d+)", header)
        wrong = {expected.line for expected in case.expected if expected.severity == "error"}
        for number, line in enumerate(case.source.splitlines(), 1):
            if target and re.match(r"\.(entry|func).*\}", line) and ".address_size" in header:
                arch = f"sm_{max(int(target[1]), OLDEST)}"
                yield Line(f"{header}{line}\n", arch, number in wrong)


LINES = list(lines())


def test_there_are_lines_of_both_kinds() -> None:
    assert {line.is_wrong for line in LINES} == {True, False}
    assert len(LINES) > 50


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.source.splitlines()[-1][:60])
def test_ptxas_agrees(line: Line) -> None:
    path = ptxas.find()
    if path is None:
        pytest.skip("no ptxas here")
    report = ptxas.judge(line.source.encode(), ptxas=path, arch=line.arch)
    assert report.accepted == (not line.is_wrong), report.messages
