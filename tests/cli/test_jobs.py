"""Several processes, a reader that goes away, and Ctrl-C."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from weakref import ref

import pytest

from ptx_lsp.cli.checking import check as checking
from ptx_lsp.cli.checking import jobs
from ptx_lsp.cli.inputs import Input
from ptx_lsp.cli.settings import Settings
from ptx_lsp.isa.target import Target
from ptx_lsp.lint.configuration import config
from ptx_lsp.lint.results.report import FileReport
from ptx_lsp.model.launch_blocks import LaunchBlock
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from tests.cli.conftest import BAD, GOOD, Lint

COMMAND = [sys.executable, "-m", "ptx_lsp"]


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Forty files, good, bad and unreadable."""
    for number in range(40):
        text = (GOOD, BAD, "\0" + GOOD)[number % 3].replace("good", f"good_{number}")
        (tmp_path / f"k{number}.ptx").write_text(text)
    return tmp_path


@pytest.mark.parametrize("form", ["full", "concise", "json"])
def test_the_number_of_jobs_changes_nothing(lint: Lint, many: Path, form: str) -> None:
    alone = lint("--format", form, "--kernels", "--jobs", "1", many)
    assert alone.status == 2
    assert alone.err.count("\n") == 13
    assert lint("--format", form, "--kernels", "--jobs", "3", many) == alone


def test_a_file_that_kills_its_process_costs_itself_only(
    lint: Lint, many: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (many / "k7.ptx").open("a") as file:
        file.write("// no other file has this text\n")
    whole = lint("--format", "json", "--jobs", "1", many)
    check = jobs.check

    def die(one: Input, settings: Settings) -> FileReport:
        if one.path.endswith("k7.ptx"):
            os._exit(9)
        return check(one, settings)

    monkeypatch.setattr(jobs, "check", die)
    done = lint("--format", "json", "--jobs", "2", many)
    ended = "k7.ptx: the process that checked it ended unexpectedly"
    assert done.status == 2
    assert [line for line in done.err.splitlines() if "NUL" not in line] == [
        f"ptx-lint: error: {many}/{ended}"
    ]
    alone, found = (
        [file for file in json.loads(one.out)["files"] if not file["path"].endswith("k7.ptx")]
        for one in (whole, done)
    )
    assert alone == found


@pytest.mark.parametrize("jobs", ["0", "two", "dask://", "tcp://host:1"])
def test_what_is_no_number_of_jobs(lint: Lint, good: Path, jobs: str) -> None:
    for words in (["--jobs", jobs, good], ["compare", "--jobs", jobs, good, good]):
        done = lint(*words)
        assert done.status == 2
        assert f"argument --jobs/-j: {jobs!r} is not " in done.err
        assert "dask://HOST:PORT" in done.err


def test_a_reader_that_goes_away(many: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "--format", "json", str(many)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        said = process.stderr.read().decode()
    assert process.returncode == 2
    assert all("NUL byte" in line for line in said.splitlines())


def test_interrupted(tmp_path: Path) -> None:
    """Ctrl-C while it waits for standard input."""
    with subprocess.Popen(
        [*COMMAND, str(tmp_path / "absent.ptx"), "-"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        # a shell that runs the tests in the background has them ignore Ctrl-C
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stdin is not None and process.stderr is not None
        process.stdin.write(b"x" * (1 << 20))  # more than a pipe holds: when it is through, it reads
        process.stdin.flush()
        for _ in range(20):  # one that comes just before a read is heard after it
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=1)
                break
        process.kill()
        said = process.stderr.read()
    assert (process.returncode, said) == (130, b"ptx-lint: interrupted\n")


def test_processes_are_worth_their_start() -> None:
    few = [Input("a", size=100)] * 10
    large = [Input("a", size=10 << 20)] * 3
    assert jobs.process_count(few, None, cores=8) == 1
    assert jobs.process_count(large, None, cores=8) == 3
    assert jobs.process_count(large, None, cores=2) == 2
    assert jobs.process_count(few, 4, cores=2) == 4
    assert jobs.process_count(few[:2], 4, cores=2) == 2
    assert jobs.process_count([], None, cores=2) == 1


def test_progress_only_in_a_terminal(
    lint: Lint, good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "LONG", 1)
    assert lint(good).err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    shown = lint(good)
    assert "Checking" in shown.err
    assert "Checking" not in shown.out
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert lint("--quiet", good).err == ""


def test_a_configuration_is_looked_up_once_for_each_folder(
    lint: Lint, many: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[Path] = []
    find = config.find

    def counted(folder: Path) -> Path | None:
        looked_up.append(folder)
        return find(folder)

    monkeypatch.setattr(config, "find", counted)
    lint("--jobs", "1", many)
    assert len(looked_up) <= 2 * len({many, Path()})  # the folder of all files, and the current one


def test_workers_of_a_whole_run_are_not_terminated(
    lint: Lint, good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only those of an abandoned run are; a pool that is closing while the process exits prints an error."""
    from ptx_lsp.parallel.process_pool import ProcessPool

    terminated: list[ProcessPool] = []
    monkeypatch.setattr(ProcessPool, "terminate", terminated.append)
    good.with_name("other.ptx").write_bytes(good.read_bytes() + b"// other\n")
    done = lint("--no-cache", "--jobs", "2", good, good.with_name("other.ptx"))
    assert (done.status, terminated) == (0, [])


def test_the_memory_of_a_file_is_freed_without_the_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    modules: list[ref[Module]] = []

    class Recorded(Module):
        def __init__(
            self,
            document: Document,
            previous: Module | None,
            target: Target | None,
            block: LaunchBlock | None,
        ) -> None:
            super().__init__(document, previous, target, block)
            modules.append(ref(self))

    one = Input("one.ptx", BAD.encode())
    settings = Settings(config.effective(config.DEFAULT, None), ("sm_80", "sm_90"), kernels=True)
    checking.check(one, settings)  # the first file makes cycles of what it imports
    monkeypatch.setattr(checking, "Module", Recorded)
    gc.disable()
    try:
        report = checking.check(one, settings)
        left = [one() for one in modules]
    finally:
        gc.enable()
    assert report.diagnostics
    assert left == [None, None]
