"""The GitHub action, the GitLab job and reviewdog: their scripts run as those services run them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import cast

import jsonschema
import pytest
import yaml

from tests.cli.conftest import BAD, GOOD
from tests.integrations.conftest import ROOT

SCRIPT = ROOT / "integrations" / "action.sh"


class Done:
    """What a run of the action left."""

    def __init__(self, folder: Path, **inputs: str) -> None:
        self.summary_path, self.output_path = folder / "summary", folder / "output"
        for path in (self.summary_path, self.output_path):
            path.write_text("before\n")
        names = {
            "GITHUB_STEP_SUMMARY": str(self.summary_path), "GITHUB_OUTPUT": str(self.output_path),
        }
        values = {f"PTX_LINT_{name.upper()}": value for name, value in inputs.items()}
        done = subprocess.run(
            ["bash", str(SCRIPT)], env={**os.environ, **names, **values}, capture_output=True, text=True,
            check=False, timeout=60,
        )
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def summary(self) -> str:
        return self.summary_path.read_text(encoding="utf-8")

    @property
    def output(self) -> str:
        return self.output_path.read_text()


def test_findings(program: Path, tmp_path: Path) -> None:
    Path("a dir").mkdir()
    Path("a dir/bad.ptx").write_text(BAD)
    Path("good.ptx").write_text(GOOD)
    done = Done(tmp_path, paths="'a dir' good.ptx", sarif="out.sarif")
    assert done.err == ""
    assert done.status == 1
    assert done.out.startswith("::error file=a dir/bad.ptx,line=7,")
    assert done.output == "before\nstatus=1\n"
    assert done.summary.startswith("before\n### ptx-lint: ")
    assert "| `bad` |" in done.summary
    assert len(json.loads(Path("out.sarif").read_text())["runs"][0]["results"]) == 1


def test_inputs(program: Path, tmp_path: Path) -> None:
    Path("bad.ptx").write_text(BAD)
    done = Done(tmp_path, args="--ignore 'E101'", annotations="false", summary="false")
    assert (done.status, done.out) == (0, "All checks passed: 1 file.\n")
    assert done.summary == "before\n"
    assert Done(tmp_path, args="--exit-zero").status == 0
    assert Done(tmp_path, args="--exit-zero").output.endswith("status=0\n")
    assert Done(tmp_path, fail_on="nothing").output.endswith("status=2\n")
    assert "baseline `b.json` does not exist" in Done(tmp_path, baseline="b.json").err


@pytest.mark.parametrize("text", ["$(touch pwned)", "`touch pwned`", "--version; touch pwned"])
def test_inputs_are_not_run(program: Path, tmp_path: Path, text: str) -> None:
    Done(tmp_path, args=text)
    Done(tmp_path, paths=text)
    assert not Path("pwned").exists()


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        (["vendor.github-actions"], ["action.yml"]),
        (["vendor.github-workflows"], [".github/workflows/test.yml", ".github/workflows/wheels.yml"]),
        (["vendor.gitlab-ci", "--data-transform", "gitlab-ci"], ["integrations/gitlab.yml"]),
        (
            ["vendor.github-issue-forms"],
            [".github/ISSUE_TEMPLATE/bug.yml", ".github/ISSUE_TEMPLATE/false-finding.yml"],
        ),
    ],
)
def test_schemas(schema: list[str], files: list[str]) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", *schema]
    done = subprocess.run(
        [*command, *(str(ROOT / file) for file in files)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_every_input_reaches_the_script() -> None:
    action = cast(dict[str, dict[str, dict[str, str]]], yaml.safe_load((ROOT / "action.yml").read_text()))
    script = SCRIPT.read_text()
    for name in action["inputs"]:
        if name != "python-version":
            assert f"PTX_LINT_{name.upper().replace('-', '_')}" in script


def test_gitlab_job(program: Path, tmp_path: Path) -> None:
    job = yaml.safe_load((ROOT / "integrations" / "gitlab.yml").read_text())[".ptx-lint"]
    Path("bad.ptx").write_text(BAD)
    values = {name: str(value).replace("$CI_PROJECT_DIR", ".") for name, value in job["variables"].items()}
    done = subprocess.run(
        ["bash", "-ec", "\n".join(job["script"])], env={**os.environ, **values}, capture_output=True,
        text=True, check=False,
    )
    assert done.returncode == 1
    assert "error[E101]" in done.stdout
    reports = job["artifacts"]["reports"]
    rows = json.loads(Path(reports["codequality"]).read_text())
    schema = ROOT / "tests" / "cli" / "gitlab.schema.json"
    jsonschema.validate(rows, json.loads(schema.read_text()))
    assert [row["location"]["path"] for row in rows] == ["bad.ptx"]
    assert "undeclared-name" in Path(reports["junit"]).read_text()


def test_reviewdog(program: Path, tmp_path: Path) -> None:
    """A reviewdog that keeps what it is given."""
    fake = program / "reviewdog"
    fake.write_text('#!/bin/sh\necho "$@" > arguments\ncat > given\n')
    fake.chmod(0o755)
    Path("bad.ptx").write_text(BAD)
    subprocess.run(["bash", str(ROOT / "integrations" / "reviewdog.sh")], check=True, timeout=60)
    assert Path("arguments").read_text().split() == [
        "-f=rdjson", "-name=ptx-lint", "-reporter=local", "-fail-level=error",
    ]
    given = json.loads(Path("given").read_text())
    schema = json.loads((ROOT / "tests" / "cli" / "rdjson.schema.json").read_text())
    jsonschema.validate(given, schema)
    assert len(given["diagnostics"]) == 1
