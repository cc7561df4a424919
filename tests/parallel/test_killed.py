"""Workers that are killed while they check a certain file, in the middle of a run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path

import pytest

from ptx_lsp.cli.checking import jobs, remote
from ptx_lsp.cli.checking.check import check
from ptx_lsp.cli.checking.remote import check_there
from ptx_lsp.cli.checking.task import Task
from ptx_lsp.cli.inputs import Input
from ptx_lsp.cli.settings import Settings
from ptx_lsp.lint.results.report import FileReport
from tests.cli.conftest import BAD, GOOD, Done, Lint, lint
from tests.parallel.test_dask import address

__all__ = ["address", "lint"]

FILES = 200
GUILTY = "k077.ptx"


def die(one: Input) -> None:
    """Kills this process, or the one that started it, if a file beside the folder says so."""
    path = Path(one.path)
    folder = path.parent.parent
    if path.name != GUILTY:
        return
    if (folder / "always").exists():
        with (folder / "deaths").open("a") as deaths:
            deaths.write("one\n")
        os.kill(os.getpid(), signal.SIGKILL)
    for name, process in (("own", os.getpid()), ("above", os.getppid())):
        if (folder / name).exists():
            (folder / name).unlink()
            os.kill(process, signal.SIGKILL)


def check_or_die(one: Input, settings: Settings, is_last: bool = False) -> FileReport:
    die(one)
    return check(one, settings, is_last)


def check_there_or_die(task: Task) -> FileReport:
    die(task.one)
    return check_there(task)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Many small files."""
    folder = tmp_path / "tree"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"k{number:03}.ptx").write_text((GOOD, BAD)[number % 2] + f"// {number}\n")
    monkeypatch.setattr(jobs, "check", check_or_die)  # forked processes have this one
    monkeypatch.setattr(remote, "check_there", check_there_or_die)
    return folder


@pytest.fixture
def mortal() -> Iterator[str]:
    """A scheduler with two workers that do not come back."""
    distributed = import_module("distributed")
    command = [sys.executable, "-m", "distributed.cli.dask_worker", "--no-nanny", "--nthreads", "1"]
    with ExitStack() as stack:
        cluster = stack.enter_context(distributed.LocalCluster(n_workers=0, dashboard_address=":0"))
        for _ in range(2):
            worker = subprocess.Popen(
                [*command, "--no-dashboard", cluster.scheduler_address], stderr=subprocess.DEVNULL
            )
            stack.callback(worker.wait)
            stack.callback(worker.kill)
        with distributed.Client(cluster) as client:
            client.wait_for_workers(2, timeout=60)
        yield cluster.scheduler_address.replace("tcp://", "dask://")


def run(lint: Lint, tree: Path, jobs: str) -> Done:
    return lint("--no-cache", "--no-config", "--format", "json", "--jobs", jobs, tree)


@pytest.mark.parametrize(
    ("workers", "killed"),
    [("2", "own"), ("address", "own"), ("address", "above"), ("mortal", "above")],
    ids=[
        "process",
        "process of a Dask worker",
        "Dask worker",
        "Dask worker that does not come back",
    ],
)
def test_a_worker_that_is_killed_changes_nothing(
    lint: Lint, tree: Path, workers: str, killed: str, request: pytest.FixtureRequest
) -> None:
    name: str = workers if workers.isdecimal() else request.getfixturevalue(workers)
    alone = run(lint, tree, "1")
    assert len(json.loads(alone.out)["files"]) == FILES
    mark = tree.parent / killed
    mark.touch()
    assert run(lint, tree, name) == alone
    assert not mark.exists(), "a worker has been killed"


@pytest.mark.parametrize("workers", ["2", "address"])
def test_only_the_file_that_kills_its_worker_is_lost(
    lint: Lint, tree: Path, workers: str, request: pytest.FixtureRequest
) -> None:
    name: str = workers if workers.isdecimal() else request.getfixturevalue(workers)
    alone, guilty = run(lint, tree, "1"), str(tree / GUILTY)
    (tree.parent / "always").touch()
    done = run(lint, tree, name)
    assert (
        done.err == f"ptx-lint: error: {guilty}: the process that checked it ended unexpectedly\n"
    )
    found, expected = (
        [file for file in json.loads(one.out)["files"] if file["path"] != guilty]
        for one in (done, alone)
    )
    assert found == expected
    assert len(found) == FILES - 1
    deaths = (tree.parent / "deaths").read_text().count("\n")
    assert 3 <= deaths <= 7, "twice among others, once alone with its part, then in halves"
