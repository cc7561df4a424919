"""The linter refuses the 32-bit addresses that ptxas refuses, and no others."""

from __future__ import annotations

import pytest

from ptx_lsp import ptxas
from tests.oracle.instructions.judge import VERDICTS, recorded
from tests.oracle.instructions.pointer_width import NAME, narrow_lines
from tests.oracle.instructions.replay import by_point, replay
from tests.strength import number

SAMPLE = number(16, 4)
"""Of so many recorded lines, one is judged anew."""


def test_linter_agrees_with_the_recorded_verdicts() -> None:
    lines = list(replay(NAME, generates_code=True))
    assert sum(not line.accepted for line in lines) > 300
    assert [line for line in lines if not line.agrees] == []


def test_verdicts_are_what_ptxas_says_today() -> None:
    if ptxas.find() is None:
        pytest.skip("no ptxas at hand")
    for point, lines in by_point(recorded((VERDICTS / f"{NAME}.txt").read_text())).items():
        sample = list(lines)[::SAMPLE]
        narrow = narrow_lines(sample, point)
        assert narrow == {number for number, line in enumerate(sample) if not lines[line]}
