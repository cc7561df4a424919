"""The exit status, and the options that decide it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ptx_lsp import __version__
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import Rule
from ptx_lsp.model.module import Module
from tests.cli.conftest import GOOD, HEADER, Lint


def test_nothing_found(lint: Lint, good: Path) -> None:
    assert lint(good) == (0, "All checks passed: 1 file.\n", "")


def test_error_found(lint: Lint, bad: Path) -> None:
    assert lint(bad).status == 1


def test_exit_zero(lint: Lint, bad: Path) -> None:
    assert lint("--exit-zero", bad).status == 0


def test_exit_zero_does_not_hide_trouble(lint: Lint, tmp_path: Path) -> None:
    assert lint("--exit-zero", tmp_path / "absent.ptx").status == 2


@pytest.mark.parametrize(
    ("level", "status"), [("error", 0), ("warning", 1), ("info", 1)], ids=["error", "warning", "info"]
)
def test_fail_on(lint: Lint, good: Path, ptxas: Path, level: str, status: int) -> None:
    good.write_text(good.read_text() + "// odd\n")
    done = lint(f"--ptxas={ptxas}", "--fail-on", level, "--format", "concise", good)
    assert done.out == f"{good}:4:1: warning[ptxas] something odd\n"
    assert done.status == status


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "missing PATH"),
        (["--bogus", "x.ptx"], "unknown option `--bogus`"),
        (["--format", "yaml", "x.ptx"], "invalid choice: 'yaml'"),
        (["--jobs", "0", "x.ptx"], "is not a positive integer or dask://HOST:PORT"),
        (["--target", "sm_91", "x.ptx"], "unknown target `sm_91`; did you mean `sm_90`?"),
        (["--target", "sm_90", "--targets", "sm_80", "x.ptx"], "not allowed with"),
        (["--select", "undeclared-nme", "x.ptx"], "did you mean `undeclared-name`?"),
        (["--select", "", "x.ptx"], "argument --select: '' is not a rule: use names (undeclared-name), "),
        (["--select", " , ", "x.ptx"], "argument --select: ' , ' is not a rule"),
        (["--targets", "", "x.ptx"], "argument --targets: '' is not a target; targets have names such as"),
        (["--ignore", "Z9", "x.ptx"], "unknown rule or code `Z9`"),
        (["--explain", "mxntid"], "did you mean `.maxntid`?"),
        (["--ptxas=/absent", "x.ptx"], "`/absent` is not a program that can be run"),
    ],
)
def test_wrong_usage(lint: Lint, arguments: list[str], said: str) -> None:
    done = lint(*arguments)
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert "Traceback" not in done.err


def test_options_may_stand_between_paths(lint: Lint, good: Path, bad: Path) -> None:
    done = lint(good, "--format", "concise", bad)
    assert done.status == 1
    assert done.out.count("\n") == 1


def test_after_two_dashes_all_are_paths(lint: Lint, good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(good.parent)
    good.rename(good.parent / "--ptxas")
    assert lint("--", "--ptxas").status == 0


def test_a_rule_that_crashes_loses_only_its_own(
    lint: Lint, bad: Path, add_rule: Callable[[Rule], None], caplog: pytest.LogCaptureFixture
) -> None:
    def crash(module: Module) -> Iterator[Finding]:
        raise KeyError("gone")

    add_rule(Rule("crashing-rule", "E999", "error", "Crashes.", on_module=crash))
    done = lint("--format", "concise", bad)
    caplog.clear()  # this one was meant to fail
    assert done.status == 2
    assert "error[undeclared-name]" in done.out
    assert done.err.count("\n") == 1
    assert "crashing-rule failed and was skipped: KeyError: 'gone' (test_status.py:" in done.err


def test_an_internal_failure_is_told_in_one_line(
    lint: Lint, good: Path, bad: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no\ngood")

    monkeypatch.setattr("ptx_lsp.cli.checking.check.Module", fail)
    done = lint(good, bad)
    assert done.status == 2
    assert done.err.count("internal error, please report it: RuntimeError: no (test_status.py:") == 2
    assert done.err.count("\n") == 2


def test_select_and_ignore(lint: Lint, tmp_path: Path) -> None:
    path = tmp_path / "two.ptx"
    path.write_text(f"{HEADER}.entry k()\n{{\n.reg .b32 %a, %a;\nmov.b32 %a, %b;\nret;\n}}\n")

    def found(*options: str) -> list[str]:
        out = lint("--format", "concise", *options, path).out
        return [line.split("[")[1].split("]")[0] for line in out.splitlines()]

    assert found() == ["duplicate-name", "undeclared-name"]
    assert found("--select", "undeclared-name") == ["undeclared-name"]
    assert found("--select", "E102") == ["duplicate-name"]
    assert found("--select", "E10") == ["duplicate-name", "undeclared-name"]
    assert found("--select", "E101,E102", "--ignore", "duplicate-name") == ["undeclared-name"]
    assert found("--ignore", "E101", "--ignore", "E102") == []


def test_version_imports_next_to_nothing() -> None:
    """Start-up is lazy: a version needs no table, no grammar and no progress bar."""
    script = (
        "import sys; from ptx_lsp.cli.lint import main; main(['--version']);"
        "print(*(m for m in sys.modules if m.startswith(('ptx_lsp', 'rich', 'tree_sitter', 'numpy'))))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    version, modules = done.stdout.splitlines()
    assert version == f"ptx-lint {__version__}"
    assert set(modules.split()) - {"tree_sitter_ptx"} == {
        "ptx_lsp", "ptx_lsp.code_cache", "ptx_lsp.cli", "ptx_lsp.cli.lint", "ptx_lsp.cli.arguments",
        "ptx_lsp.cli.ending", "ptx_lsp.cli.command_line", "ptx_lsp.cli.option_parser",
        "ptx_lsp.named_tuple", "ptx_lsp.static_typing", "ptx_lsp.command_parser",
    }


@pytest.mark.parametrize("options", ["--kernels", "--format=concise"])
def test_reports_import_what_they_need(tmp_path: Path, options: str) -> None:
    """Neither OpenSSL for hashes nor JSON for the register estimate."""
    (tmp_path / "bad.ptx").write_text(GOOD.replace("ret;", "bra nowhere;"))
    script = (
        "import sys; start = set(sys.modules); from ptx_lsp.cli.lint import main;"
        f"main(['--no-cache', '--no-config', {options!r}, 'bad.ptx']);"
        "print(*(name for name in sys.modules if name not in start))"
    )

    def run() -> str:
        return subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path
        ).stdout

    run()  # it may have to make the indices
    output = run()
    assert "nowhere" in output
    modules = set(output.splitlines()[-1].split())
    assert not modules & {"hashlib", "_hashlib"}
    if not sys.dont_write_bytecode:  # else each run makes the indices
        assert "json" not in modules


def test_a_small_file_imports_what_it_needs(tmp_path: Path) -> None:
    """Start-up takes most of the time of a small file, so no run imports what only others need."""
    (tmp_path / "good.ptx").write_text(GOOD)
    script = (
        "import sys; sys.modules.pop('typing', None); sys.modules.pop('re', None); start = set(sys.modules);"
        "from ptx_lsp.cli.lint import main; main(['--no-cache', '--no-config', '-q', 'good.ptx']);"
        "print(*(name for name in sys.modules if name not in start))"
    )
    command = [sys.executable, "-c", script]

    def run() -> str:
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout

    run()  # it may have to make the indices
    modules = set(run().splitlines()[1].split())
    assert not modules & {
        "multiprocessing", "concurrent.futures", "subprocess", "socket", "random", "tempfile", "logging",
        "urllib", "ipaddress", "datetime", "string", "struct", "importlib.util", "inspect",
        "threading",
        "ptx_lsp.syntax.document_edit", "ptx_lsp.syntax.lower", "ptx_lsp.isa.matching.misfit",
        "encodings.utf_8_sig", "pathlib", "tree_sitter", "tree_sitter_ptx._binding", "fnmatch",
        "tomllib", "pickle", "hashlib", "dataclasses", "ast", "tokenize", "pkgutil",
        "argparse", "gettext", "locale",
        "difflib", "unicodedata", "shutil", "textwrap", "traceback", "rich", "numpy",
        "ptx_lsp.containers", "ptx_lsp.cli.members",
        "ptx_lsp.ptxas", "ptx_lsp.cli.checking.cache", "ptx_lsp.cli.checking.assembler",
        "ptx_lsp.cli.checking.requirements", "ptx_lsp.cli.checking.remote", "ptx_lsp.parallel.ordered",
        "ptx_lsp.lint.fixes.fix_application", "ptx_lsp.lint.results.kernels",
        "elftools", "zstandard", "lz4",
    }  # fmt: skip
    if not sys.dont_write_bytecode:  # else each run makes the indices, and imports everything
        assert not modules & {"typing", "re", "json"}
        sections = [name for name in modules if name.startswith("ptx_lsp.isa.instructions.")]
        assert sections == ["ptx_lsp.isa.instructions.control"]
        rules = {name.removeprefix("ptx_lsp.lint.rules.") for name in modules}
        assert not rules & {"register_step", "vectorisable_accesses"}, "they are hints"
        assert not rules & {"wrong_operand", "slow_division", "bank_conflict"}, "nothing wakes them"
        assert not rules & {"unknown_pragma", "debug_directive", "unused_suppression"}, "no word wakes them"
        slow = {"ptx_lsp.analyses.divergence.uniformity", "ptx_lsp.analyses.asynchronous.wgmma_fence"}
        assert not modules & slow


def test_as_a_module(good: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ptx_lsp", str(good)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "All checks passed: 1 file.\n", "")
