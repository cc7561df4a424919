"""A client that asks at random: nothing may fail but requests, and each message is held to the schema.

    python -m tests.debug.random_client --requests 100000

Several clients ask one adapter on a TCP port. They send requests one by one and many at once, in each state
of a session: before the launch, while the kernel runs, when it has ended. They use numbers of earlier stops,
edit the file and restart, terminate, disconnect, and send bytes that are no messages. After each 10 000
requests the memory of the adapter is printed.
"""

from __future__ import annotations

import argparse
import random
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path

from ptx_lsp.debug.adapter.messages import Channel, Json, Object
from tests.debug import kernels
from tests.debug.client import SECONDS, Client, objects

TEXTS = (
    kernels.DIVERGENT, kernels.SHARED, kernels.RACE, kernels.CALLS, kernels.LOOP.replace("100;", "6;"),
    kernels.LOOP.replace("100;", "0x7fffffff;"),
)
_DAMAGED = (kernels.DIVERGENT.replace("%r0, 12;", "%r0 12;"), "", kernels.LOOP[:300], "\0\xff")
_WORDS: tuple[Json, ...] = (
    "%r1", "%r1 + 1", "[%rd0]:u32", "shared[0]:f32x4", "any(%p)", "out", "buffer", "1 +", "%r1@40", "", "16",
    "[[%rd0]:u32x4]", "[%rd0]:u32x4 + %r1", "[1.5]", "%r1@" + "9" * 5000, "[0]:u8x99999", "0x" + "f" * 99,
    "register:1:0:0", "shared:0:0x4:4", "global:0x700000000", "local:0:0:0x0", "race", "nan", "{1, 2}", "-1",
    0, 1, 2, 5, -1, 33, 1 << 40, 1 << 62, -(1 << 63), 1 << 64, 10**400, 1e300, None, True, 2.5, [], {},
    [0, 0, 0],
    "AAAA", "Registers", "write", {"hex": True}, [{"dataId": "param:0x0:8"}], "\ud800", "{0}", "lane 3",
)
_NAMES = (
    "threadId", "frameId", "variablesReference", "expression", "name", "value", "memoryReference", "offset",
    "count", "data", "text", "column", "instructionCount", "instructionOffset", "block", "thread", "format",
    "startFrame", "levels", "granularity", "filters", "line", "asAddress", "bytes", "source",
    "sourceReference", "breakpoints",
    "requestId", "endLine", "context", "announce", "expressions", "start", "arguments",
)
_LOOKS = (
    "threads", "stackTrace", "scopes", "variables", "evaluate", "setVariable", "readMemory", "writeMemory",
    "disassemble", "completions", "exceptionInfo", "ptx/focus", "ptx/warpWatch", "dataBreakpointInfo",
    "setExceptionBreakpoints", "breakpointLocations", "setFunctionBreakpoints", "setExpression", "source",
    "loadedSources", "setInstructionBreakpoints", "cancel", "goto", "attach", "nonsense", "",
)
_MOVES = ("continue", "next", "stepIn", "stepOut", "stepBack", "reverseContinue")
_ENDS = ("terminate", "launch", "configurationDone", "initialize", "pause")
_Request = tuple[str, dict[str, Json]]


def ask_at_random(client: Client, seed: int, most: int, folder: Path) -> int:
    """Asks at least so many times in a session, unless it disconnects before; how often it asked. Raises
    where an answer is wrong.
    """
    asking = _Asking(client, random.Random(seed), folder)
    while asking.asked < most and not asking.is_over:
        asking.go_on()
    return asking.asked


class _Asking:
    def __init__(self, client: Client, chance: random.Random, folder: Path) -> None:
        self._client, self._chance = client, chance
        self._path = kernels.written(folder, chance.choice(TEXTS))
        self._threads: list[Json] = [1]
        self._references: list[Json] = [1]
        self.asked = 0
        self.is_over = False
        if chance.random() < 0.9:
            self._ask([("initialize", {"adapterID": "ptx"}), self._launch(), ("configurationDone", {})])

    def go_on(self) -> None:
        """Sends a request, or several at once."""
        chance = self._chance
        number = chance.randrange(2, 12) if chance.random() < 0.1 else 1
        requests = [self._request() for _ in range(number)]
        last = next((at for at, (command, _) in enumerate(requests) if command == "disconnect"), number)
        answers = self._ask(requests[: last + 1])
        is_moving = any(one["command"] in (*_MOVES, "restart") and one["success"] for one in answers)
        if answers[-1]["command"] == "disconnect":
            self.is_over = True
        elif is_moving and chance.random() < 0.8:
            self._settle()

    def _settle(self) -> None:
        """Waits until the kernel stands, or pauses it."""
        for turn in count():
            (answer,) = self._ask([("evaluate", {"expression": "1"})])
            if answer.get("message") != "the kernel is running":
                return
            if turn > 20:
                self._ask([("pause", {"threadId": 1})])
            time.sleep(0.002)

    def _ask(self, requests: list[_Request]) -> list[Object]:
        answers = self._client.burst(requests)
        self.asked += len(answers)
        for one in answers:
            assert "internal error" not in str(one.get("message", "")), (one, requests)
            self._remember(one.get("body"))
        assert not self._client.invalid, (self._client.invalid, requests)
        assert "internal error" not in self._client.drain(), (self._client.output, requests)
        return answers

    def _remember(self, body: Json) -> None:
        """Keeps some of the numbers that were given out."""
        for key, into in (("threads", self._threads), ("stackFrames", self._references)):
            if isinstance(body, dict) and isinstance(body.get(key), list):
                into += [one["id"] for one in objects(body[key])]
                del into[:-8]

    def _request(self) -> _Request:
        chance, kind = self._chance, self._chance.random()
        if kind < 0.25:
            return chance.choice(_MOVES), {"threadId": chance.choice(self._threads)}
        if kind < 0.32:
            given: list[Json] = [{"line": chance.randrange(30)} for _ in range(chance.randrange(4))]
            return "setBreakpoints", {"source": {"path": str(self._path)}, "breakpoints": given}
        if kind < 0.35:
            watched: list[Json] = [{"dataId": chance.choice(_WORDS)} for _ in range(chance.randrange(3))]
            return "setDataBreakpoints", {"breakpoints": watched}
        if kind < 0.40:
            if chance.random() < 0.4:
                self._path.write_text(chance.choice(TEXTS if chance.random() < 0.8 else _DAMAGED))
            return "restart", {}
        if kind < 0.42:
            return self._launch() if chance.random() < 0.5 else (chance.choice(_ENDS), {})
        if kind < 0.4205:
            return "disconnect", {}
        if kind < 0.6:
            return chance.choice(("scopes", "variables", "evaluate", "ptx/warpWatch")), {
                "frameId": chance.choice(self._references), "variablesReference": chance.randrange(1, 200),
                "expression": chance.choice(_WORDS), "threadId": chance.choice(self._threads),
            }
        chosen = chance.sample(_NAMES, chance.randrange(7))
        return chance.choice(_LOOKS), {name: chance.choice(_WORDS) for name in chosen}

    def _launch(self) -> _Request:
        chance = self._chance
        return "launch", {
            "program": str(self._path), "stopOnEntry": chance.random() < 0.7, "check": chance.random() < 0.3,
            "noDebug": chance.random() < 0.05, "show": chance.choice(("source", None)),
            "seed": chance.choice((0, 0, 7, None)),
        }


def garbage(seed: int) -> bytes:
    """Bytes that are no messages, or damaged ones."""
    chance = random.Random(seed)
    body = b'{"seq": 1, "type": "request", "command": "initialize"}'
    kinds: tuple[Callable[[], bytes], ...] = (
        lambda: chance.randbytes(chance.randrange(200)),
        lambda: b"Content-Length: %d\r\n\r\n" % chance.choice((-1, 0, 1 << 40, 10**30)) + body,
        lambda: b"Content-Length: %d\r\n\r\n" % len(body) + body[: chance.randrange(len(body))],
        lambda: _framed(chance.randbytes(60)),
        lambda: _framed(b"[" * 100_000), lambda: _framed(b"[]"), lambda: _framed(b"7"),
        lambda: _framed(b"{}"),
        lambda: _framed(b'{"type": "request", "command": 3, "seq": "x", "arguments": [1]}'),
        lambda: _framed(b'{"type": "request", "command": "evaluate", "seq": 1e999, "arguments": {"x": NaN}}'),
        lambda: b"\r\n" + _framed(body), lambda: b"X: y\r\n" + _framed(body), lambda: b"\r\n\r\n" * 9,
    )
    return b"".join(chance.choice(kinds)() for _ in range(chance.randrange(1, 5)))


def _framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def _on_tcp(port: int, seed: int, most: int) -> int:
    """A session on a port, after garbage on another connection; how often it asked."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), SECONDS) as connection:
        connection.sendall(garbage(seed))  # the adapter may hang up
    with (
        tempfile.TemporaryDirectory() as folder,
        socket.create_connection(("127.0.0.1", port), SECONDS) as connection,
    ):
        client = Client(Channel(connection.recv, connection.sendall))
        asked = ask_at_random(client, seed, most, Path(folder))
        connection.shutdown(socket.SHUT_WR)
        client.reader.join(SECONDS)
        assert not client.reader.is_alive(), "the adapter does not hang up"
        return asked


def _memory(process: int) -> int:
    """The memory of a process in MiB; 0 where the system does not say."""
    status = Path(f"/proc/{process}/statm")
    return int(status.read_text().split()[1]) * 4 >> 10 if status.exists() else 0


def main() -> int:
    """Asks until there were enough requests."""
    from tests.debug.dap_python import listening

    parser = argparse.ArgumentParser(description="Asks ptx-dap at random.")
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sessions", type=int, default=3, help="clients at the same time")
    given = parser.parse_args()
    asked = shown = 0
    seeds = count(given.seed)
    with listening() as (process, port), ThreadPoolExecutor(given.sessions) as clients:
        while asked < given.requests:
            batch = [clients.submit(_on_tcp, port, next(seeds), 500) for _ in range(2 * given.sessions)]
            asked += sum(one.result() for one in batch)
            if asked - shown >= 10_000 or asked >= given.requests:
                shown = asked
                print(f"{asked} requests, {_memory(process)} MiB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
