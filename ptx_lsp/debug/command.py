"""The command `ptx-dap`: a debug adapter on standard input and output, or on a TCP port."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Thread

from ptx_lsp import __version__
from ptx_lsp.command_parser import CommandParser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status."""
    parser = CommandParser(
        prog="ptx-dap",
        description="Debug adapter for PTX: runs kernels without a GPU, forwards and backwards.",
    )
    parser.add_argument("--version", action="version", version=f"ptx-dap {__version__}")
    parser.add_argument("--tcp", action="store_true", help="serve TCP clients instead of standard input")
    parser.add_argument("--host", default="127.0.0.1", help="the address for --tcp (default: %(default)s)")
    parser.add_argument("--port", type=int, default=0, help="the port for --tcp (default: any free port)")
    try:
        given = parser.parse_args(parser.checked(sys.argv[1:] if argv is None else argv))
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 2
    if not given.tcp:
        _serve_stdio()
        return 0
    try:
        _serve_tcp(given.host, given.port)
    except (OSError, OverflowError, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        where = f"{given.host}:{given.port}"
        print(f"ptx-dap: error: cannot listen on {where}: {why}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 0
    return 0


def _serve_stdio() -> None:
    from ptx_lsp.debug.adapter.messages import Channel
    from ptx_lsp.debug.adapter.requests import new_session

    source, output = sys.stdin.fileno(), sys.stdout.buffer
    sys.stdout = sys.stderr  # what is printed by accident must not come between messages

    def write(data: bytes) -> None:
        with suppress(BrokenPipeError, ValueError):  # the client is gone; reading ends the session
            output.write(data)
            output.flush()

    new_session(Channel(lambda most: os.read(source, most), write)).serve()


def _serve_tcp(host: str, port: int) -> None:
    """Serves clients, each in a thread of its own."""
    from ptx_lsp.debug.adapter.messages import Channel
    from ptx_lsp.debug.adapter.requests import new_session

    def serve(connection: socket.socket) -> None:
        with connection:
            new_session(Channel(_receiver(connection), _sender(connection))).serve()

    with socket.create_server((host, port)) as listening:
        shown, number = listening.getsockname()[:2]
        print(f"ptx-dap: listening on {shown}:{number}", file=sys.stderr, flush=True)
        while True:
            connection, _ = listening.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            Thread(target=serve, args=(connection,), daemon=True).start()


def _receiver(connection: socket.socket) -> Callable[[int], bytes]:
    def read(most: int) -> bytes:
        try:
            return connection.recv(most)
        except ConnectionError:  # the client has hung up
            return b""

    return read


def _sender(connection: socket.socket) -> Callable[[bytes], None]:
    def write(data: bytes) -> None:
        with suppress(OSError):  # as above
            connection.sendall(data)

    return write


if __name__ == "__main__":
    sys.exit(main())
