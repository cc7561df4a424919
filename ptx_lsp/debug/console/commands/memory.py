"""Examine memory."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ptx_lsp.debug.console.candidates import symbols
from ptx_lsp.debug.console.command import command
from ptx_lsp.debug.console.console import Console
from ptx_lsp.debug.console.instructions import instructions_from
from ptx_lsp.debug.console.values import FORMATS, formatted
from ptx_lsp.debug.console.watched import place_in
from ptx_lsp.debug.memory import NAMES, Reference
from ptx_lsp.debug.request_error import RequestError
from ptx_lsp.executor.machine.address_resolution import WINDOWS

_NFU = re.compile(r"/(\d{0,6})([a-z]*)")
_SIZES = {"b": 1, "h": 2, "w": 4, "g": 8}
_A_LINE = {1: 8, 2: 8, 4: 4, 8: 2}
_IN_SPACE = re.compile(r"(global|shared|local|const|param)\s*\[(.*)\]$", re.DOTALL)
_CAST = re.compile(r"\(?\s*@(global|shared|local|const|param)\b[^)]*\)?\s*(.*)$", re.DOTALL)
_MOST = 100_000


@dataclass(frozen=True)
class _Shape:
    """How memory is examined: so many units of a size, in a format."""

    count: int
    format: str
    size: int


@command("x", candidates=symbols, repeats="x")
def examine(console: Console, text: str) -> None:
    """Examine memory.
    Usage: x/NFU ADDRESS
    N units of size U (b 1, h 2, w 4, g 8 bytes) in format F (x d u o t a c f z, s for a string, i for
    instructions from a line on). ADDRESS is a variable or an expression with a generic address, or
    shared[EXPRESSION], local[EXPRESSION]. Without an address, what follows the memory examined last.
    """
    shape, rest = _shape(console, text)
    if shape.format == "i":
        line = console.number(rest) if rest and rest != "$pc" else console.frame.line
        console.say(*instructions_from(console, line, shape.count))
        return
    if rest:
        place = _place(console, rest)
    elif console.examined is not None:
        place = console.examined
    else:
        raise RequestError("Argument required (starting display address).")
    if shape.format == "s":
        _strings(console, place, shape.count)
        return
    a_line = 2 if shape.format == "f" and shape.size == 8 else _A_LINE[shape.size]
    for first in range(0, shape.count, a_line):
        cells: list[str] = []
        for at in range(first, min(first + a_line, shape.count)):
            here = place.moved(at * shape.size)
            data = console.debuggee.stopped.memory.read(here, shape.size)
            if len(data) < shape.size:
                if cells:
                    console.say(f"{label(console, place.moved(first * shape.size))}:\t" + "\t".join(cells))
                raise _unreadable(console, here)
            bits = int.from_bytes(data, "little")
            letter = "z" if shape.format == "x" else shape.format
            cells.append(formatted(bits, letter, 8 * shape.size, is_bits=True))
        console.say(f"{label(console, place.moved(first * shape.size))}:\t" + "\t".join(cells))
    console.examined = place.moved(shape.count * shape.size)


def _shape(console: Console, text: str) -> tuple[_Shape, str]:
    format, size = console.unit
    found = _NFU.match(text)
    if found is None:
        return _Shape(1, format, size), text.strip()
    count = int(found[1] or 1)
    for letter in found[2]:
        if letter in _SIZES:
            size = _SIZES[letter]
        elif letter in (*FORMATS, "s", "i"):
            format = letter
        else:
            raise RequestError(f'Undefined output format "{letter}".')
    if format == "f" and size == 1:
        size = 4
    if count > _MOST:
        raise RequestError(f"At most {_MOST} units at once.")
    if format not in "si":
        console.unit = format, size
    return _Shape(count, format, size), text[found.end() :].strip()


def _place(console: Console, text: str) -> Reference:
    found = _IN_SPACE.match(text) or _CAST.match(text)
    if found is not None:
        return place_in(console, found[1], found[2])
    return place_in(console, "", text.removeprefix("&"))


def _strings(console: Console, place: Reference, count: int) -> None:
    for _ in range(count):
        data = console.debuggee.stopped.memory.read(place, 200)
        if not data:
            raise _unreadable(console, place)
        text, end, _ = data.partition(b"\0")
        shown = "".join(chr(one) if 32 <= one < 127 and one not in b'"\\' else f"\\{one:03o}" for one in text)
        console.say(f'{label(console, place)}:\t"{shown}"' + ("" if end else "..."))
        place = place.moved(len(text) + 1)
    console.examined = place


def _unreadable(console: Console, place: Reference) -> RequestError:
    """Why there is no memory at a byte: `.shared` and `.local` memory is that of running blocks."""
    view = console.debuggee.stopped
    if place.space in ("shared", "local") and not view.memory.has_begun(place):
        why = "the block is not running"
        if view.stop.reason == "start":
            why = "the program is not being run; type `run` or `start`"
        return RequestError(f"There is no {place.space} memory: {why}.")
    return RequestError(f"Cannot access memory at address {place.address:#x}")


def label(console: Console, place: Reference) -> str:
    """An address with the variable that is there, as in `0x700000010 <out+16>`."""
    launch = console.debuggee.stopped.launch
    spots = [(one.space.removeprefix("."), one.name, one.start, one.size) for one in launch.placed]
    spots += [("global", one.name, one.base, one.data.size) for one in launch.buffers]
    name = ""
    for space, known, start, size in spots:
        if space == place.space and start <= place.address < start + size:
            name = f" <{known}{f'+{place.address - start}' if place.address > start else ''}>"
    window = WINDOWS.get(NAMES[place.space])
    prefix = f"{place.space} " if window is not None else ""
    return f"{prefix}{place.address:#x}{name}"
