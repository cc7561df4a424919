"""One large file, checked in several processes."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.corpus import own_files
from ptx_lsp.cli.checking import shares
from ptx_lsp.cli.checking.check import check
from ptx_lsp.cli.checking.shares import shared_out
from ptx_lsp.cli.inputs import Input
from ptx_lsp.cli.settings import Settings
from ptx_lsp.lint.configuration.selection import EVERY, Choice, chosen
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.results.report import FileReport
from ptx_lsp.lint.rule import Rule
from ptx_lsp.model import module_wakes
from ptx_lsp.model.function import Function
from ptx_lsp.parallel import fork
from tests.cli.conftest import HEADER

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="no copies of processes on this system"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning"),  # those of pytest-xdist
]
SETTINGS = Settings(chosen([Choice(select=(EVERY,))]), kernels=True, fingerprints=True)
FILES = {**own_files(), **{path.stem: path for path in sorted(Path("examples").rglob("*.ptx"))}}


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One for each process that is made; each takes few instructions."""
    made: list[int] = []

    class Counted(fork.Forks[object]):
        def start(self, compute: Callable[[], object]) -> None:
            super().start(compute)
            made.append(1)

    monkeypatch.setattr(fork, "Forks", Counted)
    monkeypatch.setattr(shares, "_WORTH_A_PROCESS", 10)
    return made


def checked(path: Path, processes: int, settings: Settings = SETTINGS) -> FileReport:
    return check(Input(str(path)), settings, False, processes)


@pytest.mark.parametrize("name", FILES)
def test_the_report_is_the_same(name: str, copies: list[int]) -> None:
    alone = checked(FILES[name], 1)
    assert not copies
    assert checked(FILES[name], 3) == alone


def kernel(name: str, body: str = "") -> str:
    start = "\t.reg .b32 %r<4>;\n\tmov.u32 %r1, 1;\n\tmov.u32 %r2, 2;\n" + "\tadd.u32 %r1, %r1, %r2;\n" * 20
    return f".visible .entry {name}()\n{{\n{start}{body}\tret;\n}}\n"


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """Kernels with mistakes in each, and one of the module."""
    path = tmp_path / "large.ptx"
    texts = [kernel(f"k{number}", "\tmov.b32 %r3, %r9;\n") for number in range(8)]
    path.write_text(HEADER + ".global .u32 twice;\n" * 2 + "".join(texts))
    return path


def test_each_process_has_a_share(large: Path, copies: list[int]) -> None:
    report = checked(large, 3)
    assert len(copies) == 2
    assert sum(one.rule == "undeclared-name" for one in report.diagnostics) == 8
    assert any(one.rule == "redeclaration" for one in report.diagnostics)
    assert [one.name for one in report.kernels] == [f"k{number}" for number in range(8)]
    assert report == checked(large, 1)


@pytest.fixture
def breaking(add_rule: Callable[[Rule], None]) -> Callable[[Callable[[Function], object]], Settings]:
    """Settings with a rule that does something in every function."""

    def made(act: Callable[[Function], object]) -> Settings:
        def breaks(function: Function) -> Iterator[Finding]:
            act(function)
            yield Finding(function.symbol.place, "it was here")

        add_rule(Rule("breaks", "W299", "warning", "It breaks.", on_function=breaks))
        return Settings(chosen([Choice(select=("breaks",))]))

    return made


def test_a_failure_in_a_copy_is_reported(
    large: Path,
    copies: list[int],
    breaking: Callable[[Callable[[Function], object]], Settings],
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(function: Function) -> None:
        if function.name in {"k2", "k7"}:
            raise RuntimeError(function.name)

    settings = breaking(fail)
    report = checked(large, 3, settings)
    assert len(copies) == 2
    assert len(report.failures) == 2
    assert len(report.diagnostics) == 6
    assert report == checked(large, 1, settings)
    caplog.clear()


def test_a_copy_that_dies_loses_nothing(
    large: Path, copies: list[int], breaking: Callable[[Callable[[Function], object]], Settings]
) -> None:
    here = os.getpid()

    def die(_: Function) -> None:
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)

    report = checked(large, 3, breaking(die))
    assert len(copies) == 2
    assert len(report.diagnostics) == 8


def test_what_occurs_is_unknown_in_a_share(
    large: Path, copies: list[int], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    whole = checked(large, 1)
    check_all = module_wakes.checks

    def fail(function: Function) -> object:
        if function.name == "k5":
            raise RuntimeError("no")
        return check_all(function)

    monkeypatch.setattr(module_wakes, "checks", fail)
    report = checked(large, 3)
    caplog.clear()
    assert len(copies) == 2
    assert report.diagnostics == whole.diagnostics
    assert ["all rules run" in one for one in report.failures] == [True]


def test_no_more_processes(large: Path, copies: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError("Resource temporarily unavailable")

    alone = checked(large, 1)
    monkeypatch.setattr(os, "fork", refuse)
    assert checked(large, 3) == alone
    assert not copies
    monkeypatch.setattr(os, "pipe", refuse)
    assert checked(large, 3) == alone


@given(st.lists(st.integers(0, 5000), max_size=60), st.integers(1, 9))
def test_every_function_is_in_one_share(sizes: list[int], processes: int) -> None:
    found = shared_out(sizes, processes)
    assert len(found) <= processes
    assert all(found)
    if found:
        assert sorted(number for share in found for number in share) == list(range(len(sizes)))


@pytest.mark.parametrize(
    ("sizes", "processes", "expected"),
    [
        ([9000], 2, []),
        ([9000, 9000], 2, [[1], [0]]),
        ([9000, 9000, 9000, 9000], 2, [[2], [0, 1, 3]]),
        ([100] * 100, 2, [[*range(35)], [*range(35, 100)]]),
        ([2000, 2000], 2, []),
        ([50_000], 1, []),
    ],
)
def test_shares(sizes: Sequence[int], processes: int, expected: list[list[int]]) -> None:
    """The process that does the rest of the check has fewer functions, and neighbours stay together. A
    function that is most of a file would only be waited for.
    """
    assert shared_out(sizes, processes) == expected


_COUNTING = """
import os, sys
from pathlib import Path
fork, made = os.fork, []
def counted():
    made.append(fork())
    return made[-1]
os.fork = counted
from ptx_lsp.cli.checking import jobs
from ptx_lsp.cli.entry import main
jobs.LONG = 1000
status = main()
Path(os.environ["COUNTED"]).write_text(str(len(made)))
sys.exit(status)
"""


@pytest.mark.parametrize(("jobs", "copies"), [("1", 0), ("2", 1)])
def test_the_command_makes_copies_for_a_large_file(tmp_path: Path, jobs: str, copies: int) -> None:
    """Also at a terminal, which shows a bar of progress."""
    large, count = tmp_path / "large.ptx", tmp_path / "count"
    large.write_text(HEADER + "".join(kernel(f"k{number}") for number in range(300)))
    command = [sys.executable, "-c", _COUNTING, "--no-cache", "--jobs", jobs, "--format", "json", str(large)]
    terminal, other = pty.openpty()
    with os.fdopen(terminal, "rb"), os.fdopen(other, "wb") as shown:
        environment = {**os.environ, "COUNTED": str(count)}
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=shown, check=False, env=environment)
    assert done.returncode == 0
    assert count.read_text() == str(copies)
    assert len(json.loads(done.stdout)["files"]) == 1
