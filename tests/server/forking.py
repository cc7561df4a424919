"""Starts servers as forks of a process that has loaded the server: that takes a tenth of the time of a start.

    python -m tests.server.forking SOCKET

serves a socket: each message is the folder, the environment and the code of a server, with its standard
streams and a pipe for its process identifier and its exit status. Nothing runs in the process that is forked,
which has one thread and no event loop. A server does all that one does that was started by itself; only its
modules are imported and its converters are generated before.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from select import select
from typing import IO, NoReturn, TypedDict

CAN_FORK = hasattr(os, "fork") and hasattr(socket, "send_fds")
_ROOT = Path(__file__).parents[2]
_SIZE = 4
"""The bytes of the length of a message."""


class _Given(TypedDict):
    folder: str
    environment: dict[str, str]
    code: str


class ForkedProcess:
    """A server, with what tests use of `subprocess.Popen`."""

    def __init__(self, code: str) -> None:
        """`code` is run by a process that has loaded the server."""
        theirs_in, ours_in = os.pipe()
        ours_out, theirs_out = os.pipe()
        status, theirs_status = os.pipe()
        self.stdin: IO[bytes] = os.fdopen(ours_in, "wb")
        self.stdout: IO[bytes] = os.fdopen(ours_out, "rb")
        self._status = os.fdopen(status, "rb")
        given = [theirs_in, theirs_out, 2, theirs_status]
        start: _Given = {"folder": str(Path.cwd()), "environment": dict(os.environ), "code": code}
        body = json.dumps(start).encode()
        parent = _parent()
        socket.send_fds(parent, [len(body).to_bytes(_SIZE, "big")], given)
        parent.sendall(body)
        for one in (theirs_in, theirs_out, theirs_status):
            os.close(one)
        self.pid = int(self._status.readline())
        self._code: int | None = None
        _unended.add(self)

    def wait(self, timeout: float | None = None) -> int:
        """The exit status, as `subprocess` has it. Raises TimeoutExpired."""
        if self._code is None:
            if not select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("ptx-lsp", timeout or 0)
            self._code = int(self._status.readline())
            _unended.discard(self)
            for stream in (self._status, self.stdin):
                with suppress(OSError):  # what was not written yet cannot be
                    stream.close()
        return self._code

    def terminate(self) -> None:
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        if self._code is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)


_unended: set[ForkedProcess] = set()
"""The servers that nobody has waited for; a test that fails may leave one."""


@cache
def _parent() -> socket.socket:
    """The connection to the process that is forked, which ends when the connection does."""
    ours, theirs = socket.socketpair()
    number = theirs.fileno()
    command = [sys.executable, "-m", __name__, str(number)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # threads are not forked
    process = subprocess.Popen(
        command, pass_fds=[number], stdin=subprocess.DEVNULL, cwd=_ROOT, env=environment
    )
    theirs.close()

    def end() -> None:
        for one in _unended:
            one.kill()
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def main(arguments: Sequence[str]) -> None:
    _load()
    with socket.socket(fileno=int(arguments[0])) as asked:
        waiting: set[int] = set()
        while True:
            begun, streams, _, _ = socket.recv_fds(asked, _SIZE, 4)
            if not begun:
                break
            start: _Given = json.loads(_received(asked, int.from_bytes(begun, "big")))
            process = os.fork()
            if process == 0:
                asked.close()
                _start(start, streams)
            waiting.add(process)
            for one in streams:
                os.close(one)
            waiting -= {one for one in waiting if os.waitpid(one, os.WNOHANG)[0]}
    for one in waiting:
        os.waitpid(one, 0)


def _load() -> None:
    """Imports what servers import, and makes what each would make alike."""
    from pygls.protocol import default_converter

    from ptx_lsp.server import command, memory, server
    from ptx_lsp.server.feature import all_features

    assert command
    memory.preload()
    converter = default_converter()
    memory.prepare_converter(converter, all_features())
    server.default_converter = lambda: converter
    gc.collect()
    gc.freeze()


def _received(connection: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size and (part := connection.recv(size - len(parts))):
        parts += part
    return bytes(parts)


def _start(start: _Given, streams: Sequence[int]) -> NoReturn:
    """Forks the server, and waits for it: the process that forked this one has others to start."""
    *standard, status = streams
    process = os.fork()
    if process == 0:
        os.close(status)
        for number, one in enumerate(standard):
            os.dup2(one, number)
            os.close(one)
        os.chdir(start["folder"])
        os.environ.clear()
        os.environ.update(start["environment"])
        sys.argv = ["ptx-lsp"]
        exec(start["code"], {"__name__": "__main__"})
        raise SystemExit
    for one in standard:
        os.close(one)
    os.write(status, b"%d\n" % process)
    _, ended = os.waitpid(process, 0)
    os.write(status, b"%d\n" % os.waitstatus_to_exitcode(ended))
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
