"""`make test` runs all of its parts, and says at the end which have failed and what was left out."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integrations.conftest import ROOT

PARTS = ("ruff", "python", "pyrefly", "npm")
SET_UP = (
    "pyproject.toml", "setup.py", "vscode-extension/package-lock.json", "installed", "set-up", "modules",
)
"""Files in the order in which one is made from others, so that nothing has to be."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder that is set up, with programs that write their names to `ran`."""
    for name in ("Makefile", "tests/__init__.py", "tests/full.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    programs = tmp_path / "bin"
    install = tmp_path / "tests" / "server" / "editors" / "install.sh"
    for folder in (programs, install.parent, tmp_path / "vscode-extension"):
        folder.mkdir(parents=True)
    for program in (*(programs / name for name in PARTS), install):
        _write_program(program)
    for name in SET_UP:
        (tmp_path / name).touch()
    return tmp_path


def _write_program(program: Path, then: str = "") -> None:
    program.write_text(f'#!/bin/sh\necho {program.stem} >> ran\n{then}\n')
    program.chmod(0o755)


def _make_test(
    project: Path, ci: str, path: str = "", *, start_new_session: bool = False
) -> tuple[int, list[str], str]:
    """Status, the programs that ran, in alphabetical order, and the standard output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    environment |= {"CI": ci, "PATH": path or f"{project / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [
            "make", "test", f"PYTHON={sys.executable}", "BIN=bin", "INSTALLED=installed", "STAMP=set-up",
            "MODULES=modules", "C_SOURCES=",
        ],
        cwd=project, env=environment, capture_output=True, text=True, check=False,
        start_new_session=start_new_session,
    )  # fmt: skip
    ran = [*project.glob("ran"), *project.glob("vscode-extension/ran")]
    return done.returncode, sorted("".join(file.read_text() for file in ran).split()), done.stdout


def test_what_changes_meanwhile_is_not_installed_under_the_tests(project: Path) -> None:
    _write_program(project / "bin" / "ruff", "touch -d '1 hour' pyproject.toml")
    status, ran, _ = _make_test(project, ci="")
    assert (status, ran) == (0, sorted(PARTS))


@pytest.mark.parametrize("failing", [None, *PARTS])
def test_every_part_runs(failing: str | None, project: Path) -> None:
    if failing:
        _write_program(project / "bin" / failing, "exit 1")
    status, ran, shown = _make_test(project, ci="")
    assert ran == sorted(PARTS)
    assert (status == 0) == (failing is None)
    *results, whole = shown.rpartition("Results\n")[2].splitlines()
    assert whole.startswith("  in all ")
    names = ("code style", "Python tests", "types", "VS Code extension")
    for line, program, name in zip(results, PARTS, names, strict=True):
        assert line.split("  ")[1] == name
        assert ("failed" if program == failing else "passed") in line
        assert line.endswith(" s")


def test_the_output_of_each_part_is_shown_whole(project: Path) -> None:
    _write_program(project / "bin" / "pyrefly", "echo one error; echo on stderr >&2; exit 1")
    _write_program(project / "bin" / "npm", r"printf 'in VS Code \377\n'")  # not UTF-8
    _write_program(project / "bin" / "python", "echo tested")
    status, _, shown = _make_test(project, ci="")
    assert status
    _, types, vs_code = shown.partition("tested\n")[2].split("== Output of ")
    assert "one error\non stderr\n" in types
    assert "in VS Code \N{REPLACEMENT CHARACTER}\n" in vs_code


def test_no_part_begins_after_ctrl_c(project: Path) -> None:
    """Ctrl-C is sent to all processes of a terminal."""
    _write_program(project / "bin" / "pyrefly", "touch pyrefly.runs; sleep 60")
    _write_program(
        project / "bin" / "python",
        "for n in $(seq 600); do [ -e pyrefly.runs ] && break; sleep 0.1; done; kill -INT 0; sleep 60",
    )
    status, ran, _ = _make_test(project, ci="", start_new_session=True)
    assert status
    assert "npm" not in ran


def test_no_part_begins_after_ctrl_c_if_make_has_failed_with_it(project: Path) -> None:
    """make may see the end of its program before its own signal, and end as after any failure."""
    _write_program(project / "bin" / "pyrefly", "echo $$ > pyrefly.runs; exec sleep 60")
    _write_program(
        project / "bin" / "python",
        "for n in $(seq 600); do [ -s pyrefly.runs ] && break; sleep 0.1; done\n"
        "kill -INT $(cut -d' ' -f4 /proc/$PPID/stat); kill $(cat pyrefly.runs); sleep 1",
    )
    status, ran, _ = _make_test(project, ci="", start_new_session=True)
    assert status
    assert "npm" not in ran


def test_the_types_are_checked_beside_the_tests(project: Path) -> None:
    """Each of them waits for the other to begin."""
    for one, other in (("python", "pyrefly"), ("pyrefly", "python")):
        wait = f"for n in $(seq 600); do [ -e {other}.runs ] && exit 0; sleep 0.1; done; exit 1"
        _write_program(project / "bin" / one, f"touch {one}.runs; {wait}")
    status, _, shown = _make_test(project, ci="")
    assert not status, shown


def test_without_npm_the_rest_runs(project: Path) -> None:
    (project / "bin" / "npm").unlink()
    programs = {name: shutil.which(name) for name in ("make", "sh", "echo", "env", "rm", "touch")}
    for name, path in programs.items():
        assert path
        (project / "bin" / name).symlink_to(path)
    status, ran, shown = _make_test(project, ci="", path=str(project / "bin"))
    assert ran == sorted(one for one in PARTS if one != "npm")
    assert not status
    assert "left out: npm is missing" in shown


def test_the_end_lists_what_was_left_out(project: Path) -> None:
    record = """<testsuites><testsuite tests="9" failures="1" errors="1" skipped="3">
        <testcase><skipped message="no Vim: make editors"/></testcase>
        <testcase><skipped message="no Vim: make editors"/></testcase>
        <testcase><skipped message="no GPU"/></testcase></testsuite></testsuites>"""
    _write_program(project / "bin" / "python", f"mkdir -p build; echo '{record}' > build/tests.xml; exit 1")
    status, _, shown = _make_test(project, ci="")
    assert status
    assert ", 4 passed, 2 failed, 3 left out\n" in shown
    assert shown.endswith("Left out\n  1 test: no GPU\n  2 tests: no Vim: make editors\n")


def test_only_ci_installs_editors(project: Path) -> None:
    _write_program(project / "tests" / "server" / "editors" / "install.sh", "exit 1")
    status, ran, shown = _make_test(project, ci="true")
    assert ran == sorted(["install", *PARTS])
    assert not status, shown


def test_the_demo_shows_findings_a_race_and_a_report(tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    done = subprocess.run(
        ["sh", ROOT / "examples" / "demo.sh", Path(sys.executable).parent, report],
        capture_output=True, text=True, check=True, timeout=120,
    )
    assert "error[missing-modifier] `mul` requires `.hi` or `.lo`" in done.stdout
    assert "63," in done.stdout
    assert "error[race] thread (0, 0, 0) reads `tile`" in done.stderr
    assert "<html" in report.read_text(encoding="utf-8")
    assert done.stdout.rpartition("Next:")[2].count("\n") > 5
