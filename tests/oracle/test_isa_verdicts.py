"""The linter agrees with ptxas on the recorded instructions; ptxas says today what was recorded."""

from __future__ import annotations

import pytest

from ptx_lsp import ptxas
from ptx_lsp.isa.schema.entry import Entry
from ptx_lsp.isa.target import parse_target, parse_version
from tests.oracle.instructions import coverage
from tests.oracle.instructions.cases import Point
from tests.oracle.instructions.judge import (
    OLD,
    VERDICTS,
    explained,
    is_explained,
    judge,
    old_ptxas,
    recorded,
    sections,
)
from tests.oracle.instructions.replay import Replayed, by_point, replay
from tests.strength import number

SECTIONS = sections()
AGREEMENT = 0.995
SAMPLE = number(50, 25)
"""Of so many recorded lines, one is judged anew."""
EXAMPLE_REGISTERS = (
    ".reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .b16 %rs<10>; .reg .f32 %f<10>;"
    " .reg .f64 %fd<10>; .reg .pred %p<10>;"
)
"""What the examples of the table may name, besides the prelude."""
EXAMPLE_POINTS = [
    ("9.5", "sm_121a"), ("9.5", "sm_107a"), ("9.5", "sm_100a"), ("9.5", "sm_90a"), ("9.5", "sm_90"),
    ("6.3", "sm_60"), ("3.0", "sm_20"), ("1.3", "sm_13"),
]


@pytest.mark.parametrize("name", (*SECTIONS, OLD))
def test_linter_agrees_with_the_recorded_verdicts(name: str) -> None:
    known = explained(name)
    judged = differ = 0
    unknown: list[Replayed] = []
    used: set[str] = set()
    for one in replay(name):
        judged += 1
        if not one.agrees:
            differ += 1
            reasons = [pattern for pattern, _ in known if is_explained(one.line, [(pattern, "")])]
            used.update(reasons)
            if not reasons:
                unknown.append(one)
    assert not unknown, f"{len(unknown)} differ: {unknown[:20]}"
    assert differ <= (1 - AGREEMENT) * judged
    assert used == {pattern for pattern, _ in known}, "a row of .explained explains nothing"


@pytest.mark.parametrize("is_old", [False, True])
def test_verdicts_are_what_ptxas_says_today(is_old: bool) -> None:
    """For a sample; `python -m tests.oracle.instructions.judge --update` asks it for all. The lines of all
    sections are judged together.
    """
    tool = old_ptxas() if is_old else ptxas.find()
    if tool is None:
        pytest.skip("PTXAS_12_9 names no ptxas 12.9" if is_old else "no ptxas at hand")
    sample: dict[tuple[str, Point], bool] = {}
    for name in (OLD,) if is_old else SECTIONS:
        every = recorded((VERDICTS / f"{name}.txt").read_text())
        sample |= dict(list(every.items())[::SAMPLE])
    assert len(sample) > (30 if is_old else 2_500)
    differing: list[tuple[Point, str, str]] = []
    for point, lines in by_point(sample).items():
        for accepted in (True, False):  # an error makes ptxas judge the lines beside it once more
            alike = [line for line in lines if lines[line] == accepted]
            verdicts = zip(alike, judge(alike, point, tool), strict=True)
            differing += [
                (point, line, found.message) for line, found in verdicts if found.accepted != accepted
            ]
    assert not differing, "\n".join(map(str, differing))


def test_examples_are_accepted_by_ptxas() -> None:
    """Each at one point at least."""
    if ptxas.find() is None:
        pytest.skip("no ptxas at hand")
    left: list[Entry] = [entry for rows in SECTIONS.values() for entry in rows]
    for version, name in EXAMPLE_POINTS:
        target = parse_target(name)
        assert target is not None
        lines = [f"{{ {EXAMPLE_REGISTERS} {entry.example} }}" for entry in left]
        verdicts = judge(lines, (parse_version(version), target))
        left = [entry for entry, found in zip(left, verdicts, strict=True) if not found.accepted]
    assert not left


def test_the_page_of_coverage_is_current() -> None:
    """It has every instruction, with as many lines as are recorded."""
    text = coverage.PAGE.read_text()
    for name, rows in SECTIONS.items():
        part = text.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        found = {line.split(" | ")[0].strip("|` "): line for line in part.splitlines() if "`" in line}
        assert set(found) == {row.name for row in rows}
        lines = sum(int(line.split(" | ")[3].replace(",", "")) for line in found.values())
        assert lines == len(recorded((VERDICTS / f"{name}.txt").read_text()))
