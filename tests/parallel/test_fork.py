"""Copies of a process: what they answer, and how they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ptx_lsp.parallel.fork import Forks, can_fork

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="no copies of processes on this system"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning"),  # those of pytest-xdist
]


def exists(process: int) -> bool:
    """Whether a process has not ended; one that nobody has waited for has."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def computed(*computes: Callable[[], object]) -> list[object]:
    with Forks[object]() as forks:
        for compute in computes:
            forks.start(compute)
        return list(forks.results())


def test_copies_compute_values_from_what_was_there() -> None:
    here = {"name": [1, 2, 3]}
    assert computed(lambda: here.pop("name"), lambda: here) == [[1, 2, 3], here]
    assert here == {"name": [1, 2, 3]}
    processes = {os.getpid(), *computed(os.getpid, os.getpid)}
    assert len(processes) == 3


def test_more_than_a_pipe_holds() -> None:
    assert computed(lambda: bytes(10_000_000), lambda: b"1" * 300_000) == [bytes(10_000_000), b"1" * 300_000]


def fail() -> None:
    raise RuntimeError("what a copy raises is not shown")


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "compute", [fail, interrupt, sys.exit, lambda: os.kill(os.getpid(), signal.SIGKILL), lambda: lambda: 0]
)
def test_a_copy_that_fails_has_no_value(
    compute: Callable[[], object], capfd: pytest.CaptureFixture[str]
) -> None:
    assert computed(lambda: 1, compute, lambda: 2) == [1, None, 2]
    assert capfd.readouterr() == ("", "")


def test_ctrl_c_while_a_copy_starts(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    make = os.fork

    def interrupted() -> int:
        made = make()
        if not made:
            raise KeyboardInterrupt
        return made

    monkeypatch.setattr(os, "fork", interrupted)
    assert computed(lambda: 1) == [None]
    assert capfd.readouterr() == ("", "")


def test_without_a_process_no_file_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError("Resource temporarily unavailable")

    opened = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    monkeypatch.setattr(os, "fork", refuse)
    with pytest.raises(BlockingIOError):
        computed(lambda: 1)
    assert len(os.listdir("/proc/self/fd")) == opened  # noqa: PTH208


@pytest.fixture
def without_children() -> Iterator[None]:
    """Children that end are forgotten, as below `trap '' CHLD` in a shell."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGCHLD, before)


@pytest.mark.usefixtures("without_children")
def test_children_that_are_not_waited_for() -> None:
    assert computed(lambda: 1, lambda: 2) == [1, 2]


def test_a_copy_writes_nothing_that_the_original_has_yet_to_write() -> None:
    script = (
        "import sys, atexit\n"
        "from ptx_lsp.parallel.fork import Forks\n"
        "atexit.register(print, 'end')\n"
        "print('once')\n"
        "with Forks() as forks:\n"
        "    forks.start(lambda: 1)\n"
        "    print(*forks.results())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("once\n1\nend\n", "")


def test_the_end_of_the_context_ends_copies() -> None:
    """Also those that wait until somebody reads what they have computed."""
    reader, writer = os.pipe()

    def compute() -> None:
        os.write(writer, b"%8d" % os.getpid())
        time.sleep(1000)

    def compute_much() -> bytes:
        os.write(writer, b"%8d" % os.getpid())
        return bytes(300_000)

    with Forks[object]() as forks:
        for one in (compute_much, compute, compute_much, compute):
            forks.start(one)
        processes = [int(os.read(reader, 8)) for _ in range(4)]
    os.close(reader)
    os.close(writer)
    assert not any(map(exists, processes))


_WAITS = """
import os, sys, time
from ptx_lsp.parallel.fork import Forks
def compute():
    os.write(1, b"%d\\n" % os.getpid())
    time.sleep(1000)
try:
    with Forks() as forks:
        forks.start(compute)
        forks.start(compute)
        print(*forks.results(), flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("is_interrupted", [False, True], ids=["killed", "interrupted"])
def test_copies_end_with_the_original(is_interrupted: bool) -> None:
    """Ctrl-C reaches all processes of the terminal, SIGKILL one of them. Only the original says something."""
    with subprocess.Popen(
        [sys.executable, "-c", _WAITS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        process_group=0, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:  # fmt: skip
        assert process.stdout is not None
        copies = [int(process.stdout.readline()) for _ in range(2)]
        if is_interrupted:
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.kill()
        out, err = process.communicate()
    assert (out, err) == ("interrupted\n" if is_interrupted else "", "")
    while any(map(exists, copies)):
        time.sleep(0.01)


def test_no_copy_while_another_thread_runs() -> None:
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        assert not can_fork()
    finally:
        end.set()
        thread.join()
