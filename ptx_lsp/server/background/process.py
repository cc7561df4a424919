"""Runs a program in the background, and ends it together with everything that it has started."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import Sequence
from contextlib import suppress

from ptx_lsp.ptxas import Outcome, PtxasError

MOST_OUTPUT = 16 << 20
"""Bytes that a program may print."""
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
        transport, program = await asyncio.get_running_loop().subprocess_exec(
            lambda: _Program(most_output), *command,
            stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, cwd=folder, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise PtxasError(f"`{name}` cannot be run: {error.strerror}") from error
    try:
        _restrain(transport.get_pid(), timeout_s)
        async with asyncio.timeout(timeout_s):
            await program.finished.wait()
        if len(program.output) > most_output:
            raise PtxasError(f"`{name}` printed more than {most_output >> 20} MiB")
        status = transport.get_returncode()
        assert status is not None
        return Outcome(status, program.output.decode("utf-8", "replace"))
    except TimeoutError as error:
        raise PtxasError(f"`{name}` took longer than {timeout_s:g} s") from error
    finally:
        _kill(transport)
        await program.exited.wait()
        transport.close()


class _Program(asyncio.SubprocessProtocol):
    """A program that runs. An `asyncio.subprocess.Process` would not do: its `wait` also waits for the end of
    the output, and never returns if nobody reads on after the program was killed.
    """

    def __init__(self, most_output: int) -> None:
        self._most_output = most_output
        self.output = bytearray()
        self.exited = asyncio.Event()
        self.finished = asyncio.Event()
        """It has exited and its output has ended, or it has printed too much."""

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if len(self.output) <= self._most_output:
            self.output += data
        if len(self.output) > self._most_output:
            self.finished.set()

    def process_exited(self) -> None:
        self.exited.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.finished.set()


def _restrain(pid: int, timeout_s: float) -> None:
    """Lowers the priority. On Linux the system also ends the program in time if the server itself is killed.
    """
    with suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, pid, _NICE)
    if sys.platform == "linux":
        from resource import RLIMIT_CPU, prlimit

        with suppress(OSError, ValueError):
            prlimit(pid, RLIMIT_CPU, (int(timeout_s) + 1, int(timeout_s) + 1))


def _kill(transport: asyncio.SubprocessTransport) -> None:
    """Kills the program and its children, which may outlive it."""
    if sys.platform == "win32":
        if transport.get_returncode() is None:
            transport.kill()
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(transport.get_pid(), signal.SIGKILL)
