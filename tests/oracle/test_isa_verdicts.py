"""The linter agrees with ptxas on the recorded instructions; ptxas says today what was recorded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import pytest

from ptx_lsp import ptxas
from ptx_lsp.isa.entry import Entry
from ptx_lsp.isa.target import parse_target, parse_version
from ptx_lsp.lint.engine import Linting
from ptx_lsp.model.module import Module
from tests.oracle.isa_cases import Point
from tests.oracle.judge import VERDICTS, explained, is_explained, judge, prelude, recorded, sections

SECTIONS = sections()
AGREEMENT = 0.995
SAMPLE = 25
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


@pytest.mark.parametrize("name", SECTIONS)
def test_linter_agrees_with_the_recorded_verdicts(name: str) -> None:
    known = explained(name)
    judged = differ = 0
    unknown: list[str] = []
    used: set[str] = set()
    for point, lines in _by_point(recorded((VERDICTS / f"{name}.txt").read_text())).items():
        judged += len(lines)
        errors = _errors(lines, point)
        for line, accepted in lines.items():
            if accepted != (line not in errors):
                differ += 1
                reasons = [pattern for pattern, _ in known if is_explained(line, [(pattern, "")])]
                used.update(reasons)
                if not reasons:
                    ours = errors.get(line, "accepted")
                    unknown.append(f"{'.'.join(map(str, point[0]))} {point[1]}: {line} -- {ours}")
    assert not unknown, f"{len(unknown)} differ: {unknown[:20]}"
    assert differ <= (1 - AGREEMENT) * judged
    assert used == {pattern for pattern, _ in known}, "a row of .explained explains nothing"


@pytest.mark.parametrize("name", SECTIONS)
def test_verdicts_are_what_ptxas_says_today(name: str) -> None:
    """For a sample; `python -m tests.oracle.judge --update` asks it for all."""
    if ptxas.find() is None:
        pytest.skip("no ptxas at hand")
    every = recorded((VERDICTS / f"{name}.txt").read_text())
    sample = dict(list(every.items())[::SAMPLE])
    for point, lines in _by_point(sample).items():
        for (line, accepted), verdict in zip(lines.items(), judge(list(lines), point), strict=True):
            assert verdict.accepted == accepted, (point, line, verdict.message)


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


def _by_point(verdicts: dict[tuple[str, Point], bool]) -> dict[Point, dict[str, bool]]:
    found: dict[Point, dict[str, bool]] = defaultdict(dict)
    for (line, point), accepted in verdicts.items():
        found[point][line] = accepted
    return found


def _errors(lines: Iterable[str], point: Point) -> dict[str, str]:
    """What the linter finds in each of these lines, in a function of their own."""
    text = [*prelude(*point).rstrip("\n").split("\n")]
    first = len(text)
    text += lines
    module = Module.parse("\n".join([*text, "L1:", "ret;", "}", ""]))
    source = module.document.source
    return {
        text[number]: found.message
        for found in Linting(module).diagnostics
        if found.severity == "error" and (number := source.line_of(found.span.start)) >= first
    }
