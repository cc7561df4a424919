"""The transport of messages: standard input and output, or a TCP connection.

One thread only reads, so that no message waits for a long answer or analysis. A client that writes before it
reads cannot block the server forever.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from functools import partial
from threading import Thread
from typing import Protocol

_log = logging.getLogger(__name__)
_PIECE = 1 << 16
_ENDING = (signal.SIGTERM,) if sys.platform == "win32" else (signal.SIGTERM, signal.SIGHUP)
"""The signals that end the server."""


class InvalidJson:
    """A message that is not JSON."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


class Receiver(Protocol):
    """The receiver of messages, on the event loop."""

    exit_code: int | None
    """Set once the client has asked the server to exit."""

    def connect(self, write: Callable[[bytes], None]) -> None: ...
    def receive(self, message: object) -> None: ...
    def disconnect(self) -> None: ...


def serve_stdio(receiver: Receiver) -> int:
    """Serves the process at the other end of standard input and output. Returns the exit status."""
    read = partial(os.read, sys.stdin.fileno(), _PIECE)
    output = sys.stdout.buffer
    sys.stdout = sys.stderr  # accidental prints must not corrupt the protocol

    def write(data: bytes) -> None:
        output.write(data)
        output.flush()

    return _run(receiver, read, write)


def serve_tcp(make_receiver: Callable[[], Receiver], host: str, port: int) -> int:
    """Serves one client after another at a port. Raises OSError if it cannot listen there."""
    with socket.create_server((host, port)) as listening:
        shown, number = listening.getsockname()[:2]
        print(f"ptx-lsp: listening on {shown}:{number}", file=sys.stderr, flush=True)
        while True:
            connection, _ = listening.accept()
            with connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                read = partial(connection.recv, _PIECE)
                _run(make_receiver(), read, connection.sendall)


def _run(receiver: Receiver, read: Callable[[], bytes], write: Callable[[bytes], object]) -> int:
    """Serves one client. If a signal ends this process, the programs that it runs are killed before."""
    ended_by: list[int] = []
    stops: list[Callable[[], None]] = []

    def end(number: int, _: object) -> None:
        ended_by.append(number)
        for stop in stops:
            stop()

    earlier = {number: signal.signal(number, end) for number in _ENDING}
    try:
        status = asyncio.run(_serve(receiver, read, write, stops))
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
    if ended_by:
        os.kill(os.getpid(), ended_by[0])
    return status


async def _serve(
    receiver: Receiver,
    read: Callable[[], bytes],
    write: Callable[[bytes], object],
    stops: list[Callable[[], None]],
) -> int:
    """Serves until the client sends `exit` or disconnects. Disconnecting without `exit` is an error: 1. A
    function that ends this early is added to `stops`.
    """
    loop = asyncio.get_running_loop()
    done = asyncio.Event()

    def stop() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(done.set)

    stops.append(stop)

    def send(data: bytes) -> None:
        try:
            write(data)
        except (OSError, ValueError):
            _log.warning("the client has disconnected")
            done.set()

    def receive(message: object) -> None:
        receiver.receive(message)
        if receiver.exit_code is not None:
            done.set()

    def read_all() -> None:
        try:
            for message in messages(read):
                loop.call_soon_threadsafe(receive, message)
            loop.call_soon_threadsafe(done.set)
        except RuntimeError:
            pass  # the loop is closed already

    receiver.connect(send)
    Thread(target=read_all, name="reader", daemon=True).start()
    await done.wait()
    receiver.disconnect()
    return 1 if receiver.exit_code is None else receiver.exit_code


def messages(read: Callable[[], bytes]) -> Iterator[object]:
    """The JSON values in the pieces from `read`, until it is exhausted; `InvalidJson` for what is none."""
    buffer = bytearray()

    def wait_for(size: int) -> bool:
        while len(buffer) < size:
            try:
                piece = read()
            except OSError:
                return False
            if not piece:
                return False
            buffer.extend(piece)
        return True

    while True:
        while (end := buffer.find(b"\r\n\r\n")) < 0:
            if not wait_for(len(buffer) + 1):
                return
        length = _content_length(bytes(buffer[:end]))
        del buffer[: end + 4]
        if not wait_for(length):
            return
        body = bytes(buffer[:length])
        del buffer[:length]
        if not length:
            continue
        try:
            yield json.loads(body)
        except (ValueError, RecursionError) as error:
            _log.error("message is not JSON: %s", error)
            yield InvalidJson(str(error))


def _content_length(header: bytes) -> int:
    """The length in bytes; 0 if the header lacks it."""
    for line in header.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            return int(value)
    _log.error("message without Content-Length")
    return 0
