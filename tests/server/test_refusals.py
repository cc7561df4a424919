"""A request that is refused leaves nothing behind: a traceback would keep a whole text."""

from __future__ import annotations

import asyncio
import gc
import json
import logging

from ptx_lsp.server.openfile import Snapshot
from ptx_lsp.server.server import Server
from tests.server.connection import Json, at
from tests.server.test_sync import URI, WRONG

_PATIENCE = 120


def snapshots() -> int:
    return sum(isinstance(one, Snapshot) for one in gc.get_objects())


async def session() -> None:
    server = Server()
    answers: dict[Json, Json] = {}

    def take(data: bytes) -> None:
        message = json.loads(data.partition(b"\r\n\r\n")[2])
        if "method" not in message:
            answers[at(message, "id")] = message

    async def ask(identity: int, method: str, params: Json) -> Json:
        server.receive({"jsonrpc": "2.0", "id": identity, "method": method, "params": params})
        async with asyncio.timeout(_PATIENCE):
            while identity not in answers:
                await asyncio.sleep(0.01)
        return answers.pop(identity)

    def tell(method: str, params: Json) -> None:
        server.receive({"jsonrpc": "2.0", "method": method, "params": params})

    server.connect(take)
    try:
        await ask(1, "initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        tell("initialized", {})
        document: Json = {"uri": URI, "languageId": "ptx", "version": 1, "text": WRONG}
        tell("textDocument/didOpen", {"textDocument": document})
        where: Json = {"textDocument": {"uri": URI}, "position": {"line": 4, "character": 4}, "newName": "%x"}
        for identity in range(2, 6):
            refused = await ask(identity, "textDocument/rename", where)
            assert at(refused, "error", "message"), refused
        assert snapshots() > 0
        tell("textDocument/didClose", {"textDocument": {"uri": URI}})
        async with asyncio.timeout(_PATIENCE):
            while snapshots():
                await asyncio.sleep(0.01)
    finally:
        server.disconnect()


def test_a_refused_request_keeps_no_text() -> None:
    gc.collect()
    gc.disable()
    logging.disable()  # pytest keeps what is logged, with its traceback
    try:
        asyncio.run(session())
    finally:
        logging.disable(logging.NOTSET)
        gc.enable()
