"""Runs a program in the background, and ends it together with everything that it has started."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from threading import Thread

from ptx_lsp.ptxas import Outcome, PtxasError

MOST_OUTPUT = 16 << 20
"""Bytes that a program may print."""
_PIECE = 1 << 16
_NICE = 10
"""The priority: below that of the server and of the editor."""


async def run(
    command: Sequence[str], timeout_s: float, folder: str | None = None, most_output: int = MOST_OUTPUT
) -> Outcome:
    """Runs a program. If this is cancelled, or fails, the program is killed with its children.

    Raises PtxasError if the program cannot be run, takes too long or prints too much.
    """
    # The subprocesses of asyncio would not do: if one is cancelled while it starts, its children live on.
    name = command[0]
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            bufsize=0, cwd=folder, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise PtxasError(f"`{name}` cannot be run: {error.strerror}") from error
    try:
        _restrain(process.pid, timeout_s)
        async with asyncio.timeout(timeout_s):
            output = await _output(process, most_output + 1)
            if len(output) > most_output:
                raise PtxasError(f"`{name}` printed more than {most_output >> 20} MiB")
            status = await asyncio.to_thread(process.wait)
        return Outcome(status, output.decode("utf-8", "replace"))
    except TimeoutError as error:
        raise PtxasError(f"`{name}` took longer than {timeout_s:g} s") from error
    finally:
        _kill(process)
        await asyncio.to_thread(process.wait)


async def _output(process: subprocess.Popen[bytes], most: int) -> bytearray:
    """The output of a program: no more is read after so many bytes."""
    loop = asyncio.get_running_loop()
    read: asyncio.Future[bytearray] = loop.create_future()

    def finish(output: bytearray) -> None:
        if not read.cancelled():
            read.set_result(output)

    def work() -> None:
        assert process.stdout is not None
        output = bytearray()
        with process.stdout as pipe:
            while len(output) < most and (piece := pipe.read(_PIECE)):
                output += piece
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(finish, output)

    # Not a thread of a pool, which would be waited for: a process that has left the group of the program, so
    # that it is not killed, can keep the pipe open.
    Thread(target=work, name="output", daemon=True).start()
    return await read


def _restrain(pid: int, timeout_s: float) -> None:
    """Lowers the priority. On Linux the system also ends the program in time if the server itself is killed.
    """
    with suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, pid, _NICE)
    if sys.platform == "linux":
        from resource import RLIMIT_CPU, prlimit

        with suppress(OSError, ValueError):
            prlimit(pid, RLIMIT_CPU, (int(timeout_s) + 1, int(timeout_s) + 1))


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kills the program and its children, which may outlive it."""
    if sys.platform == "win32":
        process.kill()
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
