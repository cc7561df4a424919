"""A client that asks at random: nothing may fail but requests, and each answer is held to the schema.

    python -m tests.debug.random_client --requests 100000
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
from pathlib import Path

from ptx_lsp.debug.adapter.messages import Json, Object
from tests.debug import kernels
from tests.debug.client import Client, connected

TEXTS = (
    kernels.DIVERGENT, kernels.SHARED, kernels.RACE, kernels.CALLS, kernels.LOOP.replace("100;", "6;"),
)
_WORDS: tuple[Json, ...] = (
    "%r1", "%r1 + 1", "[%rd0]:u32", "shared[0]:f32x4", "any(%p)", "out", "buffer", "1 +", "%r1@40", "", "16",
    "register:1:0:0", "shared:0:0x4:4", "global:0x700000000", "race", 0, 1, 2, 5, -1, 33, 1 << 40, None,
    True, 2.5, [], {}, [0, 0, 0],
)
_NAMES = (
    "threadId", "frameId", "variablesReference", "expression", "name", "value", "memoryReference", "offset",
    "count", "data", "text", "column", "instructionCount", "instructionOffset", "block", "thread", "format",
    "startFrame", "levels", "granularity", "filters", "line",
)
_LOOKS = (
    "threads", "stackTrace", "scopes", "variables", "evaluate", "setVariable", "readMemory", "writeMemory",
    "disassemble", "completions", "exceptionInfo", "ptx/focus", "ptx/warpWatch", "dataBreakpointInfo",
    "setExceptionBreakpoints", "breakpointLocations", "setFunctionBreakpoints", "nonsense",
)
_MOVES = ("continue", "next", "stepIn", "stepOut", "stepBack", "reverseContinue")


def ask_at_random(seed: int, count: int, folder: Path) -> int:
    """Asks so many times in a session; how many requests failed. Raises where an answer is wrong."""
    chance = random.Random(seed)
    path = kernels.written(folder, chance.choice(TEXTS))
    refused = 0
    with connected() as client:
        stop = client.start(path, [12, 15], stopOnEntry=True, check=chance.random() < 0.5)
        for _ in range(count):
            if stop["event"] == "terminated":
                break
            answer, stop = _ask(client, chance, path, stop)
            refused += not answer["success"]
            message = str(answer.get("message", ""))
            assert "internal error" not in message and not message.startswith("invalid"), answer
        assert "internal error" not in client.output, client.output
    return refused


def _ask(client: Client, chance: random.Random, path: Path, stop: Object) -> tuple[Object, Object]:
    """One request; its answer, and where the kernel stands then."""
    kind = chance.random()
    if kind < 0.25:
        answer = client.ask(chance.choice(_MOVES), threadId=stop.get("threadId", 1))
        return answer, client.event("stopped", "terminated") if answer["success"] else stop
    if kind < 0.3:
        lines: list[Json] = [{"line": chance.randrange(30)} for _ in range(chance.randrange(4))]
        return client.ask("setBreakpoints", source={"path": str(path)}, breakpoints=lines), stop
    if kind < 0.33:
        watched: list[Json] = [{"dataId": chance.choice(_WORDS)} for _ in range(chance.randrange(3))]
        return client.ask("setDataBreakpoints", breakpoints=watched), stop
    if kind < 0.35:
        answer = client.ask("restart")
        return answer, client.event("stopped", "terminated")
    chosen = chance.sample(_NAMES, chance.randrange(6))
    return client.ask(chance.choice(_LOOKS), **{name: chance.choice(_WORDS) for name in chosen}), stop


def main() -> int:
    """Asks until there were enough requests."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    each, refused = 500, 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(-(-given.requests // each)):
            refused += ask_at_random(given.seed + number, each, Path(folder))
            if number % 20 == 0:
                memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
                print(f"{number * each} requests, {refused} refused, {memory} MB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
