"""Work on any executor: the same results in order, whatever happens to the workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from ptx_lsp.parallel.executors import executor
from ptx_lsp.parallel.jobs import JobsError
from ptx_lsp.parallel.ordered import ordered, workers_of
from ptx_lsp.parallel.part import Raised, run_part, unpacked
from ptx_lsp.parallel.process_pool import ProcessPool
from ptx_lsp.parallel.same_code import Code, own_code
from tests.parallel.executors import Cancelling, Inline, NewestFirst

LOST = -1


def square(number: int) -> int:
    return number * number


def lost(number: int) -> int:
    return LOST


def dies(numbers: frozenset[int], number: int) -> int:
    if number in numbers:
        os.kill(os.getpid(), signal.SIGKILL)
    return square(number)


def dies_once(folder: Path, numbers: frozenset[int], number: int) -> int:
    marker = folder / str(number)
    if number in numbers and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return square(number)


class OddError(Exception):
    """It is pickled, and not unpickled."""

    def __reduce__(self) -> tuple[type[int], tuple[str]]:
        return int, ("no number",)


def raises(number: int) -> int:
    if number == 5:
        raise OddError("no number")
    if number == 9:
        raise KeyError(number)
    return square(number)


EXECUTORS = [Inline, NewestFirst, partial(ThreadPoolExecutor, 3), partial(ProcessPool, 2)]


@pytest.mark.parametrize("make", EXECUTORS)
@pytest.mark.parametrize("part_cost", [1, 10])
def test_any_executor_gives_the_same(make: Callable[[], Executor], part_cost: int) -> None:
    with make() as pool:
        found = ordered(square, range(1000), pool, lost=lost, part_cost=part_cost)
        assert list(found) == [square(number) for number in range(1000)]


def test_nothing_to_do() -> None:
    assert list(ordered(square, [], Inline(), lost=lost)) == []


def test_items_are_read_and_submitted_as_needed() -> None:
    pool, read = NewestFirst(), 0

    def items() -> Iterator[int]:
        nonlocal read
        for number in range(100_000):
            read += 1
            yield number

    most = 0
    for given, result in enumerate(ordered(square, items(), pool, lost=lost, part_cost=2)):
        assert result == square(given)
        most = max(most, read - given)
    assert most <= 2 * 64 + 2


def test_a_result_is_given_before_the_next_is_there() -> None:
    with ThreadPoolExecutor(1) as pool:
        found = ordered(abs, iter(int, 1), pool, lost=lost)  # zeros without end
        assert [next(found) for _ in range(500)] == [0] * 500


def test_what_is_known_needs_no_worker() -> None:
    pool = Inline()

    def known(number: int) -> int | None:
        return None if number % 100 == 50 else 7

    found = list(ordered(square, range(10_000), pool, lost=lost, known=known, part_cost=10))
    assert found == [square(number) if number % 100 == 50 else 7 for number in range(10_000)]
    assert pool.tasks <= 11
    assert set(ordered(square, range(10_000), Inline(), lost=lost, known=lambda number: 7)) == {7}


def test_what_is_sent_is_made_of_the_item() -> None:
    assert list(ordered(int.__abs__, [1, 2], Inline(), lost=lost, sent=lambda number: -10 * number)) == [
        10,
        20,
    ]


def test_a_large_part_goes_first() -> None:
    class Recording(Inline):
        workers = 1

    seen: list[int] = []
    costs = [1] * 10 + [50] + [1] * 5
    found = ordered(
        square, range(16), Recording(), lost=lost, sent=lambda number: seen.append(number) or number,
        cost=costs.__getitem__,
    )  # fmt: skip
    assert list(found) == [square(number) for number in range(16)]
    assert seen == [10, *range(10), *range(11, 16)]


def test_workers_that_die_once_change_nothing(tmp_path: Path) -> None:
    work = partial(dies_once, tmp_path, frozenset({0, 33, 77}))
    with executor(2) as pool:
        found = list(ordered(work, range(100), pool, lost=lost, part_cost=4))
    assert found == [square(number) for number in range(100)]
    assert len(list(tmp_path.iterdir())) == 3, "each has killed a worker"


@pytest.mark.parametrize("guilty", [{0}, {17, 18}, {3, 40, 99}])
def test_only_the_guilty_item_is_lost(guilty: set[int]) -> None:
    with executor(2) as pool:
        found = list(
            ordered(partial(dies, frozenset(guilty)), range(100), pool, lost=lost, part_cost=8)
        )
    assert found == [LOST if number in guilty else square(number) for number in range(100)]


def test_an_executor_that_stays_broken() -> None:
    with ProcessPoolExecutor(1) as pool, pytest.raises(BrokenExecutor):
        list(ordered(partial(dies, frozenset({1})), range(10), pool, lost=lost))


def test_cancelled_work_is_submitted_again() -> None:
    assert list(ordered(square, range(9), Cancelling(5), lost=lost)) == [
        square(one) for one in range(9)
    ]
    with pytest.raises(JobsError, match="cancels"):
        list(ordered(square, range(9), Cancelling(100), lost=lost))


@pytest.mark.parametrize("make", [Inline, partial(ProcessPool, 2)])
def test_exceptions_come_in_order(make: Callable[[], Executor]) -> None:
    with make() as pool:
        found = ordered(raises, [0, 1, 9, 5], pool, lost=lost, part_cost=2)
        assert [next(found), next(found)] == [0, 1]
        with pytest.raises(KeyError, match="9"):
            next(found)
        with pytest.raises(RuntimeError, match="OddError: no number"):
            list(ordered(raises, [5], pool, lost=lost))
        with pytest.raises(Exception, match="pickle"):
            list(ordered(unpicklable, [5], pool, lost=unpicklable))


def unpicklable(number: int) -> Callable[[], int]:
    return lambda: number


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (own_code()._replace(version="0.0.1"), "has ptx-lsp .*; it needs 0.0.1, as here"),
        (own_code()._replace(python="3.10"), "runs Python .*; it needs 3.10, as here"),
        (own_code()._replace(digest=""), "from other sources than here"),
    ],
)
def test_a_worker_with_other_code_refuses(other: Code, message: str) -> None:
    (answer,) = unpacked(run_part(b"what only the other code could read", other))
    assert isinstance(answer, Raised)
    with pytest.raises(JobsError, match=message):
        answer.reraise()


def test_the_number_of_workers() -> None:
    assert workers_of(ProcessPool(3)) == 3
    assert workers_of(ThreadPoolExecutor(5)) == 5
    assert workers_of(Inline()) == 16


@pytest.mark.parametrize("is_starting", [False, True])
def test_interrupted(is_starting: bool, tmp_path: Path) -> None:
    """Ctrl-C reaches all processes of the terminal; none is left, and none prints a traceback, even while it
    starts.
    """
    script = tmp_path / "waits.py"
    starts = "    os.write(1, b'%d\\n' % os.getpid()); time.sleep(0.3)\n" if is_starting else ""
    script.write_text(
        "import os, sys, time\n"
        "from ptx_lsp.parallel import process_pool\n"
        "from ptx_lsp.parallel.executors import executor\n"
        "from ptx_lsp.parallel.ordered import ordered\n"
        "def wait(number):\n"
        "    if number > 1: time.sleep(1000)\n"
        "    return os.getpid()\n"
        "begin = process_pool._begin\n"
        "def start():\n"
        f"{starts}    begin()\n"
        "process_pool._begin = start\n"
        "try:\n"
        "    with executor(2) as pool:\n"
        "        for one in ordered(wait, range(9), pool, lost=abs): print(one, flush=True)\n"
        "except KeyboardInterrupt: print('interrupted')\n"
    )
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        process_group=0, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:  # fmt: skip
        assert process.stdout is not None
        workers = {int(process.stdout.readline()) for _ in range(2)}
        if is_starting:  # it would end the workers
            os.kill(process.pid, signal.SIGSTOP)
        os.killpg(process.pid, signal.SIGINT)
        if is_starting:
            time.sleep(0.2)
            os.kill(process.pid, signal.SIGCONT)
        out, err = process.communicate()
    assert (process.returncode, out, err) == (0, "interrupted\n", "")
    while any(Path(f"/proc/{worker}").exists() for worker in workers):
        time.sleep(0.01)
