"""Commands end with everything that they have started."""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import ParamSpec, TypeVar

import pytest

from ptx_lsp.reduce.conditions import (
    Assembler,
    Command,
    Condition,
    Crash,
    Finding,
    Message,
    crash_signature,
)
from ptx_lsp.reduce.examination import Examination
from ptx_lsp.reduce.examiner import Examiner
from ptx_lsp.reduce.legality import Legality
from ptx_lsp.reduce.processes import Outcome, Stop, StoppedError, run
from ptx_lsp.reduce.reducer import Reducer
from ptx_lsp.reduce.verdicts import Verdicts
from tests.processes import eventually, is_running, number_in

_P = ParamSpec("_P")
_T = TypeVar("_T")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="commands for a POSIX shell")

STARTS_ANOTHER = "sh -c 'echo $$ > {pid}; echo begun; exec sleep 1000' & wait"


def test_a_command_that_takes_too_long_ends_with_its_children(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    for limit_s in (1, 8, 64):
        outcome = run(STARTS_ANOTHER.format(pid=pid), limit_s, Stop(), reads_output=True)
        if outcome.output:
            break  # a busy machine may not have begun by the limit
    assert outcome == Outcome(None, "begun\n")
    assert eventually(lambda: not is_running(number_in(pid)))


def test_a_command_can_be_stopped(tmp_path: Path) -> None:
    pid, stop = tmp_path / "pid", Stop()
    failed: list[bool] = []

    def work() -> None:
        try:
            run(STARTS_ANOTHER.format(pid=pid), None, stop)
        except StoppedError:
            failed.append(True)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    started = number_in(pid)
    stop.set()
    thread.join(120)
    assert failed == [True]
    assert eventually(lambda: not is_running(started))


def test_a_stopped_command_does_not_begin() -> None:
    stop = Stop()
    stop.set()
    with pytest.raises(StoppedError):
        run("sleep 1000", None, stop)


def test_the_path_of_a_candidate(tmp_path: Path) -> None:
    path = tmp_path / "it's.ptx"
    path.write_text("x")
    assert Command("grep -q x {} && test -f {}").holds(path, 10, Stop())
    assert Command("grep -q x").holds(path, 10, Stop())
    assert not Command("grep -q y").holds(path, 10, Stop())


def test_temporary_files_of_a_command_are_beside_the_candidate(tmp_path: Path) -> None:
    path = tmp_path / "a.ptx"
    path.write_text("x")
    assert Command('mktemp > "$TMPDIR/name"; :').holds(path, 10, Stop())
    assert Path((tmp_path / "name").read_text().strip()).parent == tmp_path


@pytest.mark.parametrize(
    ("status", "output", "signature"),
    [
        (0, "", None),
        (255, "ptxas a.ptx, line 1; error   : Unknown symbol 'x'\n", None),
        (None, "", None),
        (-11, "", "status -11: "),
        (139, "", "status -11: "),
        (
            255,
            "ptxas fatal   : Internal error: value 0x12 in 'f'\n",
            "Internal error: value # in #",
        ),
    ],
)
def test_crashes(status: int | None, output: str, signature: str | None) -> None:
    """An error message is not a crash, nor is a time limit."""
    assert crash_signature(Outcome(status, output)) == signature


@pytest.mark.parametrize(
    "condition",
    [
        Command("true"),
        Crash(Assembler("ptxas", ("-O1",)), "status -11: "),
        Message(Assembler("ptxas"), "words"),
        Finding("dead-write"),
    ],
)
def test_examinations_can_be_sent_to_workers(condition: Condition) -> None:
    examine = Examination(condition, "a.ptx", 10, Path("ptxas"))
    assert pickle.loads(pickle.dumps(examine)) == examine


def test_another_executor_gives_the_same_result(tmp_path: Path) -> None:
    """A cluster cannot end what it has begun; its late results are not used."""
    data = (Path(__file__).parents[2] / "examples" / "saxpy.ptx").read_bytes()
    examine = Examination(Command("grep -q fma"), "a.ptx", 10)
    results: list[bytes] = []
    with ThreadPoolExecutor(4) as pool:
        for executor in (None, pool):
            with Examiner(examine, Verdicts(None, ""), 3, executor) as examiner:
                results.append(Reducer(data, examiner, Legality()).run())
    assert results[0] == results[1]


class LosesWorkers(Executor):
    """Every third task is lost, as if its worker had died."""

    def __init__(self) -> None:
        self.tasks = 0

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        future: Future[_T] = Future()
        self.tasks += 1
        if self.tasks % 3:
            future.set_result(fn(*args, **kwargs))
        else:
            future.set_exception(RuntimeError("killed"))
        return future


def test_a_lost_worker_costs_nothing() -> None:
    data = (Path(__file__).parents[2] / "examples" / "saxpy.ptx").read_bytes()
    examine = Examination(Command("grep -q fma"), "a.ptx", 10)
    results: list[bytes] = []
    for executor in (None, LosesWorkers()):
        with Examiner(examine, Verdicts(None, ""), 2, executor) as examiner:
            results.append(Reducer(data, examiner, Legality()).run())
    assert results[0] == results[1]
