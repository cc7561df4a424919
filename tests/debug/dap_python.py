"""The client of dap-python, connected with `ptx-dap`. Each message is held to its schema, and to that of
dap-types.
"""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from copy import deepcopy
from importlib import import_module
from typing import Protocol, cast

from pydantic import BaseModel

from ptx_lsp.debug.adapter.messages import Json, Object
from tests.debug.client import SECONDS, validate

COMMAND = [sys.executable, "-m", "ptx_lsp.debug.command"]
_MISREAD = frozenset(("exceptionInfo", "setExceptionBreakpoints", "setFunctionBreakpoints"))
"""Requests of which dap-python expects other answers than the protocol has, as of all without a body."""


class _Response(Protocol):
    command: str
    success: bool
    request_seq: int
    body: Json


class _Event(Protocol):
    body: Object


class _Client(Protocol):
    handler: object

    def send(self) -> bytes: ...
    def receive(self, data: bytes) -> Iterator[object]: ...
    def send_request(self, command: str, arguments: Object | None = None) -> int: ...


class Peer:
    """Sends requests and waits for their answers."""

    def __init__(self, read: Callable[[int], bytes], write: Callable[[bytes], object]) -> None:
        self._read, self._write = read, write
        self._client = cast(_Client, import_module("dap").Client("ptx", lines_start_at1=True))
        self._client.handler = self._handler()
        self._found: list[Object] = []
        self.succeeded: set[str] = set()
        """The requests that were answered with success."""
        self.capabilities = self._body(1)

    def ask(self, method: str, **arguments: Json) -> Object:
        """The body of the answer to a request that succeeds, by the name that the client gives it."""
        return self._body(getattr(self._client, method)(**arguments))

    def custom(self, command: str, arguments: Object | None = None) -> Object:
        """The answer to a request by its name in the protocol."""
        return self._answer(self._client.send_request(command, arguments))

    def event(self, name: str) -> Object:
        """The body of the next event with a name."""
        return _object(self._next(lambda one: one.get("event") == name).get("body"))

    def _body(self, number: int) -> Object:
        answer = self._answer(number)
        assert answer["success"], answer
        self.succeeded.add(str(answer["command"]))
        return _object(answer.get("body"))

    def _answer(self, number: int) -> Object:
        return self._next(lambda one: one.get("request_seq") == number)

    def _next(self, wanted: Callable[[Object], bool]) -> Object:
        if request := self._client.send():
            self._write(request)
        while True:
            for one in self._found:
                if wanted(one):
                    self._found.remove(one)
                    return one
            data = self._read(1 << 16)
            assert data, "the adapter has ended, or does not answer"
            for read in self._client.receive(data):
                assert isinstance(read, BaseModel)

    def _handler(self) -> object:
        """That of the client, which also keeps each message, and accepts answers without a body."""
        inherited = import_module("dap.handler").Handler
        client = self._client
        handle: Callable[[object, _Response], object] = inherited.handle_response
        handle_event: Callable[[object, _Event], object] = inherited.handle_event
        parse: Callable[[object, Object], object] = inherited._parse_message

        def kept(handler: object, message: Object) -> object:
            validate(message)
            self._found.append(deepcopy(message))
            return parse(handler, message)

        def happened(handler: object, event: _Event) -> object:
            event.body.pop("hitBreakpointIds", None)  # it expects texts
            return handle_event(handler, event)

        def answered(handler: object, response: _Response) -> object:
            is_empty = response.success and response.body is None
            return response if is_empty or response.command in _MISREAD else handle(handler, response)

        own = {"_parse_message": kept, "handle_event": happened, "handle_response": answered}
        return type("Handler", (inherited,), own)(client)


def _object(found: Json) -> Object:
    return found if isinstance(found, dict) else {}


@contextmanager
def on_stdio() -> Generator[Peer]:
    """A client of an adapter on standard input and output."""
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as adapter:
        assert adapter.stdin is not None and adapter.stdout is not None
        to_adapter, output = adapter.stdin.fileno(), adapter.stdout.fileno()

        def read(most: int) -> bytes:
            return os.read(output, most) if select.select([output], [], [], SECONDS)[0] else b""

        yield Peer(read, lambda data: os.write(to_adapter, data))
        adapter.stdin.close()
        assert adapter.wait(SECONDS) == 0


@contextmanager
def listening() -> Generator[tuple[int, int]]:
    """The process of an adapter that serves TCP clients, and its port."""
    with subprocess.Popen([*COMMAND, "--tcp"], stderr=subprocess.PIPE, text=True) as adapter:
        assert adapter.stderr is not None
        try:
            yield adapter.pid, int(adapter.stderr.readline().rpartition(":")[2])
        finally:
            adapter.terminate()


@contextmanager
def on_tcp(port: int) -> Generator[Peer]:
    """A client of an adapter on a port of this machine."""
    with socket.create_connection(("127.0.0.1", port), SECONDS) as connection:
        yield Peer(connection.recv, connection.sendall)
