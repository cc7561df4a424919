"""The rows of directives say what ptxas says."""

from __future__ import annotations

import pytest

from ptx_lsp import ptxas
from ptx_lsp.isa.directives import DIRECTIVES, Directive, find
from tests.isa.directive_verdicts import JUDGED, judged, recorded

TOOL = ptxas.find()


@pytest.mark.parametrize("row", DIRECTIVES.values(), ids=repr)
def test_row_is_complete(row: Directive) -> None:
    assert row.summary.endswith(".")
    assert row.name in row.syntax
    assert row.places
    assert row.name in row.example or row.name in (".version", "@@DWARF") or not row.is_accepted
    assert find(row.name) is row


@pytest.mark.parametrize("row", JUDGED, ids=repr)
def test_row_agrees_with_the_recorded_verdicts(row: Directive) -> None:
    verdicts = recorded()[row.name]
    assert verdicts["at least version"] == "accepted"
    assert verdicts["at last version"] == "accepted"
    assert ("below version" in verdicts) == (row.since.version > (1, 0))
    assert ("below target" in verdicts) == bool(row.since.targets)
    if "below version" in verdicts:
        assert f"PTX ISA .version {row.since.version} or later" in verdicts["below version"]
    if "below target" in verdicts:
        assert f"requires .target {row.since.targets[0]} or higher" in verdicts["below target"]
    if row.removed is not None:
        assert f"not supported as of PTX version {row.removed}" in verdicts["once removed"]


@pytest.mark.skipif(TOOL is None, reason="no ptxas here; the recorded verdicts are tested above")
@pytest.mark.parametrize("row", JUDGED, ids=repr)
def test_recorded_verdicts_are_those_of_ptxas(row: Directive) -> None:
    assert TOOL is not None
    assert judged(row, TOOL) == recorded()[row.name]
