"""Runs a program in the background, and ends it together with everything that it has started."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import Sequence
from contextlib import suppress

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
    name = command[0]
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, cwd=folder, start_new_session=True
        )
    except OSError as error:
        raise PtxasError(f"`{name}` cannot be run: {error.strerror}") from error
    try:
        _restrain(process.pid, timeout_s)
        async with asyncio.timeout(timeout_s):
            output = await _output(name, process, most_output)
            return Outcome(await process.wait(), output.decode("utf-8", "replace"))
    except TimeoutError as error:
        raise PtxasError(f"`{name}` took longer than {timeout_s:g} s") from error
    finally:
        _kill(process)
        await process.wait()


async def _output(name: str, process: Process, most: int) -> bytes:
    found = bytearray()
    assert process.stdout is not None
    while piece := await process.stdout.read(_PIECE):
        found += piece
        if len(found) > most:
            raise PtxasError(f"`{name}` printed more than {most >> 20} MiB")
    return bytes(found)


def _restrain(pid: int, timeout_s: float) -> None:
    """Lowers the priority. On Linux the system also ends the program in time if the server itself is killed.
    """
    with suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, pid, _NICE)
    if sys.platform == "linux":
        from resource import RLIMIT_CPU, prlimit

        with suppress(OSError, ValueError):
            prlimit(pid, RLIMIT_CPU, (int(timeout_s) + 1, int(timeout_s) + 1))


def _kill(process: Process) -> None:
    """Kills the program and its children, which may outlive it."""
    if sys.platform == "win32":
        if process.returncode is None:
            process.kill()
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
