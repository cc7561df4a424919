"""Reports kept between runs; and `--watch`."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from io import BytesIO
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from ptx_lsp import ptxas, static_typing
from ptx_lsp.cli.checking import jobs
from ptx_lsp.cli.checking.cache import Cache, ReportUnpickler, key
from ptx_lsp.cli.checking.check import check
from ptx_lsp.cli.inputs import Input
from ptx_lsp.cli.settings import Settings
from ptx_lsp.lint.configuration.selection import Rules
from ptx_lsp.lint.diagnostic import Origin
from ptx_lsp.lint.results import details, report
from ptx_lsp.lint.results.report import Compilation, FileReport, Reported
from tests.cli.conftest import BAD, GOOD, Lint
from tests.cli.test_inputs import without_privilege

COMMAND = [sys.executable, "-m", "ptx_lsp"]
LITERAL = vars(static_typing)["Literal"]
"""What annotations have in place of `Literal[...]`, if `typing` is not imported first."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache's, and a tree of ten files to lint."""
    monkeypatch.delenv("PTX_LINT_NO_CACHE")
    monkeypatch.setenv("PTX_LINT_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "tree").mkdir()
    monkeypatch.chdir(tmp_path / "tree")
    for number in range(10):
        Path(f"k{number}.ptx").write_text((GOOD if number % 2 else BAD) + f"// {number}\n")
    return tmp_path / "cache"


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the files that are really checked."""
    paths: list[str] = []

    def counting(one: Input, settings: Settings, is_last: bool = False) -> FileReport:
        paths.append(one.path)
        return check(one, settings)

    monkeypatch.setattr(jobs, "check", counting)
    return paths


def test_only_what_changed_is_checked(lint: Lint, folder: Path, checked: list[str]) -> None:
    first = lint(".")
    assert len(checked) == 10
    assert lint(".") == first
    assert len(checked) == 10
    with Path("k3.ptx").open("a") as file:
        file.write("// more\n")
    assert lint(".").out == first.out
    assert checked[10:] == ["k3.ptx"]
    Path("k3.ptx").rename("k33.ptx")
    assert "k33" not in lint(".").out
    Path("k2.ptx").rename("k22.ptx")  # the content counts, not the path
    assert "k22.ptx:7:15" in lint(".").out
    assert len(checked) == 11


def test_everything_in_a_report_is_read_back() -> None:
    """A class that is refused would make each report with it anew, in every run."""
    known, reports = set[type](), ReportUnpickler(BytesIO())

    def walk(found: object) -> None:
        for part in get_args(found):
            walk(part)
        is_own = isinstance(found, type) and found.__module__.startswith("ptx_lsp")
        if isinstance(found, type) and is_own and found not in known | {LITERAL}:
            known.add(found)
            names = {**vars(report), **vars(details)}
            for part in get_type_hints(found, localns=names).values():
                walk(part)

    walk(FileReport)
    assert {Reported, Origin, Compilation} < known
    for one in known:
        assert reports.find_class(one.__module__, one.__qualname__) is one


def test_reports_with_source_lines_are_kept(lint: Lint, folder: Path, checked: list[str]) -> None:
    Path("k0.ptx").write_text(GOOD.replace("ret;", '.loc 1 7 3\n ret;\n bra nowhere;') + '.file 1 "a.cu"\n')
    first = lint("--format", "json", "k0.ptx")
    assert '"path": "a.cu"' in first.out
    assert lint("--format", "json", "k0.ptx") == first
    assert checked == ["k0.ptx"]


@pytest.mark.parametrize("options", [(), ("--no-cache",), ("--kernels",), ("--no-cache", "--kernels")])
def test_the_same_text_is_checked_once(
    lint: Lint, folder: Path, checked: list[str], options: tuple[str, ...]
) -> None:
    """As in a compiler cache with a folder per device."""
    alone = [lint("--no-cache", "--format", "json", *options, f"k{number}.ptx") for number in range(10)]
    for number in range(10):
        Path(f"copy{number % 3}").mkdir(exist_ok=True)
        Path(f"copy{number % 3}/k{number}.ptx").write_bytes(Path(f"k{number}.ptx").read_bytes())
    checked.clear()
    files = json.loads(lint("--format", "json", *options, ".").out)["files"]
    assert len(checked) == 10
    assert [file["path"] for file in files] == sorted(file["path"] for file in files)
    assert len(files) == 20
    for file in files:
        (own,) = json.loads(alone[int(file["path"][-5])].out)["files"]
        assert file == {**own, "path": file["path"]}


def test_a_text_that_is_there_twice_in_processes(lint: Lint, folder: Path) -> None:
    for number in range(10):
        Path(f"k{number}1.ptx").write_bytes(Path(f"k{number}.ptx").read_bytes())
    assert lint("--no-cache", "--jobs", "2", ".") == lint("--no-cache", "--jobs", "1", ".")


def test_a_copy_of_what_kills_its_process(
    lint: Lint, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not checked in the process that has the results."""
    for number in range(1, 4):
        Path(f"k{number}.ptx").write_bytes(Path("k0.ptx").read_bytes())

    def die(one: Input, settings: Settings) -> FileReport:
        if one.path == "k0.ptx":
            os._exit(9)
        assert one.path not in ("k1.ptx", "k2.ptx", "k3.ptx")
        return check(one, settings)

    monkeypatch.setattr(jobs, "check", die)
    said = lint("--no-cache", "--jobs", "2", ".").err
    assert said.count("the process that checked it ended unexpectedly") == 4


def test_a_copy_of_what_could_not_be_checked(
    lint: Lint, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has a report of its own."""
    Path("k1.ptx").write_bytes(Path("k0.ptx").read_bytes())
    paths: list[str] = []

    def failing(one: Input, settings: Settings, is_last: bool = False) -> FileReport:
        paths.append(one.path)
        return FileReport(one.path, error="gone") if one.path == "k0.ptx" else check(one, settings)

    monkeypatch.setattr(jobs, "check", failing)
    assert "k0.ptx: gone" in lint("k0.ptx", "k1.ptx").err
    assert paths == ["k0.ptx", "k1.ptx"]


@pytest.mark.parametrize(
    "options", [["--select", "E102"], ["--target", "sm_90"], ["--format", "json"], ["--no-cache"]]
)
def test_settings_count(lint: Lint, folder: Path, checked: list[str], options: list[str]) -> None:
    lint(".")
    plain = lint("--no-cache", *options, ".")
    count = len(checked)
    assert lint(*options, ".") == plain
    assert len(checked) == count + 10


@pytest.mark.skipif(sys.platform == "win32", reason="the ptxas of this test is a shell script")
def test_a_ptxas_behind_a_script_counts(tmp_path: Path) -> None:
    """The script stays what it is when what it runs gets a new version."""
    script, release = tmp_path / "ptxas", tmp_path / "release"
    script.write_text(f"#!/bin/sh\necho release $(cat {release})\n")
    script.chmod(0o755)
    settings = Settings(Rules(frozenset()), ptxas=script)
    keys: set[str] = set()
    for text in ("13.4", "13.5"):
        release.write_text(text)
        ptxas.version.cache_clear()
        keys.add(key(b"", settings))
    assert len(keys) == 2


def test_a_new_build_of_the_grammar_counts(tmp_path: Path) -> None:
    """It may come without a new version."""
    package = tmp_path / "tree_sitter_ptx"
    package.mkdir()
    (package / "__init__.py").write_text("")
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); from ptx_lsp.cli.checking.cache import key;"
        "from ptx_lsp.cli.settings import Settings; from ptx_lsp.lint.configuration.selection import Rules;"
        "print(key(b'', Settings(Rules(frozenset()))), 'tree_sitter_ptx' in sys.modules)"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    told: set[str] = set()
    for build in ("one", "another"):
        (package / "_binding.abi3.so").write_text(build)
        told.add(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert len(told) == 2
    assert all(line.endswith("False\n") for line in told)


def test_damaged_entries_are_made_anew(lint: Lint, folder: Path, checked: list[str]) -> None:
    first = lint(".")
    for number, entry in enumerate(sorted(folder.glob("??/*"))):
        data = entry.read_bytes()
        middle = len(data) // 2
        turned = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
        entry.write_bytes((data[:middle], b"", turned, os.urandom(50))[number % 4])
    assert lint(".") == first
    assert len(checked) == 20
    assert lint(".") == first
    assert len(checked) == 20


def test_what_others_put_there_does_no_harm(lint: Lint, folder: Path, tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, ...]:
            return os.mkdir, (str(tmp_path / "evil"),)

    first = lint(".")
    for entry in folder.glob("??/*"):
        data = pickle.dumps(Evil())
        entry.write_bytes(hashlib.sha256(data).digest() + data)
    assert lint(".") == first
    assert not (tmp_path / "evil").exists()


def test_failures_are_not_kept(lint: Lint, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr("ptx_lsp.cli.checking.check.Module", fail)
        assert lint("k1.ptx").status == 2
    assert lint("k1.ptx").status == 0


def test_where_nothing_can_be_written(
    lint: Lint, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = lint(".")
    locked = folder.parent / "locked"
    locked.mkdir()
    locked.chmod(0o555)
    monkeypatch.setenv("PTX_LINT_CACHE_DIR", str(locked / "cache"))
    tree = Path.cwd()
    tree.chmod(0o555)
    with without_privilege():
        assert lint(".") == first
    tree.chmod(0o700)
    assert list(locked.iterdir()) == []


def test_old_entries_go(lint: Lint, folder: Path) -> None:
    lint("k1.ptx")
    (old,) = folder.glob("??/*")
    os.utime(old, (0, 0))
    os.utime(folder / ".made-by-ptx-lint", (0, 0))
    lint("k2.ptx")
    assert not old.exists()
    assert len(list(folder.glob("??/*"))) == 1


def test_two_runs_at_once_and_one_interrupted(folder: Path) -> None:
    """Three are started, one is killed; what they leave is whole."""
    running = [
        subprocess.Popen(
            [*COMMAND, "--format", "concise", "."], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(3)
    ]
    time.sleep(0.4)
    running[0].kill()
    outs = [process.communicate(timeout=300)[0] for process in running[1:]]
    running[0].communicate()
    assert outs[0] == outs[1] != b""
    kept = Cache(folder)
    entries = list(folder.glob("??/*"))
    assert len([one for one in entries if not one.name.startswith(".")]) == 10
    for entry in entries:
        if not entry.name.startswith("."):
            assert kept.get(entry.parent.name + entry.name, "x.ptx") is not None


def test_a_run_that_has_all_reports_imports_little(folder: Path) -> None:
    Path("ptx-lint.toml").write_text('ignore = ["undeclared-name"]\n[budgets]\n"*" = ["registers <= 99"]\n')
    script = (
        "import sys; from ptx_lsp.cli.lint import main; main(['.']);"
        "print(*(m for m in sys.modules if m.startswith(('ptx_lsp', 'tree_sitter', 'numpy'))))"
    )
    command = [sys.executable, "-c", script]
    # the index of the rules is kept as compiled modules are
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    first, second = (
        subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout.splitlines()
        for _ in range(2)
    )
    assert first[0] == second[0] == "All checks passed: 10 files."
    assert "ptx_lsp.lint.rules" in first[1]
    kept_out = ("ptx_lsp.lint.rule", "ptx_lsp.model.module", "ptx_lsp.analyses.", "tree_sitter.", "numpy")
    assert not [name for name in second[1].split() if name.startswith(kept_out)]


def test_watch(folder: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "--watch", "--format", "concise", "k0.ptx"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        try:
            assert "error[undeclared-name]" in process.stdout.readline()
            assert "Watching" in process.stderr.readline()
            Path("new").write_text(BAD.replace("%r9", "%r8"))
            Path("new").replace("k0.ptx")  # at once: no run sees half of it
            assert "`%r8`" in process.stdout.readline()
            assert "Watching" in process.stderr.readline()
            Path("new").write_text("selct = []\n")
            Path("new").replace("ptx-lint.toml")
            assert "unknown key `selct`" in process.stderr.readline()
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(timeout=120)
            finally:
                process.kill()
    assert process.returncode == 130
