"""Places in the program, as commands name them: `13`, `kernel`, `kernel.ptx:13`, `loop.cu:4`, `*13`, `+2`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ptx_lsp.debug.console.console import Console
from ptx_lsp.debug.program import checked_path
from ptx_lsp.debug.request_error import RequestError


@dataclass(frozen=True)
class Place:
    """Lines of the PTX that a place stands for; `shown` is its own line in the file at `path`."""

    lines: tuple[int, ...]
    shown: int
    path: str

    @property
    def file(self) -> str:
        return Path(self.path).name


def place_of(console: Console, text: str) -> Place:
    """The place that a text names; an empty one names where the thread in focus is. Raises RequestError."""
    program, text = console.debuggee.loaded, text.strip()
    path = str(program.path)
    if not text:
        frame = console.frame
        return Place((frame.line,), frame.line, path)
    if text.startswith("*"):
        line = _number(text[1:].strip())
        if line not in program.by_line:
            raise RequestError(f"No instruction at line {line}.")
        return Place((line,), line, path)
    if text[0] in "+-":
        by = _number(text[1:])
        return _at(console, path, console.frame.line + (by if text[0] == "+" else -by))
    if text.isdecimal():
        return _at(console, _current_path(console), _number(text))
    file, colon, last = text.rpartition(":")
    if colon and file:
        named = path if Path(file).name == Path(path).name else _source_path(console, checked_path(file))
        if last.strip().isdecimal():
            return _at(console, named, _number(last))
        text = last.strip()
    named = map(program.first_line, program.functions_named(text))
    lines = [line for line in named if line is not None]
    if not lines:
        raise RequestError(f'Function "{text}" not defined.')
    return Place(tuple(lines), lines[0], path)


def _at(console: Console, path: str, line: int) -> Place:
    program = console.debuggee.loaded
    lines, shown = program.lines_at(path, line)
    if shown is None:
        if path != str(program.path) and program.source_of(path) is None:
            raise RequestError(f"No source file named {path}.")
        raise RequestError(f'No line {line} in file "{Path(path).name}".')
    if path != str(program.path):
        known = (str(program.beside(one)) for one in program.sources if Path(one).name == Path(path).name)
        path = next(known, path)
    return Place(tuple(lines), shown, path)


def _source_path(console: Console, file: str) -> str:
    """The path of the source file that a user names by its last parts, in any folder; else what is named."""
    program = console.debuggee.loaded
    if program.source_of(file) is not None:
        return file
    found = program.sources_ending_with(file)
    if len(found) > 1:
        raise RequestError(f"{file} is ambiguous: {', '.join(found)}.")
    return found[0] if found else file


def _current_path(console: Console) -> str:
    """The file whose lines bare numbers name: that of the source, if it is shown."""
    program = console.debuggee.loaded
    if console.debuggee.shows_source and program.sources:
        try:
            original = console.frame.original
        except RequestError:
            original = None
        return original.path if original is not None else next(iter(program.sources))
    return str(program.path)


def _number(text: str) -> int:
    text = text.strip()
    if not text.isdecimal() or len(text) > _MOST_DIGITS:
        raise RequestError(f'malformed linespec error: unexpected string, "{text}".')
    return int(text)


_MOST_DIGITS = 12
