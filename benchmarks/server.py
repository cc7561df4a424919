"""Times what a person waits for in an editor, with a real `ptx-lsp` process at the other end of a pipe.

    python -m benchmarks.server [--lines N ...] [--rounds N]

`open` is from opening the file to its first findings (those of its syntax, where all take long), `all` to the
last ones; the server has been started before. `edit` is from a keystroke in some kernel to the findings
about it. `hover` and `completion` are asked for right after a keystroke, so they wait for the new text to be
read; `busy` is a hover while the first analysis runs. `tokens` is what has changed of the semantic tokens
after a keystroke. Milliseconds: the median, and the 95th of 100. The CPU time of an edit is the mean, and
does not depend on what else the machine does. `memory` is the server's.

Beside them, for scale, is what tree-sitter alone takes to parse the file.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import re
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import quantiles

import tree_sitter_ptx
from tree_sitter import Language, Parser

from benchmarks.inputs import of_lines
from tests.server.connection import Connection, Json, at, of_file

SIZES = (1_000, 10_000, 50_000, 470_000)
URI = "file:///benchmark/kernels.ptx"
_REGISTER = re.compile(r"%[a-z]+(\d+)(?=[,;\]])")


class Typist:
    """Types a digit after some register and deletes it again."""

    def __init__(self, client: Connection, text: str) -> None:
        self.client = client
        self.version = 1
        chance = random.Random(1)
        lines = text.split("\n")
        self.places: list[tuple[int, int]] = []
        while len(self.places) < 500:
            line = chance.randrange(len(lines))
            found = _REGISTER.search(lines[line])
            if found is not None and "." in lines[line][: found.start()]:
                self.places.append((line, found.end()))
        self.turn = 0

    def type(self) -> dict[str, Json]:
        """One keystroke; returns where."""
        line, column = self.places[self.turn // 2 % len(self.places)]
        start = {"line": line, "character": column}
        end = {"line": line, "character": column + self.turn % 2}
        self.version += 1
        self.client.change(
            URI, self.version, [{"range": {"start": start, "end": end}, "text": "" if self.turn % 2 else "1"}]
        )
        self.turn += 1
        return {"line": line, "character": column}


def measure(lines: int, rounds: int) -> list[str]:
    """The cells of one row."""
    data = of_lines(lines)
    text = data.decode()
    parser = Parser(Language(tree_sitter_ptx.language()))
    start = time.perf_counter()
    parser.parse(data)
    alone = time.perf_counter() - start
    with Connection.of_editor("eglot-1.9") as client:
        client.patience = 600
        client.open("file:///benchmark/warm.ptx", of_lines(500).decode())
        client.findings("file:///benchmark/warm.ptx", 1)
        rest(client)
        typist = Typist(client, text)
        busy: list[float] = []
        start = time.perf_counter()
        client.open(URI, text)
        client.first_findings(URI, 1)
        first = client.arrived - start
        place: Json = dict(zip(("line", "character"), typist.places[0], strict=True))
        while len(busy) < 20:
            busy.append(_asked(client, "hover", place))
            client.take_all()
        last = rest(client) - start

        def edited() -> float:
            begin = time.perf_counter()
            typist.type()
            client.first_findings(URI, typist.version)
            taken = client.arrived - begin
            client.notified.clear()
            return taken

        def asked_after_edit(method: str) -> Callable[[], float]:
            def ask() -> float:
                begin = time.perf_counter()
                place = typist.type()
                client.request(f"textDocument/{method}", of_file(URI, position=place))
                taken = client.arrived - begin
                client.first_findings(URI, typist.version)
                client.notified.clear()
                return taken

            return ask

        known = client.request("textDocument/semanticTokens/full", of_file(URI))

        def tokens() -> float:
            nonlocal known
            typist.type()
            client.first_findings(URI, typist.version)
            client.notified.clear()
            begin = time.perf_counter()
            asked = of_file(URI, previousResultId=at(known, "resultId"))
            known = client.request("textDocument/semanticTokens/full/delta", asked)
            return client.arrived - begin

        cells = [f"{text.count(chr(10)):,}", f"{len(data) / 1e6:.1f}", f"{1000 * alone:.0f}"]
        cells += [f"{1000 * first:.0f}", f"{1000 * last:.0f}"]
        for action in (edited, asked_after_edit("hover"), asked_after_edit("completion"), tokens):
            action()
            before = cpu_seconds(client)
            cells.append(_percentiles([action() for _ in range(rounds)]))
            if action is edited:
                cells.append(f"{1000 * (cpu_seconds(client) - before) / rounds:.0f}")
        cells.append(_percentiles(busy))
        cells.append(f"{memory(client) / 1e6:.0f}")
    return cells


def _asked(client: Connection, method: str, place: Json) -> float:
    begin = time.perf_counter()
    client.request(f"textDocument/{method}", of_file(URI, position=place))
    return client.arrived - begin


def rest(client: Connection) -> float:
    """Waits until no more findings come, and the server has no more work; when the last ones came."""
    asked = client.request("ptx/kernelReport", {"textDocument": {"uri": "file:///none"}})
    assert asked is None
    last, used = client.arrived, cpu_seconds(client)
    quiet = time.monotonic()
    while time.monotonic() - quiet < 2.0:
        count = len(client.notified)
        client.take_all()
        if len(client.notified) > count:
            last, quiet = client.arrived, time.monotonic()
        if cpu_seconds(client) - used > 0.05:
            used, quiet = cpu_seconds(client), time.monotonic()
        time.sleep(0.01)
    return last


def _percentiles(seconds: Sequence[float]) -> str:
    cuts = quantiles(seconds, n=20, method="inclusive")
    return f"{1000 * cuts[9]:.1f} / {1000 * cuts[18]:.1f}"


def cpu_seconds(client: Connection) -> float:
    """CPU time of the server so far."""
    file = Path(f"/proc/{client.process.pid}/stat")
    if not file.exists():
        return 0.0
    fields = file.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(client: Connection, *, peak: bool = False) -> int:
    """Resident bytes of the server, now or at most so far; 0 where the system does not provide it."""
    status = Path(f"/proc/{client.process.pid}/status")
    if not status.exists():
        return 0
    found = re.search(rf"{'VmHWM' if peak else 'VmRSS'}:\s*(\d+)", status.read_text())
    return int(found[1]) * 1024 if found is not None else 0


def main(arguments: Sequence[str]) -> int:
    options = argparse.ArgumentParser(prog="benchmarks.server", description="time the language server")
    options.add_argument("--lines", type=int, nargs="+", default=SIZES)
    options.add_argument("--rounds", type=int, default=40)
    given = options.parse_args(arguments)
    print(f"Python {platform.python_version()}, {platform.machine()}; milliseconds, p50 / p95\n")
    print(
        "| lines | MB | tree-sitter | open | all | edit | its CPU time | hover | completion | tokens | busy "
        "| memory, MB |"
    )
    print("|" + "--:|" * 12)
    for lines in given.lines:
        print(f"| {' | '.join(measure(lines, given.rounds))} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
