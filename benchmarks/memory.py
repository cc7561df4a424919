"""Measures the resident memory of a real `ptx-lsp` process, in megabytes.

    python -m benchmarks.memory [--lines N] [--files N]

One file of so many lines, with its findings and what VS Code asks for about every file, before and after an
edit. Then as many lines in many files, twice: before they are opened, while all are open, and after they were
closed. `given back` is the share of the memory that they took
which the operating system has got back. Only on Linux.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections.abc import Sequence

from benchmarks.inputs import of_lines
from benchmarks.server import memory, rest
from ptx_lsp.server.memory import DELAY
from tests.server.connection import Connection, of_file

LINES, FILES = 470_000, 100
_ROUNDS = 2
_ASKED = ("textDocument/codeLens", "textDocument/semanticTokens/full", "ptx/kernelReport")


def main(arguments: Sequence[str]) -> int:
    options = argparse.ArgumentParser(prog="benchmarks.memory", description="measure the server's memory")
    options.add_argument("--lines", type=int, default=LINES)
    options.add_argument("--files", type=int, default=FILES)
    given = options.parse_args(arguments)
    print(f"Python {platform.python_version()}, {platform.machine()}; megabytes\n")
    print("| what is opened | MB of text | before | open | peak | closed | given back |")
    print("|---|" + "--:|" * 6)
    whole = of_lines(given.lines)
    _measure("one file", [whole.decode()], 1)
    each = of_lines(given.lines // given.files).decode()
    texts = [each.replace(".entry ", f".entry of_{number}_") for number in range(given.files)]
    _measure(f"{given.files} files", texts, _ROUNDS)
    return 0


def _measure(name: str, texts: Sequence[str], rounds: int) -> None:
    """Prints one row for each round."""
    files = [(f"file:///benchmark/{number}.ptx", text) for number, text in enumerate(texts)]
    with Connection.of_editor("eglot-1.9") as client:
        client.patience = 600
        uri = "file:///benchmark/warm.ptx"
        client.open(uri, of_lines(5_000).decode())
        client.findings(uri, 1)
        before = _after_closing(client, [uri])
        for number in range(rounds):
            for uri, text in files:
                client.open(uri, text)
            for version in (1, 2):
                for uri, text in files:
                    client.findings(uri, version)
                    _ask(client, uri)
                    if version == 1:
                        _edit(client, uri, text)
            rest(client)
            opened = memory(client)
            peak = memory(client, peak=True)
            closed = _after_closing(client, [uri for uri, _ in files])
            size = sum(map(len, texts)) / 1e6
            cells = [f"{size:.1f}", *(f"{one / 1e6:.0f}" for one in (before, opened, peak, closed))]
            cells.append(f"{(opened - closed) / (opened - before):.0%}")
            again = ", again" if number else ""
            print(f"| {name}{again} | {' | '.join(cells)} |", flush=True)


def _ask(client: Connection, uri: str) -> None:
    """What VS Code asks for about every file."""
    for method in _ASKED:
        client.request(method, of_file(uri))


def _edit(client: Connection, uri: str, text: str) -> None:
    """Repeats a statement in the middle of the file."""
    _, mov, after = text[len(text) // 2 :].partition("\tmov")
    line = text.count("\n") - after.count("\n")
    place = {"line": line, "character": 0}
    statement = mov + after.partition("\n")[0] + "\n"
    client.change(uri, 2, [{"range": {"start": place, "end": place}, "text": statement}])


def _after_closing(client: Connection, uris: Sequence[str]) -> int:
    """The memory after closing files, once the server has given back what it can."""
    client.notified.clear()
    for uri in uris:
        client.close(uri)
    rest(client)
    time.sleep(DELAY)
    rest(client)
    return memory(client)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
