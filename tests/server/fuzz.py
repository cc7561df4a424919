"""A session of random edits and requests with a real server.

    python -m tests.server.fuzz [--steps N] [--seed S] [--unit utf-8|utf-16|utf-32] [--targets A,B]

Every request is answered and none with an error, the server lives on, and what it says at the end of each
file is what `ptx-lint` says of that text.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from tests.oracle import corpus
from tests.properties.test_edits import TOKENS
from tests.server.connection import Connection, Json, ResponseError, at

Unit = Literal["utf-8", "utf-16", "utf-32"]
_LINE_END = re.compile(r"\r\n|\r|\n")
_STRANGE = ["\f", "\u2028", "\x85", "é", "\U0001f600", "\r\n", "\r", "\n", "\t", "\x0b"]
_TOKENS = [*(token.decode("utf-8") for token in TOKENS if b"\0" not in token), *_STRANGE]
_REFUSED, _CANCELLED = -32803, -32800
_NAMES = ["%r1", "END", "kernel_0", "x", "1x", "", "%r<4>", "é"]


class Text:
    """A text as a client has it. Nothing here is shared with the server."""

    def __init__(self, uri: str, text: str, unit: Unit) -> None:
        self.uri = uri
        self.text = text
        self.unit: Unit = unit
        self.version = 1

    def position(self, offset: int) -> dict[str, int]:
        """Of an index into the text."""
        ends = [found.end() for found in _LINE_END.finditer(self.text, 0, offset)]
        if ends and ends[-1] == offset and self.text[offset - 1 : offset + 1] == "\r\n":
            ends.pop()  # between the two: still in the line
        start = ends[-1] if ends else 0
        return {"line": len(ends), "character": self.length(self.text[start:offset])}

    def length(self, text: str) -> int:
        match self.unit:
            case "utf-8":
                return len(text.encode())
            case "utf-16":
                return len(text.encode("utf-16-le")) // 2
            case "utf-32":
                return len(text)

    def is_boundary(self, offset: int) -> bool:
        return self.text[offset - 1 : offset + 1] != "\r\n"

    def change(self, chance: random.Random) -> Json:
        """Some edit, done here; returns what the server is told of it."""
        if chance.random() < 0.01:
            self.text = self.text[: chance.randrange(len(self.text) + 1)]
            return {"text": self.text}
        start = chance.randrange(len(self.text) + 1)
        end = min(len(self.text), start + chance.choice([0, 0, 0, 1, 1, 3, 12, 80]))
        if not (self.is_boundary(start) and self.is_boundary(end)):
            end = start = 0
        new = chance.choice(["", *_TOKENS, self.text[start : start + 60]])
        told = {"start": self.position(start), "end": self.position(end)}
        at_line_end = self.text[end : end + 1] in ("\r", "\n", "")
        if at_line_end and chance.random() < 0.5:  # beyond the line is its end
            told["end"]["character"] = 99_999
            if start == end:
                told["start"]["character"] = 99_999
        self.text = self.text[:start] + new + self.text[end:]
        return {"range": told, "text": new}


class Session:
    """A client that does anything at all."""

    def __init__(self, chance: random.Random, unit: Unit, folder: Path) -> None:
        self.chance = chance
        self.unit: Unit = unit
        self.folder = folder
        can: Json = {"general": {"positionEncodings": [unit]},
                     "textDocument": {"publishDiagnostics": {"relatedInformation": True}}}
        self.connection = Connection(can)
        self.methods = list(_requests(self.connection.server))
        self.files: list[Text] = []
        self.waiting: list[tuple[int, str, bool]] = []
        """Requests: id, method, whether they were cancelled."""
        self.answered = 0
        self.opened = 0
        self.memory: list[int] = []

    def run(self, steps: int) -> None:
        self.open()
        for step in range(steps):
            self.step()
            if step % 25 == 0:
                self.wait_for_all()
            if step % max(1, steps // 20) == 0:
                self.settle()
                self.memory.append(self.resident())
        self.wait_for_all()
        self.settle()
        for file in self.files:
            self.compare(file)
        assert self.connection.stop() == 0

    def step(self) -> None:
        chance = self.chance
        what = chance.random()
        if what < 0.01 or not self.files:
            self.open()
        elif what < 0.02 and len(self.files) > 1:
            file = self.files.pop(chance.randrange(len(self.files)))
            self.connection.close(file.uri)
        elif what < 0.45:
            file = chance.choice(self.files)
            file.version += chance.choice([1, 1, 1, 5])
            count = chance.choice([1, 1, 1, 2, 4])
            changes = [file.change(chance) for _ in range(count)]
            self.connection.change(file.uri, file.version, changes)
        else:
            self.ask()
        self.connection.take_all()

    def open(self) -> None:
        chance = self.chance
        text = chance.choice(corpus.files()).read_text(encoding="utf-8", errors="replace")
        start = text.rfind("\n", 0, chance.randrange(len(text))) + 1
        header = chance.choice([".version 8.5\n.target sm_90\n.address_size 64\n", ""])
        self.open_text(header + text[start : start + chance.choice([500, 3000, 12000])])

    def open_text(self, text: str) -> Text:
        self.opened += 1
        uri = (self.folder / f"file {self.opened} é.ptx").as_uri()
        file = Text(uri, text, self.unit)
        self.files.append(file)
        self.connection.open(file.uri, file.text)
        return file

    def ask(self) -> None:
        chance = self.chance
        file, method = chance.choice(self.files), chance.choice(self.methods)
        self.ask_at(file, method, chance.randrange(len(file.text) + 1))

    def ask_at(self, file: Text, method: str, offset: int) -> None:
        chance = self.chance
        position = file.position(offset)
        if chance.random() < 0.02:
            position = {"line": chance.choice([0, 10**6]), "character": 10**6}
        end = file.position(min(len(file.text), offset + chance.choice([0, 10, 3000])))
        params: Json = {
            "textDocument": {"uri": file.uri},
            "position": position,
            "positions": [position, end],
            "range": {"start": position, "end": end},
            "context": {
                "includeDeclaration": True, "triggerKind": 1, "isRetrigger": False, "diagnostics": [],
                "frameId": 1, "stoppedLocation": {"start": position, "end": end},
            },
            "newName": chance.choice(_NAMES),
            "options": {"tabSize": 4, "insertSpaces": True},
            "ch": chance.choice([";", "\n", "}"]),
            "previousResultId": str(chance.randrange(20)),
            "query": chance.choice(["", "k", "entry"]),
        }  # fmt: skip
        identity = self.connection.send(method, params)
        is_cancelled = chance.random() < 0.05
        if is_cancelled:
            self.connection.notify("$/cancelRequest", {"id": identity})
        self.waiting.append((identity, method, is_cancelled))

    def wait_for_all(self) -> None:
        for identity, method, is_cancelled in self.waiting:
            try:
                answer = self.connection.answer(identity)
                if "semanticTokens" in method:
                    data = at(answer, "data")
                    numbers = data if isinstance(data, list) else []
                    assert all(isinstance(number, int) and number >= 0 for number in numbers)
            except ResponseError as error:
                refused = error.code == _REFUSED and method in _MAY_BE_REFUSED
                assert refused or (error.code == _CANCELLED and is_cancelled), error
            self.answered += 1
        self.waiting.clear()

    def settle(self) -> None:
        for file in self.files:
            self.connection.findings(file.uri, file.version)
        self.connection.notified.clear()
        for file in self.files:  # what was published is asked for again at the end
            file.version += 1
            self.connection.change(file.uri, file.version, [])

    def resident(self) -> int:
        """Bytes of memory that the server has."""
        pages = Path(f"/proc/{self.connection.process.pid}/statm")
        return int(pages.read_text().split()[1]) * 4096 if pages.exists() else 0

    def compare(self, file: Text) -> None:
        """What the server has published of a file with what `ptx-lint` finds in it."""
        published = self.findings(file)
        command = [sys.executable, "-m", "ptx_lsp", "-", "--format", "json", "--exit-zero"]
        done = subprocess.run(
            command, input=file.text.encode(), capture_output=True, check=True, cwd=self.folder
        )
        told = at(json.loads(done.stdout), "files", 0, "diagnostics")
        expected = [_linted(one) for one in told] if isinstance(told, list) else []
        differences = set(published) ^ set(expected)
        assert sorted(published) == sorted(expected), (differences, file.text)

    def findings(self, file: Text) -> list[tuple[Json, ...]]:
        found = self.connection.findings(file.uri, file.version)
        return [
            (
                at(one, "code"),
                at(one, "message"),
                *self._from_one(file, at(one, "range", "start")),
                *self._from_one(file, at(one, "range", "end")),
            )
            for one in found
        ]

    def _from_one(self, file: Text, position: Json) -> tuple[int, int]:
        """Line and column from 1, in code points."""
        line, character = at(position, "line"), at(position, "character")
        assert isinstance(line, int)
        assert isinstance(character, int)
        text = _LINE_END.split(file.text)[line]
        column = next(
            (n for n in range(len(text) + 1) if file.length(text[:n]) >= character), len(text)
        )
        return line + 1, column + 1


def judge_for(targets: Sequence[str], folder: Path) -> None:
    """Has the files in a folder judged for these targets, if there are any."""
    if targets:
        (folder / "ptx-lint.toml").write_text(f"targets = {json.dumps(list(targets))}\n")


_MAY_BE_REFUSED = frozenset({"textDocument/definition", "textDocument/rename", "ptx/controlFlow"})
_OF_PROVIDER = {
    "hoverProvider": ["hover"],
    "completionProvider": ["completion"],
    "signatureHelpProvider": ["signatureHelp"],
    "definitionProvider": ["definition"],
    "declarationProvider": ["declaration"],
    "typeDefinitionProvider": ["typeDefinition"],
    "referencesProvider": ["references"],
    "documentHighlightProvider": ["documentHighlight"],
    "documentSymbolProvider": ["documentSymbol"],
    "documentLinkProvider": ["documentLink"],
    "foldingRangeProvider": ["foldingRange"],
    "selectionRangeProvider": ["selectionRange"],
    "renameProvider": ["prepareRename", "rename"],
    "linkedEditingRangeProvider": ["linkedEditingRange"],
    "semanticTokensProvider": [
        "semanticTokens/full", "semanticTokens/full/delta", "semanticTokens/range",
    ],
    "callHierarchyProvider": ["prepareCallHierarchy"],
    "inlayHintProvider": ["inlayHint"],
    "inlineValueProvider": ["inlineValue"],
    "codeLensProvider": ["codeLens"],
    "codeActionProvider": ["codeAction"],
    "documentFormattingProvider": ["formatting"],
    "documentRangeFormattingProvider": ["rangeFormatting"],
    "documentOnTypeFormattingProvider": ["onTypeFormatting"],
    "diagnosticProvider": ["diagnostic"],
}  # fmt: skip


def _requests(server: Json) -> list[str]:
    """All that the server can be asked for."""
    provided = at(server, "capabilities")
    assert isinstance(provided, dict)
    found = [f"textDocument/{one}" for name in provided for one in _OF_PROVIDER.get(name, ())]
    unknown = {name for name in provided if name.endswith("Provider")} - _OF_PROVIDER.keys()
    assert unknown == {"workspaceSymbolProvider", "executeCommandProvider"}, unknown
    panels = ("kernelReport", "occupancyCurve", "pressureProfile", "controlFlow", "preview")
    return [*found, "workspace/symbol", *(f"ptx/{name}" for name in panels)]


def _linted(one: Json) -> tuple[Json, ...]:
    start, end = at(one, "start"), at(one, "end")
    places = (at(place, name) for place in (start, end) for name in ("line", "column"))
    targets = at(one, "targets")
    only = f" ({', '.join(map(str, targets))} only)" if isinstance(targets, list) and targets else ""
    return (at(one, "rule"), f"{at(one, 'message')}{only}", *places)


def main(arguments: Sequence[str]) -> int:
    options = argparse.ArgumentParser(prog="tests.server.fuzz", description="random sessions")
    options.add_argument("--steps", type=int, default=5_000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--unit", choices=("utf-8", "utf-16", "utf-32"), default="utf-16")
    options.add_argument("--targets", default="", help="judge for these, with commas")
    given = options.parse_args(arguments)
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        judge_for(given.targets.split(",") if given.targets else [], Path(folder))
        session = Session(random.Random(given.seed), given.unit, Path(folder))
        session.run(given.steps)
    megabytes = ", ".join(f"{size / 1e6:.0f}" for size in session.memory)
    print(
        f"{given.steps} steps, {session.answered} answers, {session.opened} files in "
        f"{time.monotonic() - start:.0f} s; memory in MB: {megabytes}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
