"""The rows of special registers, and the whole linter with them, say what ptxas says."""

from __future__ import annotations

import pytest

from ptx_lsp import ptxas
from ptx_lsp.isa.special_registers import SpecialRegister, find, rows
from ptx_lsp.isa.target import LATEST, Target
from tests.isa.special_register_verdicts import (
    ABSENT,
    JUDGED,
    LINES,
    example,
    judged,
    linted,
    points,
    recorded,
    source,
)

TOOL = ptxas.find()


@pytest.mark.parametrize("row", [row for _, row in rows()], ids=lambda row: row.name)
def test_row_is_complete(row: SpecialRegister) -> None:
    assert row.summary.endswith(".")
    assert row.name.partition("[")[0].partition("(")[0] in row.example


def test_every_name_is_recorded() -> None:
    assert list(recorded()) == [*JUDGED, *ABSENT]


@pytest.mark.parametrize("name", JUDGED)
def test_linter_agrees_on_versions_and_targets(name: str) -> None:
    row = find(name)
    assert row is not None
    verdicts = recorded()[name]["points"]
    for point, (version, target) in points(row).items():
        text, _ = source((example(name),), version, target)
        assert (verdicts[point] == "accepted") == (linted(text) == set()), (point, verdicts[point])
        assert (verdicts[point] == "accepted") == point.startswith("at"), verdicts[point]
    if "below version" in verdicts:
        assert f"PTX ISA .version {row.requirement.version} or later" in verdicts["below version"]
    if "below target" in verdicts:
        assert f"requires .target {row.requirement.targets[0]} or higher" in verdicts["below target"]


@pytest.mark.parametrize("name", [*JUDGED, *ABSENT])
def test_linter_agrees_on_what_reads_it(name: str) -> None:
    text, start = source(tuple(line.replace("NAME", name) for line in LINES), LATEST, Target(90))
    wrong = linted(text)
    accepted = {line for n, line in enumerate(LINES) if n + start not in wrong}
    assert accepted == {LINES[n] for n in recorded()[name]["accepted"]}


@pytest.mark.parametrize("name", ABSENT)
def test_names_that_are_none(name: str) -> None:
    assert find(name) is None
    assert recorded()[name]["accepted"] == []


@pytest.mark.skipif(TOOL is None, reason="no ptxas here; the recorded verdicts are tested above")
@pytest.mark.parametrize("name", [*JUDGED, *ABSENT])
def test_recorded_verdicts_are_those_of_ptxas(name: str) -> None:
    assert TOOL is not None
    assert judged(name, TOOL) == recorded()[name]
