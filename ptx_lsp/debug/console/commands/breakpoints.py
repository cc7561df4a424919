"""Breakpoints: set, remove, enable, change."""

from __future__ import annotations

import re
from pathlib import Path

from ptx_lsp.debug.console.candidates import places, symbols
from ptx_lsp.debug.console.command import command
from ptx_lsp.debug.console.console import Console
from ptx_lsp.debug.console.places import Place, place_of
from ptx_lsp.debug.console.points import Point
from ptx_lsp.debug.console.watched import watch, watched_text
from ptx_lsp.debug.expressions import ExpressionError, parse
from ptx_lsp.debug.problems import FILTERS
from ptx_lsp.debug.request_error import RequestError

_IF = re.compile(r"(?:^|\s)if\b(.*)$", re.DOTALL)


def _set_breakpoint(console: Console, text: str, *, is_temporary: bool) -> None:
    where, condition = split_condition(console, text)
    place = place_of(console, where)
    point = Point(
        console.points.next_number(), "breakpoint", where, place.lines, place.shown, place.path,
        condition=condition, is_temporary=is_temporary,
    )
    console.points.add(point)
    console.say(f"{point.heading} at {_described(console, place)}.")


def _described(console: Console, place: Place) -> str:
    more = f" ({len(place.lines)} locations)" if len(place.lines) > 1 else ""
    function = console.debuggee.loaded.by_line.get(min(place.lines), "")
    return f"{function}: file {place.file}, line {place.shown}{more}"


def split_condition(console: Console, text: str) -> tuple[str, str]:
    """The place and the condition of `PLACE if CONDITION`. Raises RequestError for an invalid condition."""
    found = _IF.search(text)
    if found is None:
        return text.strip(), ""
    return text[: found.start()].strip(), _condition(console, found[1])


def _condition(console: Console, text: str) -> str:
    condition = console.translated(text.strip())
    try:
        parse(condition)
    except ExpressionError as error:
        raise RequestError(f"Invalid condition: {error}.") from None
    return condition


@command("break", "b", "br", "brea", "bre", candidates=places, repeats="")
def break_(console: Console, text: str) -> None:
    """Set a breakpoint at a line, a function or another place.
    Usage: break [PLACE] [if CONDITION]
    PLACE is a line such as 13, a function, FILE:LINE, *LINE for exactly that line, or +N or -N lines from
    here; without one, the next instruction. FILE may be the source that .loc names.
    The kernel stops where CONDITION is true in some lane, as in: break 13 if %tid.x == 3
    """
    _set_breakpoint(console, text, is_temporary=False)


@command("tbreak", "tb", "tbr", candidates=places, repeats="")
def tbreak(console: Console, text: str) -> None:
    """Set a breakpoint that is removed when it is hit.
    Usage: tbreak [PLACE] [if CONDITION]
    """
    _set_breakpoint(console, text, is_temporary=True)


@command("watch", candidates=symbols, repeats="")
def watch_(console: Console, text: str) -> None:
    """Stop after a write of memory, or a change of a register in the warp in focus.
    Usage: watch EXPRESSION [if CONDITION]
    EXPRESSION is a register, a variable, or memory: [%rd1]:f32, shared[4]:u32, [buffer+8]:u8x4.
    """
    _watch(console, text, "write")


@command("rwatch", candidates=symbols, repeats="")
def rwatch(console: Console, text: str) -> None:
    """Stop after a read of memory.
    Usage: rwatch EXPRESSION [if CONDITION]
    """
    _watch(console, text, "read")


@command("awatch", candidates=symbols, repeats="")
def awatch(console: Console, text: str) -> None:
    """Stop after a read or a write of memory.
    Usage: awatch EXPRESSION [if CONDITION]
    """
    _watch(console, text, "readWrite")


def _watch(console: Console, text: str, access: str) -> None:
    what, condition = split_condition(console, text)
    if not what:
        raise RequestError("Argument required (expression to compute).")
    point = Point(console.points.next_number(), "watchpoint", what, condition=condition)
    if access == "read":
        point.access = "read"
    elif access == "readWrite":
        point.access = "readWrite"
    watch(console, what, point)
    point.last = watched_text(console, point)
    console.points.add(point)
    console.say(f"{point.heading}: {what}")


@command("catch", candidates=lambda console: FILTERS, repeats="")
def catch(console: Console, text: str) -> None:
    """Stop only at these problems that the checks find.
    Usage: catch [race|uninitialised|out-of-bounds|divergence|other]
    Without catchpoints, each finding stops the kernel. A kernel that fails always stops. The checks need the
    option --check.
    """
    if not text:
        console.say(*(f"{name}  {label}" for name, (label, _) in FILTERS.items()))
        return
    if text not in FILTERS:
        raise RequestError(f'Unknown catch argument "{text}"; expected one of {", ".join(FILTERS)}.')
    if not console.debuggee.loaded.settings.is_checked:
        raise RequestError("The kernel runs without checks: start the debugger with --check.")
    point = Point(console.points.next_number(), "catchpoint", text)
    console.points.add(point)
    console.say(f"{point.heading} ({text})")


@command("delete", "d", repeats="")
def delete(console: Console, text: str) -> None:
    """Remove breakpoints, watchpoints and catchpoints.
    Usage: delete [NUMBER | FIRST-LAST]...
    Without numbers, all of them.
    """
    text = re.sub(r"^breakpoints?\b", "", text)
    console.points.delete(console.points.chosen(text))


@command("delete display")
def delete_display(console: Console, text: str) -> None:
    """Stop displaying expressions.
    Usage: delete display [NUMBER]...
    """
    console.execute(f"undisplay {text}")


@command("clear", candidates=places, repeats="")
def clear(console: Console, text: str) -> None:
    """Remove the breakpoints at a place.
    Usage: clear [PLACE]
    """
    place = place_of(console, text)
    found = [
        one for one in console.points.by_number.values()
        if one.kind == "breakpoint" and set(one.lines) & set(place.lines)
    ]
    if not found:
        raise RequestError(f"No breakpoint at {text or 'this line'}.")
    console.points.delete(found)
    console.say(f"Deleted breakpoint{'s' * (len(found) > 1)} {' '.join(str(one.number) for one in found)}")


@command("enable", "en")
def enable(console: Console, text: str) -> None:
    """Enable breakpoints again.
    Usage: enable [NUMBER | FIRST-LAST]...
    """
    _enable(console, text, is_enabled=True)


@command("disable", "dis", "disa")
def disable(console: Console, text: str) -> None:
    """Disable breakpoints without removing them.
    Usage: disable [NUMBER | FIRST-LAST]...
    """
    _enable(console, text, is_enabled=False)


def _enable(console: Console, text: str, *, is_enabled: bool) -> None:
    points = console.points.chosen(re.sub(r"^breakpoints?\b", "", text))
    for point in points:
        point.is_enabled = is_enabled
    console.points.change(points)


@command("condition", "cond")
def condition(console: Console, text: str) -> None:
    """Give a breakpoint a condition, or take it away.
    Usage: condition NUMBER [CONDITION]
    """
    number, _, rest = text.partition(" ")
    if not number:
        raise RequestError("Argument required (breakpoint number).")
    (point, *_) = console.points.chosen(number)
    point.condition = _condition(console, rest) if rest.strip() else ""
    console.points.change([point])
    if not point.condition:
        console.say(f"Breakpoint {point.number} now unconditional.")


@command("ignore", repeats="")
def ignore(console: Console, text: str) -> None:
    """Ignore the next hits of a breakpoint.
    Usage: ignore NUMBER COUNT
    """
    number, _, count = text.partition(" ")
    if not number:
        raise RequestError("Argument required (a breakpoint number).")
    (point, *_) = console.points.chosen(number)
    if not count.strip().isdecimal() or len(count) > _MOST_DIGITS:
        raise RequestError("Second argument (specified ignore-count) is missing.")
    point.ignored = int(count)
    point.counted = []
    console.points.change([point])
    console.say(
        f"Will ignore next {point.ignored} crossings of breakpoint {point.number}." if point.ignored
        else f"Will stop next time breakpoint {point.number} is reached."
    )


@command("info breakpoints", "b")
def info_breakpoints(console: Console, text: str) -> None:
    """The breakpoints, watchpoints and catchpoints.
    Usage: info breakpoints [NUMBER]...
    """
    _list(console, console.points.chosen(text), "No breakpoints or watchpoints.")


@command("info watchpoints")
def info_watchpoints(console: Console, text: str) -> None:
    """The watchpoints.
    Usage: info watchpoints [NUMBER]...
    """
    found = [one for one in console.points.chosen(text) if one.kind == "watchpoint"]
    _list(console, found, "No watchpoints.")


_KINDS = {"write": "watchpoint", "read": "read watchpoint", "readWrite": "acc watchpoint"}


def _list(console: Console, points: list[Point], none: str) -> None:
    if not points:
        console.say(none)
        return
    console.say(f"{'Num':7} {'Type':15} Disp Enb What")
    functions = console.debuggee.loaded.by_line
    for one in points:
        kind = _KINDS[one.access] if one.kind == "watchpoint" else one.kind
        what = one.text
        if one.kind == "breakpoint":
            what = f"in {functions.get(one.lines[0], '')} at {Path(one.path).name}:{one.shown}"
        disposition = "del" if one.is_temporary else "keep"
        console.say(f"{one.number:<7} {kind:15} {disposition:4} {'ny'[one.is_enabled]}   {what}")
        if one.condition:
            console.say(f"\tstop only if {one.condition}")
        if one.hits:
            console.say(f"\tbreakpoint already hit {one.hits} time{'s' * (one.hits > 1)}")
        if one.ignored:
            console.say(f"\tignore next {one.ignored} hits")


_MOST_DIGITS = 12
