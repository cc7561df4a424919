"""`ptx-lint config`, `completion` and `man`."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import jsonschema
import pytest

from ptx_lsp.cli.completion import flags
from ptx_lsp.lint.configuration.config import parse
from ptx_lsp.lint.registry import all_rules
from tests.cli.conftest import BAD, Lint


class TestConfig:
    def test_check(self, lint: Lint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        assert lint("config", "check").out.startswith("No configuration found: ")
        path = tmp_path / "ptx-lint.toml"
        path.write_text('ignore = ["W2"]\n')
        assert lint("config", "check") == (0, f"{path}: valid.\n", "")
        (tmp_path / "sub").mkdir()
        (tmp_path / "sub" / "ptx-lint.toml").write_text("")
        assert "is not used below" in lint("config", "check", "sub").out
        path.write_text('ignor = ["W2"]\n')
        done = lint("config", "check", "ptx-lint.toml")
        assert (done.status, done.out) == (2, "")
        assert "did you mean `ignore`?" in done.err
        assert "no such file" in lint("config", "check", "absent").err

    def test_show(self, lint: Lint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        import tomllib

        monkeypatch.chdir(tmp_path)
        text = (
            'ignore = ["E101"]\nthreads = "8x8"\nexclude = ["gen"]\nbaseline = "known.json"\n'
            '[budgets]\n"*" = ["registers <= 9"]\n[severity]\nE102 = "info"\n'
            '[files."k.ptx"]\nselect = ["E1"]\n'
        )
        Path("ptx-lint.toml").write_text(text)
        Path("k.ptx").write_text(BAD)
        shown = tomllib.loads(lint("config", "show", ".").out)
        assert {"undeclared-name", "missing-uni"} <= set(shown["ignore"])
        assert shown["severity"] == {"duplicate-name": "info"}
        assert shown["budgets"] == {"*": ["registers <= 9"]}
        again = parse(shown, "shown", tmp_path)
        assert (again.threads, again.exclude) == ((8, 8, 1), ("gen",))
        of_file = tomllib.loads(lint("config", "show", "k.ptx").out)
        assert set(of_file["ignore"]) == {rule.name for rule in all_rules() if rule.code[:2] != "E1"}

    def test_schema(self, lint: Lint) -> None:
        schema = json.loads(lint("config", "schema").out)
        jsonschema.Draft7Validator.check_schema(schema)
        published = Path(__file__).parents[2] / "docs" / "ptx-lint.schema.json"
        assert json.loads(published.read_text()) == schema


class TestCompletion:
    def test_every_option_is_there(self) -> None:
        names = {name for flag in flags() for name in flag.names}
        assert {"--select", "--format", "-o", "--ptxas", "--help"} <= names

    @pytest.mark.parametrize(
        ("words", "expected"),
        [
            ("ptx-lint --unsafe", "--unsafe-fixes"),
            ("ptx-lint --fail-on w", "warning"),
            ("ptx-lint --target sm_90", "sm_90 sm_90a"),
            ("ptx-lint --select undeclared-name,unused-reg", "undeclared-name,unused-register"),
            ("ptx-lint --format sar", "sarif"),
            ("ptx-lint k", "k.ptx"),
        ],
    )
    def test_bash(self, lint: Lint, tmp_path: Path, words: str, expected: str) -> None:
        (tmp_path / "k.ptx").touch()
        (tmp_path / "k.cu").touch()
        script = lint("completion", "bash").out + (
            f"COMP_WORDS=({words})\nCOMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n_ptx_lint\n"
            'echo "${COMPREPLY[@]}"\n'
        )
        done = subprocess.run(
            ["bash", "-euc", script], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == expected

    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_syntax(self, lint: Lint, tmp_path: Path, shell: str) -> None:
        text = lint("completion", shell).out
        assert all(flag.names[0].lstrip("-") in text for flag in flags())
        assert all(rule.name in text for rule in all_rules())
        program = shutil.which(shell)
        if program is not None:  # bash is everywhere; the others are asked where they are
            (tmp_path / "script").write_text(text)
            subprocess.run([program, "-n", str(tmp_path / "script")], check=True)

    def test_fish(self, lint: Lint) -> None:
        program = shutil.which("fish")
        script = lint("completion", "fish").out
        assert script.count("complete -c ptx-lint") > 30
        if program is not None:
            asked = script + "complete -C 'ptx-lint --fail-on w'\n"
            done = subprocess.run([program, "-c", asked], capture_output=True, text=True, check=True)
            assert [line.split()[0] for line in done.stdout.splitlines()] == ["warning"]


def test_manual_page(lint: Lint) -> None:
    page = lint("man").out
    assert page.startswith(".TH PTX\\-LINT 1 ")
    for flag in flags():
        assert flag.names[0].replace("-", r"\-") in page
    program = shutil.which("groff")
    if program is not None:
        done = subprocess.run(
            [program, "-man", "-ww", "-Tutf8"], input=page, capture_output=True, text=True, check=True
        )
        assert done.stderr == ""
        assert "NAME" in done.stdout


@pytest.mark.parametrize("command", ["config", "blame", "compare", "completion", "man"])
def test_help(lint: Lint, command: str) -> None:
    assert lint(command, "--help").out.startswith(f"usage: ptx-lint {command}")
    assert lint(command, "--bogus").status == 2
