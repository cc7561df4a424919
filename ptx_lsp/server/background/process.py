"""Runs a program in the background, and ends it together with everything that it has started."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import IO, TypeVar

from ptx_lsp.process_group import kill_group
from ptx_lsp.ptxas import Outcome, PtxasError

MOST_OUTPUT = 16 << 20
"""Bytes that a program may print."""
_T = TypeVar("_T")
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
    assert process.stdout is not None
    try:
        _restrain(process.pid, timeout_s)
        async with asyncio.timeout(timeout_s):
            output = await _in_thread(partial(_read, process.stdout, most_output + 1))
            if len(output) > most_output:
                raise PtxasError(f"`{name}` printed more than {most_output >> 20} MiB")
            status = await _in_thread(process.wait)
        return Outcome(status, output.decode("utf-8", "replace"))
    except TimeoutError as error:
        raise PtxasError(f"`{name}` took longer than {timeout_s:g} s") from error
    finally:
        kill_group(process)
        await _in_thread(process.wait)


async def _in_thread(work: Callable[[], _T]) -> _T:
    """Does work in a thread of its own. The server would wait at its end for a thread of a pool, and this
    work may never end: a process that has left the group of the program can keep its output open.
    """
    result: Future[_T] = Future()
    result.set_running_or_notify_cancel()

    def begin() -> None:
        try:
            result.set_result(work())
        except Exception as error:
            result.set_exception(error)

    Thread(target=begin, name="program", daemon=True).start()
    return await asyncio.wrap_future(result)


def _read(pipe: IO[bytes], most: int) -> bytearray:
    """What is printed: no more is read after so many bytes."""
    output = bytearray()
    with pipe:
        while len(output) < most and (piece := pipe.read(_PIECE)):
            output += piece
    return output


def _restrain(pid: int, timeout_s: float) -> None:
    """Lowers the priority. On Linux the system also ends the program in time if the server itself is killed.
    """
    with suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, pid, _NICE)
    if sys.platform == "linux":
        from resource import RLIMIT_CPU, prlimit

        with suppress(OSError, ValueError):
            prlimit(pid, RLIMIT_CPU, (int(timeout_s) + 1, int(timeout_s) + 1))
