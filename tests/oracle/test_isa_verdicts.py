"""The instruction table agrees with ptxas: recorded verdicts, judged anew where ptxas is there."""

from __future__ import annotations

import pytest

from ptx_lsp import ptxas
from ptx_lsp.isa.entry import Entry
from tests.oracle.isa_cases import Case, Point, cases
from tests.oracle.judge import (
    VERDICTS,
    compare,
    explained,
    is_explained,
    judge,
    recorded,
    sections,
)

SECTIONS = sections()
AGREEMENT = 0.995


@pytest.mark.parametrize("name", SECTIONS)
def test_table_agrees_with_the_recorded_verdicts(name: str) -> None:
    verdicts = recorded((VERDICTS / f"{name}.txt").read_text())
    known = explained(name)
    judged = [case for entry in SECTIONS[name] for case in cases(entry)]
    unrecorded = [case for case in judged if _key(case) not in verdicts]
    assert not unrecorded, f"record them (--update): {unrecorded[0]} and others"
    differ = [case for case in judged if case.accepted != verdicts[_key(case)]]
    assert not [case for case in differ if not is_explained(case.line, known)]
    for row in known:
        assert any(is_explained(case.line, [row]) for case in differ), f"explains nothing: {row}"
    assert len(differ) <= (1 - AGREEMENT) * len(judged)


@pytest.mark.parametrize("name", SECTIONS)
def test_every_row_has_an_accepted_verdict(name: str) -> None:
    verdicts = recorded((VERDICTS / f"{name}.txt").read_text())
    for entry in SECTIONS[name]:
        assert any(verdicts.get(_key(case)) for case in cases(entry)), entry


@pytest.mark.parametrize("name", SECTIONS)
def test_verdicts_are_what_ptxas_says_today(name: str) -> None:
    if ptxas.find() is None:
        pytest.skip("no ptxas at hand")
    verdicts = recorded((VERDICTS / f"{name}.txt").read_text())
    for case, verdict in compare(SECTIONS[name]):
        assert verdicts[_key(case)] == verdict.accepted, case


@pytest.mark.parametrize("entry", [entry for rows in SECTIONS.values() for entry in rows], ids=repr)
def test_examples_are_accepted_by_ptxas(entry: Entry) -> None:
    if ptxas.find() is None:
        pytest.skip("no ptxas at hand")
    accepted = [case for case in cases(entry) if case.accepted]
    spelling = entry.example.partition(" ")[0]
    point = next((case for case in accepted if case.spelling == spelling), accepted[0])
    (verdict,) = judge([f"{{ {EXAMPLE_REGISTERS} {entry.example} }}"],
                       (point.version, point.target))
    assert verdict.accepted, f"{entry.example}: {verdict.message}"


EXAMPLE_REGISTERS = (
    ".reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .b16 %rs<10>; .reg .f32 %f<10>;"
    " .reg .f64 %fd<10>; .reg .pred %p<10>;"
)
"""What the examples of the table may name, besides the prelude."""


def _key(case: Case) -> tuple[str, Point]:
    return case.line, (case.version, case.target)
