"""Budgets of the configuration, through the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import HEADER, Lint

KERNELS = (
    f"{HEADER}.visible .entry big() {{\n.shared .b8 s[40960];\nret;\n}}\n"
    ".visible .entry small() { ret; }\n"
)


@pytest.fixture
def k(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("ptx-lint.toml").write_text(
        'ignore = ["W"]\n[budgets]\n"*" = ["shared <= 32 KiB", "spills == 0"]\n"s*" = ["registers < 1"]\n'
    )
    Path("k.ptx").write_text(KERNELS)
    return Path("k.ptx")


def test_kernels_over_their_budget(lint: Lint, k: Path) -> None:
    done = lint("--format", "concise", k)
    assert done.status == 1
    first, second = done.out.splitlines()
    assert first == (
        "k.ptx:4:17: error[over-budget] `big` has shared 40960 bytes (exact), over its budget: "
        "`shared <= 32 KiB`"
    )
    assert second.startswith("k.ptx:8:17: error[over-budget] `small` has registers ")
    assert "over its budget for `s*`: `registers < 1`" in second
    assert "the budget `spills == 0` was not checked: --ptxas measures it" in done.err


def test_with_ptxas(lint: Lint, k: Path, ptxas: Path) -> None:
    done = lint("--format", "concise", f"--ptxas={ptxas}", k)
    assert "`small` has spills 16 bytes (measured), over its budget: `spills == 0`" in done.out
    assert "`small` has registers 24 (measured), over" in done.out
    assert "shared" not in done.out  # ptxas measured 512 bytes
    assert done.err == ""


def test_ignored_silenced_and_milder(lint: Lint, k: Path) -> None:
    assert lint("--ignore", "over-budget", k).out == "All checks passed: 1 file.\n"
    k.write_text(KERNELS.replace("big() {", "big() { // ptx-lint: ignore[over-budget]"))
    assert "`big`" not in lint("--format", "concise", k).out
    with Path("ptx-lint.toml").open("a") as file:
        file.write('[severity]\nover-budget = "info"\n')
    assert lint(k).status == 0
    assert "info[over-budget]" in lint("--min-severity", "info", k).out


def test_wrong_budgets(lint: Lint, k: Path) -> None:
    Path("ptx-lint.toml").write_text('[budgets]\n"*" = ["shard <= 1"]\n')
    assert "`budgets.*[1]`: `shard <= 1`: unknown figure `shard`; did you mean `shared`?" in lint(k).err


def test_a_budget_that_is_for_no_kernel(lint: Lint, k: Path) -> None:
    """It is told, as a misspelt name would let every kernel pass; `*` means whatever there is."""
    Path("ptx-lint.toml").write_text(
        '[budgets]\n"*" = ["local == 0"]\n"s*" = ["local == 0"]\nsmal = ["registers <= 1"]\n'
    )
    done = lint(".")
    assert done.status == 0
    assert done.err == (
        f"ptx-lint: warning: {Path('ptx-lint.toml').absolute()}: no kernel matches the budget pattern "
        "`smal`; did you mean `small`?\n"
    )
    assert lint("--ignore", "over-budget", ".").err == ""
    assert lint(k).err == ""  # there may be other files
    Path("other.ptx").write_text(f"{HEADER}.visible .entry smal() {{ ret; }}\n")
    assert lint(".").err == ""
    Path("other.ptx").unlink()
    k.write_text(HEADER)
    assert "`s*`" in lint(".").err
