"""`--ptxas`: what it says and measures, taken over; and how it goes without it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ptx_lsp import ptxas as real
from tests.cli.conftest import Lint


def test_the_same_mistake_is_told_once(lint: Lint, bad: Path, ptxas: Path) -> None:
    done = lint(f"--ptxas={ptxas}", bad)
    assert done.status == 1
    assert "= note: ptxas: Unknown symbol '%r9'\n" in done.out
    assert done.out.endswith("Found 1 error in 1 file.\n")


def test_what_only_ptxas_finds(lint: Lint, bad: Path, ptxas: Path) -> None:
    done = lint(f"--ptxas={ptxas}", "--ignore", "undeclared-name", "--format", "json", bad)
    assert done.status == 1
    (found,) = json.loads(done.out)["files"][0]["diagnostics"]
    assert (found["rule"], found["code"], found["source"]) == ("ptxas", "ptxas", "ptxas")
    assert found["start"] == {"line": 7, "column": 15}
    assert found["end"] == {"line": 7, "column": 18}
    full = lint(f"--ptxas={ptxas}", "--ignore", "undeclared-name", bad).out
    assert full.startswith("error[ptxas]: Unknown symbol '%r9'\n")


def test_a_name_is_told_once_even_on_another_line(lint: Lint, bad: Path, ptxas: Path) -> None:
    bad.write_text(bad.read_text().replace("\t%r1, %r9", "\n%r1,\n%r9").replace("ret;", "// %r9\nret;"))
    report = json.loads(lint(f"--ptxas={ptxas}", "--format", "json", bad).out)
    (found,) = report["files"][0]["diagnostics"]
    assert found["notes"] == ["ptxas: Unknown symbol '%r9'"]


def test_its_messages_can_be_ignored(lint: Lint, bad: Path, ptxas: Path) -> None:
    done = lint(f"--ptxas={ptxas}", "--ignore", "undeclared-name,ptxas", bad)
    assert done.status == 0


def test_measures(lint: Lint, good: Path, ptxas: Path) -> None:
    report = json.loads(lint(f"--ptxas={ptxas}", "--format", "json", good).out)
    (kernel,) = report["files"][0]["kernels"]
    assert kernel["registers"]["measured"] == 24
    assert kernel["measured"] == {
        "shared_bytes": 512, "stack_bytes": 8, "spill_store_bytes": 4, "spill_load_bytes": 12,
    }
    assert kernel["occupancy"]["registers"] == 24
    assert kernel["occupancy"]["registers_source"] == "measured"
    table = lint(f"--ptxas={ptxas}", "--kernels", good).out.splitlines()
    head = next(n for n, line in enumerate(table) if line.startswith("target"))
    assert table[head + 2].split()[-2:] == ["good", f"{good}:4"]
    assert " 24 " in table[head + 2]
    assert "~" not in table[head + 2]
    assert table[head + 1].split().count("measured") == 5


def test_a_target_that_ptxas_does_not_know(lint: Lint, good: Path, bad: Path, ptxas: Path) -> None:
    done = lint(f"--ptxas={ptxas}", "--target", "sm_70", good, bad)
    assert done.status == 1
    assert done.err == f"ptx-lint: warning: {good}: ptxas 13.5 does not support sm_70: skipped\n"


def test_the_option_does_not_take_the_path(
    lint: Lint, good: Path, ptxas: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(ptxas.parent))
    report = json.loads(lint("--format", "json", "--ptxas", good).out)
    assert report["files"][0]["kernels"][0]["registers"]["measured"] == 24


def test_without_ptxas(lint: Lint, good: Path, bad: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real, "find", find_none)
    done = lint("--ptxas", good)
    assert (done.status, done.out) == (0, "All checks passed: 1 file.\n")
    assert done.err.startswith("ptx-lint: warning: ptxas was not found on PATH")
    assert done.err.count("\n") == 1
    assert lint("--ptxas", bad).status == 1


def find_none(explicit: Path | None) -> None:
    """On a machine without ptxas."""


def test_a_program_that_is_not_ptxas(lint: Lint, good: Path) -> None:
    done = lint("--ptxas=/bin/echo", good)
    assert done.status == 2
    assert "`/bin/echo` is not ptxas" in done.err


def test_ptxas_that_crashes(lint: Lint, good: Path, ptxas: Path) -> None:
    ptxas.write_text(ptxas.read_text().replace("else:\n", "else:\n    import os; os.abort()\n", 1))
    done = lint(f"--ptxas={ptxas}", good)
    assert (done.status, done.out) == (0, "All checks passed: 1 file.\n")
    assert "was ended by signal 6" in done.err
