"""`--jobs`, and the executors that it names."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import BrokenExecutor

import pytest

from ptx_lsp.parallel.executors import executor
from ptx_lsp.parallel.jobs import JobsError, parse_jobs, scheduler_address


@pytest.mark.parametrize(
    "text",
    [
        "0",
        "-1",
        "",
        "two",
        "1.5",
        "²",
        "dask://",
        "dask://:8786",
        "dask://h:port",
        "dask://h/x",
        "tcp://h:1",
    ],
)
def test_what_is_no_number_of_jobs(text: str) -> None:
    with pytest.raises(JobsError, match="is not"):
        parse_jobs(text)


def test_numbers_and_addresses() -> None:
    assert parse_jobs("12") == 12
    assert parse_jobs("dask://host:1") == "dask://host:1"
    assert scheduler_address("dask://host:1") == "tcp://host:1"
    assert scheduler_address("dask://host") == "tcp://host:8786"
    assert scheduler_address("dask://[::1]:9/") == "tcp://[::1]:9"


def test_processes_are_replaced_after_one_has_died() -> None:
    with executor(2) as processes:
        first = processes.submit(os.getpid).result()
        with pytest.raises(BrokenExecutor):
            processes.submit(os._exit, 3).result()
        assert processes.submit(os.getpid).result() not in {first, os.getpid()}
    with pytest.raises(RuntimeError, match="shutdown"):
        processes.submit(os.getpid)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("number", ["SIGTERM", "SIGKILL"])
def test_workers_end_with_the_process_that_started_them(number: str) -> None:
    """Also those that wait for work."""
    script = (
        "import os, time\n"
        "from ptx_lsp.parallel.executors import executor\n"
        "with executor(2) as pool:\n"
        "    busy = pool.submit(time.sleep, 1000)\n"
        "    print(pool.submit(os.getpid).result(), flush=True)\n"
        "    busy.result()\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.Signals[number])
        assert process.stdout.read() == b"", "the last process that has the pipe has ended"


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_workers_ignore_an_interrupt_as_their_parent_does() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with executor(1) as processes:
            assert processes.submit(signal.getsignal, signal.SIGINT).result() == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_scheduler_that_does_not_answer() -> None:
    with socket.socket() as bound:  # and not listening
        bound.bind(("127.0.0.1", 0))
        address = f"dask://127.0.0.1:{bound.getsockname()[1]}"
        with pytest.raises(JobsError, match=f"{address}: cannot connect"), executor(address):
            pass


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(JobsError, match=r"pip install 'ptx-lsp\[cluster\]'"),
        executor("dask://127.0.0.1:1"),
    ):
        pass
