"""`ptx-lsp --check FILE`: a session without an editor that tests the server on a file."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

from ptx_lsp.lint.results.report import Point
from ptx_lsp.server.json import Json, at
from ptx_lsp.server.server import Server
from ptx_lsp.text import Position, Source

_PLACES = 50
"""The number of evenly spread positions at which requests are made."""
_AT_A_PLACE = (
    "hover", "completion", "signatureHelp", "definition", "declaration", "typeDefinition", "references",
    "documentHighlight", "prepareRename", "linkedEditingRange", "prepareCallHierarchy",
)  # fmt: skip
_OF_A_FILE = (
    "documentSymbol", "foldingRange", "documentLink", "semanticTokens/full", "codeLens", "formatting",
)  # fmt: skip


def check(path: str) -> int:
    """Prints the findings and the duration of each request. Returns the exit status: 1 if one fails."""
    try:
        text = Path(path).read_bytes().decode("utf-8", "replace")
    except OSError as error:
        print(f"ptx-lsp: error: {path}: {error.strerror}")
        return 2
    return asyncio.run(_Session(Path(path).absolute().as_uri(), text).run())


class _Session:
    def __init__(self, uri: str, text: str) -> None:
        self.server = Server()
        self.uri = uri
        self.text = text
        self.answers: dict[int, dict[str, Json]] = {}
        self.findings: list[Json] | None = None
        self.news = asyncio.Event()
        self.failures = 0
        self.count = 0

    async def run(self) -> int:
        self.server.connect(self._take)
        capabilities: Json = {"general": {"positionEncodings": ["utf-8"]}}
        options: Json = {"ptxas": "off"}
        params: Json = {
            "processId": None, "rootUri": None, "capabilities": capabilities,
            "initializationOptions": options,
        }
        await self.request("initialize", params)
        self._notify("initialized", {})
        start = time.perf_counter()
        item: Json = {"uri": self.uri, "languageId": "ptx", "version": 1, "text": self.text}
        self._notify("textDocument/didOpen", {"textDocument": item})
        while self.findings is None:
            await self._wait()
        await self.request("textDocument/diagnostic", {"textDocument": {"uri": self.uri}})
        print(f"{len(self.findings)} findings after {_in_ms(time.perf_counter() - start)}")
        for one in self.findings:
            where, code = at(at(one, "range"), "start"), at(one, "code")
            point = Point(_int(at(where, "line")) + 1, _int(at(where, "character")) + 1)
            print(f"  {point.line}:{point.column}: [{code}] {at(one, 'message')}")
        for method in _OF_A_FILE:
            await self._measure(method, [{}])
        places = [*self._places()]
        for method in _AT_A_PLACE:
            await self._measure(method, [{"position": place} for place in places])
        await self.request("shutdown", None)
        self.server.disconnect()
        print(f"{self.failures} requests failed" if self.failures else "every request was answered")
        return 1 if self.failures else 0

    async def _measure(self, method: str, asked: list[dict[str, Json]]) -> None:
        if f"textDocument/{method}" not in self.server.methods:
            return
        taken: list[float] = []
        for params in asked:
            start = time.perf_counter()
            asked_for: Json = {"textDocument": {"uri": self.uri}, **_MORE, **params}
            await self.request(f"textDocument/{method}", asked_for)
            taken.append(time.perf_counter() - start)
        taken.sort()
        most = f", at most {_in_ms(taken[-1])}" if len(taken) > 1 else ""
        print(f"{method:24} {_in_ms(taken[len(taken) // 2])}{most}")

    def _places(self) -> list[Json]:
        source = Source.of(self.text)
        step = max(1, len(source.data) // _PLACES)
        offsets = range(step // 2, len(source.data), step)
        return [_place(source.position(offset, "utf-8")) for offset in offsets]

    async def request(self, method: str, params: Json) -> None:
        self.count += 1
        identity = self.count
        self.server.receive({"jsonrpc": "2.0", "id": identity, "method": method, "params": params})
        while identity not in self.answers:
            await self._wait()
        answer = self.answers.pop(identity)
        if "error" in answer:
            self.failures += 1
            print(f"{method} with {json.dumps(params)[:200]} failed: {at(answer['error'], 'message')}")

    def _notify(self, method: str, params: Json) -> None:
        self.server.receive({"jsonrpc": "2.0", "method": method, "params": params})

    async def _wait(self) -> None:
        await self.news.wait()
        self.news.clear()

    def _take(self, data: bytes) -> None:
        """Receives the server's output."""
        message = json.loads(data.partition(b"\r\n\r\n")[2])
        if message.get("method") == "textDocument/publishDiagnostics":
            self.findings = message["params"]["diagnostics"]
        elif "id" in message and "method" not in message:
            self.answers[message["id"]] = message
        self.news.set()


_MORE: dict[str, Json] = {
    "context": {"includeDeclaration": True, "triggerKind": 1, "isRetrigger": False},
    "options": {"tabSize": 4, "insertSpaces": True},
}


def _place(position: Position) -> Json:
    return {"line": position.line, "character": position.column}


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0


def _in_ms(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms"
