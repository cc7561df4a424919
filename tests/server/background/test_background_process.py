"""Programs that run in the background end when they are to, whatever they print."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from ptx_lsp.ptxas import PtxasError
from ptx_lsp.server.background.process import run
from tests.processes import eventually, is_running, number_in

_ENDLESS = [sys.executable, "-c", "import sys\nwhile True: sys.stdout.write('x' * (1 << 20))"]


@pytest.mark.parametrize("busy", [0.0, 0.002, 0.02])
def test_one_that_prints_without_end_is_cancelled(busy: float) -> None:
    """Also while the server is busy."""
    endless = "import sys, time\nwhile True: sys.stdout.write('x' * (1 << 16)); time.sleep(0.001)"

    async def cancelled() -> bool:
        running = asyncio.ensure_future(run([sys.executable, "-c", endless], 100, most_output=1 << 40))
        for _ in range(20):
            await asyncio.sleep(0.01)
            time.sleep(busy)
        running.cancel()
        ended, _ = await asyncio.wait([running], timeout=100)
        return bool(ended) and running.cancelled()

    assert asyncio.run(cancelled())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows knows no process groups")
@pytest.mark.parametrize("by", ["cancelling", "the end of the loop"])
def test_one_that_is_cancelled_while_it_starts_ends_with_its_children(tmp_path: Path, by: str) -> None:
    """If the server is busy, the program can have children before the server has seen that it has started."""
    listed = tmp_path / "child"
    code = (
        "import subprocess, time; child = subprocess.Popen(['sleep', '1000']); "
        f"print(child.pid, end=' ', file=open({str(listed)!r}, 'w')); time.sleep(1000)"
    )

    async def cancelled() -> int:
        running = asyncio.ensure_future(run([sys.executable, "-c", code], 100))
        await asyncio.sleep(0)
        child = number_in(listed)
        if by == "cancelling":
            running.cancel()
            await asyncio.wait([running])
        return child

    child = asyncio.run(cancelled())
    assert eventually(lambda: not is_running(child))


def test_one_that_prints_too_much_ends() -> None:
    async def ended() -> None:
        for _ in range(10):
            with pytest.raises(PtxasError, match="printed more than 1 MiB"):
                await asyncio.wait_for(run(_ENDLESS, 100, most_output=1 << 20), 100)

    asyncio.run(ended())


def test_the_output_of_one_that_ends() -> None:
    words = [sys.executable, "-c", "import sys; print('x' * 300_000); sys.stderr.write('end'); sys.exit(3)"]
    found = asyncio.run(run(words, 100))
    assert found.status == 3
    assert sorted(found.output.split()) == ["end", "x" * 300_000]


@pytest.mark.skipif(sys.platform == "win32", reason="commands for a POSIX shell")
def test_one_that_cannot_be_killed_does_not_keep_the_server_from_ending(tmp_path: Path) -> None:
    """Here it has left the group of the program that has started it, and kept its output."""
    listed = tmp_path / "child"
    code = (
        "import os, time; os.setsid(); "
        f"print(os.getpid(), file=open({str(listed)!r}, 'w')); time.sleep(300)"
    )

    async def cancelled() -> int:
        command = ["sh", "-c", f'"$0" -c "{code}" & wait', sys.executable]
        running = asyncio.ensure_future(run(command, 100))
        await asyncio.sleep(0)
        child = number_in(listed)
        running.cancel()
        await asyncio.wait([running])
        return child

    child = asyncio.run(cancelled())
    assert is_running(child)
    os.kill(child, signal.SIGKILL)


def test_one_that_takes_too_long() -> None:
    words = [sys.executable, "-c", "import time; time.sleep(1000)"]
    with pytest.raises(PtxasError, match=r"took longer than 0\.1 s"):
        asyncio.run(run(words, 0.1))
