"""`--explain` and `--rules`."""

from __future__ import annotations

import json

import pytest

from ptx_lsp.isa import directives, special_registers, table
from ptx_lsp.lint.rule import all_rules
from tests.cli.conftest import Lint


@pytest.mark.parametrize(
    ("name", "first", "parts"),
    [
        ("undeclared-name", "error[E101] undeclared-name", ["What it does", "Use instead\n    .version"]),
        ("E101", "error[E101] undeclared-name", ["Fix safety"]),
        (".maxntid", ".maxntid (performance directive)", ["Syntax\n", "Where\n    kernel", "Needs\n"]),
        ("maxntid", ".maxntid (performance directive)", []),
        ("%laneid", "%laneid (special register)", ["Type\n    .u32", "Needs\n    PTX ISA 1.3"]),
        ("%tid.x", "%tid (special register)", ["Type\n    .v4 .u32"]),
        ("tid", "%tid (special register)", []),
        ("%pm3", "%pm3 (special register)", []),
        ("mul.wide.u32", "mul.wide.u32 (instruction)", ["Syntax\n", "mul.mode.type", "Example\n"]),
        ("add.u16x2", "add.u16x2 (instruction)", ["PTX ISA 8.0 and sm_90"]),
    ],
)
def test_explained(lint: Lint, name: str, first: str, parts: list[str]) -> None:
    done = lint("--explain", name)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(first + "\n")
    for part in parts:
        assert part in done.out


def test_needs_are_those_of_the_spelling(lint: Lint) -> None:
    assert "sm_90" not in lint("--explain", "add.u32").out
    assert ".u16x2" in lint("--explain", "add").out


def test_a_wrong_modifier_is_told(lint: Lint) -> None:
    out = lint("--explain", "add.s33").out
    assert out.startswith("add.s33: ")
    assert "Adds two integers" in out


def test_everything_is_explained(lint: Lint) -> None:
    names = [rule.name for rule in all_rules()]
    names += directives.DIRECTIVES
    names += [entry.name for entry in table.all_entries()]
    names += [name for name, _ in special_registers.rows() if "[" not in name]
    for name in dict.fromkeys(names):
        done = lint("--explain", name)
        assert (done.status, done.err) == (0, ""), name
        assert done.out.count("\n") >= 2, name


def test_rules(lint: Lint) -> None:
    lines = lint("--rules").out.splitlines()
    assert [line.split()[:3] for line in lines] == [
        [rule.code, rule.severity, rule.name] for rule in all_rules()
    ]
    rows = json.loads(lint("--rules", "--format", "json").out)
    assert [row["rule"] for row in rows] == [rule.name for rule in all_rules()]
