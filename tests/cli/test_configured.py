"""Configuration files and suppression comments, through the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import BAD, HEADER, Lint


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three bad files in folders of their own."""
    for folder in ("a", "b", "gen"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "k.ptx").write_text(BAD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(lint: Lint, *arguments: str) -> list[str]:
    done = lint("--format", "concise", *arguments)
    assert done.err == ""
    return [line.split()[0] + line.split()[1].partition("[")[0] for line in done.out.splitlines()]


def test_each_file_has_its_nearest_configuration(lint: Lint, tree: Path) -> None:
    (tree / "pyproject.toml").write_text(
        '[tool.ptx-lint]\nexclude = ["gen"]\n[tool.ptx-lint.severity]\nE101 = "warning"\n'
    )
    (tree / "b" / "ptx-lint.toml").write_text('ignore = ["E101"]\n')
    assert told(lint, ".") == ["a/k.ptx:7:15:warning"]
    assert lint("--show-files", ".").out == "a/k.ptx\nb/k.ptx\n"
    assert told(lint, "--no-config", ".") == [
        "a/k.ptx:7:15:error", "b/k.ptx:7:15:error", "gen/k.ptx:7:15:error",
    ]
    assert told(lint, "--config", "b/ptx-lint.toml", ".") == []
    assert told(lint, "gen/k.ptx") == ["gen/k.ptx:7:15:warning"]
    assert told(lint, "--force-exclude", "a/k.ptx", "gen/k.ptx") == ["a/k.ptx:7:15:warning"]
    assert told(lint, "--ignore", "E1", ".") == []


def test_fail_on_and_target(lint: Lint, tree: Path) -> None:
    (tree / "ptx-lint.toml").write_text(
        'fail-on = "warning"\ntarget = "sm_90"\n[severity]\nE101 = "warning"\n'
    )
    assert lint("a/k.ptx").status == 1
    assert lint("--fail-on", "error", "a/k.ptx").status == 0
    assert '"target": "sm_90"' in lint("--format", "json", "a/k.ptx").out


def test_a_wrong_configuration_is_wrong_usage(lint: Lint, tree: Path) -> None:
    (tree / "ptx-lint.toml").write_text("selct = []\n")
    done = lint("a/k.ptx")
    assert (done.status, done.out) == (2, "")
    assert "ptx-lint.toml`: unknown key `selct`; did you mean `select`?" in done.err


def test_suppressed(lint: Lint, tmp_path: Path, ptxas: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(BAD.replace("%r9;", "%r9; // ptx-lint: ignore[undeclared-name]"))
    assert told(lint, str(path)) == []
    assert "error[ptxas]" in lint(f"--ptxas={ptxas}", "--format", "concise", path).out
    path.write_text(BAD.replace("%r9;", "%r9; // ptx-lint: ignore[undeclared-name, ptxas]"))
    assert told(lint, f"--ptxas={ptxas}", str(path)) == []


def test_unused_only_where_no_target_needs_it(lint: Lint, tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(f"{HEADER}.entry k()\n{{\n\tbra X; // ptx-lint: ignore[E101, E102]\n}}\n")
    done = lint("--format", "concise", "--targets", "sm_80,sm_90", path)
    assert done.out == (
        f"{path}:6:12: warning[unused-suppression] `E102` reports nothing in that line\n"
    )
