"""Reads logs: finds the messages of ptxas, the PTX that stands in them, and the files that they name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ptx_lsp import ptxas
from ptx_lsp.cli.blame.message import ABORTED, Message
from ptx_lsp.cli.blame.printed_ptx import PrintedPtx, PtxReader
from ptx_lsp.embedded.languages import LANGUAGES
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.ptxas import Severity

_ESCAPE = lazy_pattern(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
"""Sequences that colour text, and others of terminals."""
_STAMP = lazy_pattern(r"(?:#\d+ [\d.]+ |\d{4}-\d\d-\d\dT[\d:.]+Z )")
"""The prefixes that Docker and GitHub add to each line."""
_WRITTEN_BREAK = lazy_pattern(r"\\n(?=\s*(?:ptxas|nvlink|nvcc)\b)")
"""A line break within a printed Python string."""
_ANOTHER = lazy_pattern(
    r"(?<=[^\s`'/\\])(?=ptxas(?:-[\w.]+)? +"
    r"(?:(?:fatal|error|warning|info) +:|[^; ][^;]{0,4095}?, line \d+; ?\w+ +:))"
)
"""ptxas ends some messages without a line break, such as C7508, so that the next one follows at once."""
_MESSAGE = lazy_pattern(
    r"\b(?P<program>ptxas|nvlink|nvcc)(?:-[\w.]+)?(?:\.exe)?\s+"
    r"(?:(?P<path>(?:[^;\s][^;]{0,4095}?)?), line (?P<line>\d{1,18}); ?)?"
    r"(?P<word>fatal|error|warning|info)\s+: ?(?P<text>.*)"
)
_LINKING = lazy_pattern(
    r"\s*(?P<program>)(?P<path>)(?P<line>)(?P<word>fatal|error|warning)\s{2,}: "
    r"(?P<text>(?:Undefined reference|Multiple definition|Unresolved extern) .*)"
)
"""The driver and nvJitLink name no program."""
_LINE_IN_TEXT = lazy_pattern(
    r"Unexpected (?:non-ASCII character|EOF) encountered on line (\d{1,18})"
    r"|\(C75\d\d\).* (?:in line (\d{1,18})$|around line (\d{1,18}) )"
)
"""Some messages say the line of the PTX in words."""
_INSIDE = lazy_pattern(r"<[^>]*>$")
"""A text inside ptxas, such as `<macro util>`."""
_FIGURES = lazy_pattern(
    r"\s*(?:Compiling entry function '|Function properties for|\d+ bytes stack frame|Used \d+ registers"
    r"|\d+ bytes gmem|Compile time = )"
)
_DIRECTORY = lazy_pattern(r"make(?:\[\d+\])?: Entering directory [`'](.{0,4096})'")
_ENDINGS: Final = "|".join(one[1:] for language in LANGUAGES for one in language.suffixes if one.isascii())
_FILE = lazy_pattern(rf"(?<![\w./\\+@~-])((?:[A-Za-z]:)?[\w./\\+@~-]*\w\.(?:ptx|{_ENDINGS}))(?![\w./\\])")
_MOST_FILES: Final = 10_000
_LONGEST: Final = 100_000
"""No message is in a longer line."""
_LONGEST_NAMING: Final = 10_000
"""Files are not looked for in longer lines."""


class Line(NamedTuple):
    """One message."""

    messages: list[Message]
    is_ptxas: bool
    """Whether it is ptxas's, even if it has no message."""


class Log:
    """The contents of the lines read so far. `feed` reads them in order."""

    def __init__(self) -> None:
        self.lines = 0
        self.aborted = False
        """Whether some run of ptxas failed."""
        self.folders: dict[str, None] = {"": None}
        """The folders that `make` entered, and the current one, which is empty."""
        self.ptx_files: dict[str, None] = {}
        """The PTX files that the lines name."""
        self.sources: dict[str, dict[str, None]] = {}
        """The source files that they name, by their names without folders and endings (`stem`)."""
        self.printed: list[PrintedPtx] = []
        """The PTX that stands in the log."""
        self.figures: list[str] = []
        """The lines of `ptxas -v` with the resources of kernels."""
        self._printing = PtxReader()

    def feed(self, raw: bytes) -> Line:
        """Reads one line, which may hold several messages."""
        self.lines += 1
        found: list[Message] = []
        about = False
        for line in _pieces(raw):
            match = _MESSAGE.search(line) if len(line) < _LONGEST else None
            match = match or _LINKING.match(line)
            if match is None or not _is_about_ptx(match["program"], match["text"]):
                about |= self._other(line)
                continue
            about = True
            self._ended(self._printing.stop())
            found += self._message(
                match["program"], match["path"] or "", match["line"], ptxas.severity(match["word"]),
                match["text"].strip(),
            )
        return Line(found, about)

    def learn(self, other: Log) -> None:
        """Takes over the PTX and the files of a log, usually this one read before."""
        self.folders |= other.folders
        self.ptx_files |= other.ptx_files
        for name, paths in other.sources.items():
            self.sources.setdefault(name, {}).update(paths)
        self.printed += [one for one in other.printed if one not in self.printed]

    def places(self, path: str) -> list[str]:
        """The paths that one in the log may mean."""
        return [str(Path(folder, path)) for folder in reversed(self.folders)]

    def end(self) -> None:
        """The log ends here."""
        self._ended(self._printing.stop())

    @property
    def is_printing(self) -> bool:
        """Whether the last line belongs to PTX."""
        return self._printing.is_open

    def _message(
        self, program: str, path: str, line: str | None, word: Severity, text: str
    ) -> Iterator[Message]:
        if _FIGURES.match(text):
            self.figures.append(f"ptxas info    : {text}")
            return
        if text == ABORTED:
            self.aborted = True
            return
        inside = _LINE_IN_TEXT.match(text)
        if inside is not None:
            line = inside[1] or inside[2] or inside[3]
        number = int(line or 0) or None  # lines count from 1
        if _INSIDE.match(path):
            path, number = "", None
        yield Message(program or "nvlink", word, path, number, text, self.lines)

    def _other(self, line: str) -> bool:
        """Reads a line that is no message; whether it is a part of what ptxas reports."""
        if _FIGURES.match(line) is not None:
            self.figures.append(line)
            return True
        self._ended(self._printing.feed(line, self.lines))
        if len(line) >= _LONGEST or self._printing.is_open:
            return False
        if entering := _DIRECTORY.search(line):
            self.folders[entering[1]] = None
        if "." in line and len(line) < _LONGEST_NAMING:
            for path in _FILE.findall(line):
                self._named(path)
        return False

    def _named(self, path: str) -> None:
        if len(self.ptx_files) >= _MOST_FILES or len(self.sources) >= _MOST_FILES:
            return
        named = self.ptx_files if path.endswith(".ptx") else self.sources.setdefault(stem(path), {})
        if len(named) < _MOST_FILES:
            named[path] = None

    def _ended(self, printed: PrintedPtx | None) -> None:
        if printed is not None and printed not in self.printed:
            self.printed.append(printed)


def _pieces(raw: bytes) -> list[str]:
    """The lines in a line: without escapes, stamps and what a later part overwrites on a terminal."""
    text = raw.decode("utf-8", "replace").rstrip("\r\n").lstrip("\ufeff")
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    text = _STAMP.sub("", text, 1) if _STAMP.match(text) else text
    pieces = text.split("\r") if "\r" in text else [text]
    return [part for piece in pieces for part in _parts(piece)]


def _parts(line: str) -> Iterator[str]:
    if len(line) >= _LONGEST or "ptxas" not in line:
        yield line
        return
    for written in _WRITTEN_BREAK.split(line):
        yield from _ANOTHER.split(written)


def _is_about_ptx(program: str, text: str) -> bool:
    """nvcc speaks of many things; here only that ptxas or nvlink ended badly counts."""
    return program != "nvcc" or "'ptxas'" in text or "'nvlink'" in text


def stem(path: str) -> str:
    """The name of a file without folders, ending and what nvcc adds to temporary files."""
    name = _TEMPORARY.sub("", path.replace("\\", "/").rpartition("/")[2])
    return _ARCHITECTURE.sub("", name.rpartition(".")[0] or name)


_TEMPORARY = lazy_pattern(r"^tmpxft_[0-9a-f]+_[0-9a-f]+-\d+_")
_ARCHITECTURE = lazy_pattern(r"\.(?:compute|sm)_\d+[af]?$")
