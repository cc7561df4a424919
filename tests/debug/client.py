"""A client of the debug adapter: each message that it receives is held to the schema of the protocol."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import cast

from pydantic import BaseModel

from ptx_lsp.debug.adapter.messages import Channel, Json, Object
from ptx_lsp.debug.adapter.requests import new_session

SECONDS = 120
"""Enough on a busy machine."""


class Client:
    """Sends requests and waits for what comes of them."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._answers: Queue[Object] = Queue()
        self._events: Queue[Object] = Queue()
        self.output = ""
        self.passed: list[Object] = []
        """The events that were read until now."""
        self.invalid: list[str] = []
        """What is wrong with messages that the schema does not allow."""
        self.reader = Thread(target=self._read, daemon=True)
        self.reader.start()

    def ask(self, command: str, **arguments: Json) -> Object:
        """The answer to a request."""
        self._channel.send({"type": "request", "command": command, "arguments": arguments})
        return self._answers.get(timeout=SECONDS)

    def burst(self, requests: list[tuple[str, dict[str, Json]]]) -> list[Object]:
        """The answers to requests that are sent at once."""
        for command, arguments in requests:
            self._channel.send({"type": "request", "command": command, "arguments": arguments})
        try:
            return [self._answers.get(timeout=SECONDS) for _ in requests]
        except Empty:
            raise AssertionError(f"not all of these were answered: {requests}") from None

    def drain(self) -> str:
        """What was printed since the last time; events until now are passed over."""
        self.output = ""
        with suppress(Empty):
            while True:
                found = self._events.get_nowait()
                if found["event"] == "output":
                    self.output += str(cast(Object, found["body"])["output"])
        return self.output

    def body(self, command: str, **arguments: Json) -> Object:
        """The body of an answer, which must be a success."""
        found = self.ask(command, **arguments)
        assert found["success"], found
        return cast(Object, found.get("body", {}))

    def refused(self, command: str, **arguments: Json) -> str:
        """The message of an answer, which must be a failure."""
        found = self.ask(command, **arguments)
        assert not found["success"], found
        return str(found["message"])

    def event(self, *names: str) -> Object:
        """The next event with one of these names: its body, and its name."""
        while True:
            found = self._events.get(timeout=SECONDS)
            body = cast(Object, found.get("body") or {})
            if found["event"] == "output":
                self.output += str(body["output"])
            self.passed.append({"event": found["event"], "body": body})
            if found["event"] in names:
                return {**body, "event": found["event"]}

    # -- in words ----------------------------------------------------------------------------------

    def start(self, path: Path, lines: list[int] | None = None, **arguments: Json) -> Object:
        """Launches a kernel with breakpoints at lines; the first stop."""
        self.body("initialize", adapterID="ptx")
        self.body("launch", program=str(path), **arguments)
        self.event("initialized")
        if lines:
            given: list[Object] = [{"line": line} for line in lines]
            self.breakpoints(path, *given)
        self.body("configurationDone")
        return self.event("stopped", "terminated")

    def breakpoints(self, path: Path, *given: Object) -> list[Object]:
        """Sets breakpoints; what is said about each."""
        found = self.body("setBreakpoints", source={"path": str(path)}, breakpoints=list(given))
        return objects(found["breakpoints"])

    def go(self, command: str, thread: Json = 1, **arguments: Json) -> Object:
        """Lets the kernel go on, until it stops."""
        self.body(command, threadId=thread, **arguments)
        return self.event("stopped", "terminated")

    def frame(self, thread: Json) -> Object:
        """The innermost frame of a thread."""
        return objects(self.body("stackTrace", threadId=thread)["stackFrames"])[0]

    def line(self, stop: Object) -> Json:
        """The line where a stop is."""
        return self.frame(stop["threadId"])["line"]

    def value(self, expression: str, stop: Object) -> Json:
        """The value of an expression where a stop is."""
        frame = self.frame(stop["threadId"])["id"]
        return self.body("evaluate", expression=expression, frameId=frame)["result"]

    def scope(self, name: str, stop: Object) -> dict[str, Json]:
        """The values of a scope by their names."""
        frame = self.frame(stop["threadId"])["id"]
        (number,) = [
            one["variablesReference"] for one in objects(self.body("scopes", frameId=frame)["scopes"])
            if one["name"] == name
        ]
        found = objects(self.body("variables", variablesReference=number)["variables"])
        return {str(one["name"]): one["value"] for one in found}

    def _read(self) -> None:
        while (message := self._channel.receive()) is not None:
            is_event = message["type"] == "event"
            try:
                validate(message)
            except ValueError as error:
                message = {**message, "success": False, "message": f"invalid: {error}"}
                self.invalid.append(str(message))
            (self._events if is_event else self._answers).put(message)


def objects(found: Json) -> list[Object]:
    """A list of objects."""
    assert isinstance(found, list)
    return [one for one in found if isinstance(one, dict)]


def validate(message: Object) -> None:
    """Raises ValueError for a message that the schema does not allow."""
    name = str(message.get("command") or message.get("event"))
    if name.startswith("ptx/"):
        return
    kind = "Event" if message["type"] == "event" else "Response"
    if kind == "Response" and not message["success"]:
        name = "error"
    model = cast("type[BaseModel]", getattr(import_module("dap_types"), name[0].upper() + name[1:] + kind))
    model.model_validate(message)


@contextmanager
def connected() -> Generator[Client]:
    """A client with a session of its own."""
    to_adapter, to_client = os.pipe(), os.pipe()
    adapter = Channel(lambda most: os.read(to_adapter[0], most), lambda data: os.write(to_client[1], data))
    thread = Thread(target=new_session(adapter).serve, daemon=True)
    thread.start()
    client = Client(
        Channel(lambda most: os.read(to_client[0], most), lambda data: os.write(to_adapter[1], data))
    )
    try:
        yield client
    finally:
        os.close(to_adapter[1])
        thread.join(SECONDS)
        os.close(to_client[1])
        client.reader.join(SECONDS)
        os.close(to_adapter[0])
        os.close(to_client[0])
    assert not thread.is_alive(), "the session did not end"
