"""Print values, and change them."""

from __future__ import annotations

import re

from ptx_lsp.debug import values
from ptx_lsp.debug.changes import assign, set_register
from ptx_lsp.debug.console.candidates import symbols
from ptx_lsp.debug.console.command import command
from ptx_lsp.debug.console.console import Console
from ptx_lsp.debug.console.displays import show_display, warp_rows
from ptx_lsp.debug.console.source import arguments
from ptx_lsp.debug.console.values import FORMATS
from ptx_lsp.debug.request_error import RequestError

_FORMAT = re.compile(r"/(\w*)\s*")
_ASSIGNMENT = re.compile(r"(.*?[^=!<>])=(?!=)(.*)$", re.DOTALL)
_LANE = re.compile(r"(.*)@\s*(?:lane\s+)?(\d+|\*)\s*$")


def _formatted(text: str) -> tuple[str, str]:
    """The format after a slash, and the expression. Raises RequestError for an unknown format."""
    found = _FORMAT.match(text)
    if found is None:
        return "", text.strip()
    format = found[1].lstrip("0123456789")[:1]
    if found[1] and format not in (*FORMATS, "w"):
        raise RequestError(f'Undefined output format "{format or found[1]}".')
    return format, text[found.end() :].strip()


@command("print", "p", "inspect", "call", candidates=symbols)
def print_(console: Console, text: str) -> None:
    """Print the value of an expression for the thread in focus.
    Usage: print [/FORMAT] EXPRESSION
    FORMAT is x, d, u, o, t, f, a, c or z, or w for all lanes of the warp. EXPRESSION has registers as %r5,
    %r5@3 in lane 3, %tid.x, threadIdx.x or threadIdx, variables as tile, tile[3] and &tile, memory as
    [%rd1]:f32 or shared[4]:u32, any(...) and all(...), and the operators of C, in which a variable stands for
    its address. The value gets a number: $1, $2, and $ for the last one.
    """
    format, expression = _formatted(text)
    if not expression:
        if not console.history:
            raise RequestError("History is empty.")
        expression = "$"
    if format == "w":
        console.say(*warp_rows(console, [expression]))
        return
    given = dict(arguments(console)).get(expression)
    if given is not None:
        console.say(f"{expression} = {given}")
        return
    value = console.value(expression)
    shown = value.formatted(format)
    console.history.append(value)
    console.say(f"${len(console.history)} = {shown}")


@command("output", candidates=symbols)
def output(console: Console, text: str) -> None:
    """Print the value of an expression and nothing else.
    Usage: output [/FORMAT] EXPRESSION
    """
    format, expression = _formatted(text)
    if not expression:
        raise RequestError("Argument required (expression to compute).")
    console.say(console.value(expression).formatted(format))


@command("display", "disp", candidates=symbols)
def display(console: Console, text: str) -> None:
    """Print the value of an expression at each stop.
    Usage: display [/FORMAT] [EXPRESSION]
    The formats are those of print: /w shows all lanes of the warp.
    """
    format, expression = _formatted(text)
    if not expression:
        for number in console.displays:
            show_display(console, number)
        return
    if console.debuggee.stopped.stop.reason not in ("start", "end"):
        console.value(expression)
    console.display_count += 1
    console.displays[console.display_count] = expression, format
    show_display(console, console.display_count)


@command("undisplay")
def undisplay(console: Console, text: str) -> None:
    """Stop displaying expressions.
    Usage: undisplay [NUMBER]...
    """
    numbers = text.split() or [str(one) for one in console.displays]
    for word in numbers:
        if not word.isdecimal():
            raise RequestError("Arguments must be display numbers.")
        if int(word[:12]) not in console.displays:
            raise RequestError(f"No display number {word}.")
        del console.displays[int(word[:12])]


@command("info display")
def info_display(console: Console, text: str) -> None:
    """The expressions that are displayed at each stop."""
    if not console.displays:
        console.say("There are no auto-display expressions now.")
        return
    console.say("Auto-display expressions now in effect:", "Num Enb Expression")
    for number, (expression, format) in console.displays.items():
        console.say(f"{number}:   y  {f'/{format} ' if format else ''}{expression}")


@command("set variable", "var", candidates=symbols, repeats="")
def set_variable(console: Console, text: str) -> None:
    """Change a register or memory of the thread in focus.
    Usage: set var TARGET = EXPRESSION
    TARGET is a register, as %r5, %r5@3 for lane 3 or %r5@* for the whole warp, or memory: [%rd1]:f32,
    shared[4]:u32. What came later is forgotten; what came before can still be gone back to.
    """
    found = _ASSIGNMENT.match(text)
    if found is None or not found[2].strip():
        raise RequestError("A syntax error in expression: expected TARGET = EXPRESSION.")
    target, expression = found[1].strip(), console.translated(found[2].strip())
    lane = _LANE.match(target)
    if lane is not None:
        _set_lanes(console, lane[1].strip(), lane[2], expression)
    else:
        assign(console.debuggee, console.group, console.frame, target, expression)
    console.debuggee.values_changed()


def _set_lanes(console: Console, name: str, lane: str, expression: str) -> None:
    """Changes a register in one lane of the warp, or with `*` in all."""
    whole = values.lanes_of(console.group, whole=True)
    if lane != "*" and int(lane[:9]) >= whole.size:
        raise RequestError(f"The warp has no lane {lane}.")
    lanes = whole if lane == "*" else whole[int(lane) : int(lane) + 1]
    set_register(console.debuggee, console.group, console.frame, lanes, name, expression)


@command("set show", candidates=lambda console: ("ptx", "source"), repeats="")
def set_show(console: Console, text: str) -> None:
    """Choose the lines that are shown and stepped: those of the PTX, or of the source that .loc names.
    Usage: set show ptx|source
    """
    if text not in ("ptx", "source"):
        raise RequestError('Requires an argument. Valid arguments are ptx, source.')
    if text == "source" and not console.debuggee.loaded.sources:
        raise RequestError("The PTX has no line information: it has no `.loc`.")
    console.debuggee.shows_source = text == "source"
    console.listed = None


@command("set listsize", repeats="")
def set_listsize(console: Console, text: str) -> None:
    """Set the number of lines that list prints.
    Usage: set listsize N
    """
    if not text.isdecimal() or not 0 < int(text[:9]) <= _MOST_LINES:
        raise RequestError(f"integer {text or 'missing'}: expected 1 to {_MOST_LINES}")
    console.list_size = int(text[:9])


@command("set", candidates=symbols, repeats="")
def set_(console: Console, text: str) -> None:
    """Change a register or memory, or a setting.
    Usage: set var TARGET = EXPRESSION, set show ptx|source, set listsize N
    """
    set_variable.action(console, text)


_MOST_LINES = 10_000
