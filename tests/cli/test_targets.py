"""`--target` and `--targets`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ptx_lsp.isa.target import Target
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import Rule
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place
from tests.cli.conftest import Lint


@pytest.fixture
def needs_sm_90(bad: Path, add_rule: Callable[[Rule], None]) -> Path:
    """A file with a finding on every target, and one more on those below sm_90."""

    def check(module: Module) -> Iterator[Finding]:
        if module.target is None or module.target < Target(90):
            yield Finding(Place(None, 0, 8), "too low")

    add_rule(Rule("too-low", "E999", "error", "The target is too low.", on_module=check))
    return bad


def rules(lint: Lint, *arguments: str | Path) -> list[str]:
    report = json.loads(lint("--format", "json", *arguments).out)
    return [found["rule"] for found in report["files"][0]["diagnostics"]]


def test_target_replaces_the_files_own(lint: Lint, needs_sm_90: Path) -> None:
    assert rules(lint, needs_sm_90) == ["too-low", "undeclared-name"]
    assert rules(lint, "--target", "sm_75", needs_sm_90) == ["too-low", "undeclared-name"]
    assert rules(lint, "--target", "compute_90", needs_sm_90) == ["undeclared-name"]
    report = json.loads(lint("--format", "json", "--target", "compute_90a", needs_sm_90).out)
    assert report["files"][0]["target"] == "sm_90a"
    assert [kernel["target"] for kernel in report["files"][0]["kernels"]] == ["sm_90a"]


def test_targets_say_which(lint: Lint, needs_sm_90: Path) -> None:
    done = lint("--format", "json", "--targets", "sm_75,sm_80", "--targets", "sm_90", needs_sm_90)
    assert done.status == 1
    (file,) = json.loads(done.out)["files"]
    assert (file["target"], file["targets"]) == ("sm_80", ["sm_75", "sm_80", "sm_90"])
    assert [kernel["target"] for kernel in file["kernels"]] == ["sm_75", "sm_80", "sm_90"]
    having = {found["rule"]: found["targets"] for found in file["diagnostics"]}
    assert having == {"undeclared-name": [], "too-low": ["sm_75", "sm_80"]}


def test_targets_in_text(lint: Lint, needs_sm_90: Path) -> None:
    concise = lint("--format", "concise", "--targets", "sm_80,sm_90", needs_sm_90).out.splitlines()
    assert concise[0].endswith(" (sm_80 only)")
    assert not concise[1].endswith("only)")
    assert "= note: for sm_80 only\n" in lint("--targets", "sm_80,sm_90", needs_sm_90).out
