"""Copies of a process: what they answer, and how they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ptx_lsp.parallel.fork import Fork, can_fork

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


def test_a_copy_computes_a_value_from_what_was_there() -> None:
    here = {"name": [1, 2, 3]}
    fork = Fork(lambda: (os.getpid(), here.pop("name")))
    found = fork.result()
    fork.end()
    assert found is not None and found[0] != os.getpid() and found[1] == [1, 2, 3]
    assert here == {"name": [1, 2, 3]}


def test_more_than_a_pipe_holds() -> None:
    fork = Fork(lambda: bytes(10_000_000))
    found = fork.result()
    fork.end()
    assert found == bytes(10_000_000)


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
    fork = Fork(compute)
    found = fork.result()
    fork.end()
    assert found is None
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
    fork = Fork(lambda: 1)
    found = fork.result()
    fork.end()
    assert found is None
    assert capfd.readouterr() == ("", "")


def test_a_copy_writes_nothing_that_the_original_has_yet_to_write() -> None:
    script = (
        "import sys, atexit\n"
        "from ptx_lsp.parallel.fork import Fork\n"
        "atexit.register(print, 'end')\n"
        "print('once')\n"
        "fork = Fork(lambda: 1)\n"
        "print(fork.result())\n"
        "fork.end()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("once\n1\nend\n", "")


def test_end_ends_a_copy_that_computes() -> None:
    reader, writer = os.pipe()

    def compute() -> None:
        os.write(writer, b"%d" % os.getpid())
        time.sleep(1000)

    fork = Fork(compute)
    process = int(os.read(reader, 20))
    fork.end()
    os.close(reader)
    os.close(writer)
    assert not exists(process)


_WAITS = """
import os, sys, time
from ptx_lsp.parallel.fork import Fork
def compute():
    os.write(1, b"%d\\n" % os.getpid())
    time.sleep(1000)
try:
    forks = [Fork(compute), Fork(compute)]
    print(forks[0].result(), flush=True)
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
