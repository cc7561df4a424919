"""Show the program: lines, instructions, files."""

from __future__ import annotations

import re
from pathlib import Path

from ptx_lsp.debug.console.candidates import places
from ptx_lsp.debug.console.command import command
from ptx_lsp.debug.console.console import Console
from ptx_lsp.debug.console.instructions import instructions_of, shown
from ptx_lsp.debug.console.places import place_of
from ptx_lsp.debug.console.source import kernel_of, kernel_spot, lines_of, spot_of
from ptx_lsp.debug.request_error import RequestError
from ptx_lsp.demangler import demangled
from ptx_lsp.symbol_lookup import without_return_type


@command("list", "l", candidates=places, repeats="list")
def list_(console: Console, text: str) -> None:
    """List lines of the program.
    Usage: list [PLACE | FIRST,LAST | -]
    Without an argument, the lines around the thread in focus, and then those that follow; - lists those
    before the last ones.
    """
    size = console.list_size
    path, first, last = _range(console, text.strip(), size)
    lines = lines_of(console, path)
    if lines is None:
        raise RequestError(f"{path}: No such file or directory.")
    first = max(1, first)
    if first > len(lines):
        raise RequestError(f'Line number {first} out of range; "{Path(path).name}" has {len(lines)} lines.')
    last = min(last, len(lines))
    console.say(*(f"{number}\t{lines[number - 1]}".rstrip() for number in range(first, last + 1)))
    console.listed = path, first, last


def _range(console: Console, text: str, size: int) -> tuple[str, int, int]:
    if not text and console.listed is not None:
        path, _, last = console.listed
        return path, last + 1, last + size
    if text == "-" and console.listed is not None:
        path, first, _ = console.listed
        if first == 1:
            raise RequestError("Already at the start of the file.")
        return path, max(1, first - size), first - 1
    found = re.fullmatch(r"(\d{1,9})?\s*,\s*(\d{1,9})?", text)
    path = _path(console)
    if found is not None and (found[1] or found[2]):
        first = int(found[1]) if found[1] else max(1, int(found[2]) - size + 1)
        last = int(found[2]) if found[2] else first + size - 1
        if last < first:
            raise RequestError("Second line number is before the first.")
        return path, first, last
    if text in ("", "-"):
        line = _line(console)
    elif text.isdecimal() and len(text) < _MOST_DIGITS:
        line = int(text)
    else:
        place = place_of(console, text)
        path, line = place.path, place.shown
    first = max(1, line - (size - 1) // 2 - 1)
    return path, first, first + size - 1


def _path(console: Console) -> str:
    try:
        return spot_of(console, console.frame).path
    except RequestError:
        return kernel_spot(console).path


def _line(console: Console) -> int:
    try:
        return spot_of(console, console.frame).line
    except RequestError:
        return kernel_spot(console).line


@command("disassemble", "disas", candidates=places)
def disassemble(console: Console, text: str) -> None:
    """Show the instructions of a function, with the lanes of the warp in focus that are there.
    Usage: disassemble [FUNCTION | FIRST,LAST]
    => marks the thread in focus, * other lanes of its warp, *=> the instruction of a problem.
    """
    program = console.debuggee.loaded
    found = re.fullmatch(r"(\d{1,9})\s*,\s*(\d{1,9})", text)
    if found is not None:
        lines = [one for one in sorted(program.by_line) if int(found[1]) <= one <= int(found[2])]
        console.say("Dump of assembler code:", *shown(console, lines), "End of assembler dump.")
        return
    if text:
        function = program.by_line[place_of(console, text).lines[0]]
    else:
        function = console.frame.function or kernel_of(console).name
    console.say(f"Dump of assembler code for function {function}:", *instructions_of(console, function))
    console.say("End of assembler dump.")


@command("info line", candidates=places)
def info_line(console: Console, text: str) -> None:
    """The PTX of a line of the source, or the source of a line of the PTX.
    Usage: info line [PLACE]
    """
    place, program = place_of(console, text), console.debuggee.loaded
    name = program.path.name
    if place.path != str(program.path):
        lines = ", ".join(str(one) for one in place.lines)
        console.say(f'Line {place.shown} of "{place.file}" begins at line {lines} of "{name}".')
        return
    line = place.lines[0]
    found = [
        (path, number) for path, numbers in program.sources.items()
        for number, made in numbers.items() if line in made
    ]
    where = f', from line {found[0][1]} of "{found[0][0]}"' if found else ""
    console.say(f'Line {line} of "{name}" is in {program.by_line.get(line, "no function")}{where}.')


@command("info source")
def info_source(console: Console, text: str) -> None:
    """The files of the program."""
    program = console.debuggee.loaded
    text_lines = lines_of(console, str(program.path)) or []
    console.say(f"Current source file is {Path(_path(console)).name}", f"Located in {program.path}")
    console.say(f"Contains {len(text_lines)} lines.", "Source language is PTX.")
    if program.sources:
        console.say(f"Compiled from {', '.join(program.sources)}.")


@command("info functions")
def info_functions(console: Console, text: str) -> None:
    """The functions, with the lines where they begin.
    Usage: info functions [TEXT]
    """
    program = console.debuggee.loaded
    names = sorted(set(program.by_line.values()))
    plain = {name: without_return_type(text) for name, text in demangled(names).items()}
    for name in names:
        shown = f"{plain[name]} ({name})" if name in plain else name
        if text in shown:
            console.say(f"{program.first_line(name)}:\t{shown}")


_MOST_DIGITS = 10
