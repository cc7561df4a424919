"""A client that speaks JSON with a real server process: no library that could be wrong in the same way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from types import TracebackType
from typing import TypeAlias

from tests.server.forking import CAN_FORK, ForkedProcess

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
Message: TypeAlias = dict[str, Json]

COMMAND = (sys.executable, "-m", "ptx_lsp.server.command")
_CODE = "from ptx_lsp.server import command; raise SystemExit(command.main())"
_HASTY_CODE = (
    "from ptx_lsp.server import command, diagnostics_scheduler as scheduler; scheduler._LONG = -1.0;"
    "raise SystemExit(command.main())"
)
CAPABILITIES = Path(__file__).with_name("capabilities")


class ResponseError(Exception):
    """The server answered with an error."""

    def __init__(self, method: str, error: Json) -> None:
        super().__init__(f"{method}: {error}")
        self.code = at(error, "code")


class Connection:
    """A server process and what it has sent. Every wait ends: after `patience` seconds with TimeoutError.

    ptxas is off unless `options` say otherwise: what the tests expect must not depend on the machine.
    """

    def __init__(
        self,
        capabilities: Json = None,
        *,
        options: Json = None,
        folders: Sequence[Path] = (),
        settings: Json = None,
        patience: float = 120,
        is_hasty: bool = False,
        is_forked: bool = CAN_FORK,
    ) -> None:
        """`is_hasty`: of every file, the server publishes what it knows first, as others do of a file that
        takes long. `is_forked`: the server is no process that was started by itself.
        """
        self.patience = patience
        self.settings = settings
        self.asked: list[Message] = []
        """What the server has requested."""
        self.notified: list[Message] = []
        self._answers: dict[int, Message] = {}
        self._methods: dict[int, str] = {}
        self._incoming: Queue[tuple[float, bytes] | None] = Queue()
        self.arrived = 0.0
        """When the message that was looked at last came, by `time.perf_counter`."""
        code = _HASTY_CODE if is_hasty else _CODE
        self.process = ForkedProcess(code) if is_forked else subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        Thread(target=self._read, daemon=True).start()
        listed: Json = [{"uri": one.as_uri(), "name": one.name} for one in folders]
        self.server: Json = self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": None,
                "workspaceFolders": listed or None,
                "capabilities": capabilities if capabilities is not None else {},
                "initializationOptions": {"ptxas": "off", **(options if isinstance(options, dict) else {})},
            },
        )
        self.notify("initialized", {})

    @classmethod
    def of_editor(cls, name: str, **more: Json) -> Connection:
        """With what a real editor can do."""
        sent = json.loads((CAPABILITIES / f"{name}.json").read_text(encoding="utf-8"))
        return cls(sent["capabilities"], options=more.get("options"), settings=more.get("settings"))

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: object, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.process.kill()
            self.process.wait()
            return
        assert self.stop() == 0

    def stop(self) -> int:
        """Shuts the server down; returns its exit status."""
        self.request("shutdown", None)
        self.notify("exit", None)
        return self.process.wait(self.patience)

    # -- messages -------------------------------------------------------------------------------

    def request(self, method: str, params: Json) -> Json:
        """Sends a request and waits for its answer. Raises ResponseError."""
        return self.answer(self.send(method, params))

    def send(self, method: str, params: Json) -> int:
        """Sends a request; `answer` waits for it."""
        identity = len(self._methods) + 1
        self._methods[identity] = method
        self._write({"jsonrpc": "2.0", "id": identity, "method": method, "params": params})
        return identity

    def answer(self, identity: int) -> Json:
        """Waits for the answer to a request. Raises ResponseError."""
        self.wait_until(lambda: identity in self._answers)
        found = self._answers.pop(identity)
        if "error" in found:
            raise ResponseError(self._methods[identity], found["error"])
        return found.get("result")

    def notify(self, method: str, params: Json) -> None:
        self._write({"jsonrpc": "2.0", "method": method, "params": params})

    def wait_until(self, holds: Callable[[], bool]) -> None:
        """Takes messages until something holds. That need not come with a message: it may be a file."""
        end = time.monotonic() + self.patience
        while not holds():
            try:
                message = self._incoming.get(timeout=0.1)
            except Empty:
                if time.monotonic() > end:
                    raise TimeoutError("the server does not answer") from None
                continue
            if message is None:
                raise EOFError(f"the server is gone: {self.process.wait(10)}")
            self._take(*message)

    def take_all(self) -> None:
        """Takes the messages that are there already."""
        while True:
            try:
                message = self._incoming.get_nowait()
            except Empty:
                return
            if message is not None:
                self._take(*message)

    def _take(self, arrived: float, body: bytes) -> None:
        self.arrived = arrived
        message: Message = json.loads(body)
        match message:
            case {"id": identity, "method": str() as method}:
                self.asked.append(message)
                self._write({"jsonrpc": "2.0", "id": identity, "result": self._agree(method, message)})
            case {"id": int() as identity}:
                self._answers[identity] = message
            case _:
                self.notified.append(message)

    def _agree(self, method: str, message: Message) -> Json:
        if method == "workspace/configuration":
            items = at(message, "params", "items")
            return [self.settings for _ in items] if isinstance(items, list) else None
        return {"applied": True} if method == "workspace/applyEdit" else None

    def _write(self, message: Message) -> None:
        body = json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while header := stream.readline():
            length = 0
            while header.strip():
                name, _, value = header.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
                header = stream.readline()
            body = stream.read(length)
            self._incoming.put((time.perf_counter(), body))
        self._incoming.put(None)

    # -- files ----------------------------------------------------------------------------------

    def open(self, uri: str, text: str, version: int = 1, language: str = "ptx") -> None:
        item: Json = {"uri": uri, "languageId": language, "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def change(self, uri: str, version: int, changes: list[Json]) -> None:
        self.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": version}, "contentChanges": changes},
        )

    def close(self, uri: str) -> None:
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def published(self, uri: str, version: int | None) -> list[Json] | None:
        """What was published last about a version of a file; None where nothing was."""
        for message in reversed(self.notified):
            params = message.get("params")
            if (
                message.get("method") == "textDocument/publishDiagnostics"
                and at(params, "uri") == uri
                and at(params, "version") == version
            ):
                found = at(params, "diagnostics")
                return found if isinstance(found, list) else None
        return None

    def first_findings(self, uri: str, version: int) -> list[Json]:
        """Waits for what is published first about a version of a file: it may be less than all."""
        self.wait_until(lambda: self.published(uri, version) is not None)
        return self.published(uri, version) or []

    def findings(self, uri: str, version: int) -> list[Json]:
        """Waits for what is published last about a version of a file, which has to be its newest.

        There may be several publications. A request for the findings is answered after the last one, as a
        client that is not told to ask again gets no answer before every rule has run.
        """
        self.first_findings(uri, version)
        self.request("textDocument/diagnostic", of_file(uri))
        return self.published(uri, version) or []


def at(value: Json, *path: str | int) -> Json:
    """What lies deep in a JSON value; None where there is nothing."""
    for step in path:
        if isinstance(value, Mapping) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def position(text: str, what: str, skip: int = 0) -> Json:
    """Where `what` begins, `skip` characters on, in a text without characters outside ASCII."""
    offset = text.index(what) + skip
    line = text.count("\n", 0, offset)
    return {"line": line, "character": offset - (text.rfind("\n", 0, offset) + 1)}


def of_file(uri: str, **more: Json) -> Json:
    return {"textDocument": {"uri": uri}, **more}
