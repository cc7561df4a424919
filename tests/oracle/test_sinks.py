"""The linter takes `_` where ptxas does, and nowhere else, and what ptxas takes in place of any operand."""

from __future__ import annotations

import pytest

from ptx_lsp import ptxas
from tests.oracle.instructions import odd_operands
from tests.oracle.instructions.judge import VERDICTS, explained, is_explained, judge, recorded
from tests.oracle.instructions.replay import by_point, replay
from tests.oracle.instructions.sinks import NAME

SAMPLE = 40
MISSED = 0.03


def test_linter_agrees_with_the_recorded_verdicts() -> None:
    known = explained(NAME)
    differing = [line for line in replay(NAME) if not line.agrees]
    assert [line for line in differing if not is_explained(line.line, known)] == []
    assert not any(line.accepted for line in differing), "what ptxas accepts is never an error"
    unused = [row for row in known if not any(is_explained(line.line, [row]) for line in differing)]
    assert unused == []


def test_verdicts_are_what_ptxas_says_today() -> None:
    if ptxas.find() is None:
        pytest.skip("no ptxas at hand")
    for point, lines in by_point(recorded((VERDICTS / f"{NAME}.txt").read_text())).items():
        sample = list(lines)[::SAMPLE]
        verdicts = judge(sample, point)
        assert [verdict.accepted for verdict in verdicts] == [lines[line] for line in sample]


def test_what_ptxas_takes_in_place_of_an_operand_is_no_error() -> None:
    """Of what it refuses, few are missed: sums and constants where a type is fixed."""
    lines = list(replay(odd_operands.NAME))
    taken = [line for line in lines if line.accepted]
    assert len(taken) > 2_500
    known = explained(odd_operands.NAME)
    assert [line for line in taken if line.error and not is_explained(line.line, known)] == []
    missed = sum(not line.agrees for line in lines)
    assert missed < MISSED * (len(lines) - len(taken))
