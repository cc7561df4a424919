"""Calls of the thread in focus."""

from __future__ import annotations

from ptx_lsp.debug.console.command import command
from ptx_lsp.debug.console.console import Console
from ptx_lsp.debug.console.source import arguments, frame_text, numbered, spot_of
from ptx_lsp.debug.console.values import listed
from ptx_lsp.debug.console.watched import elements
from ptx_lsp.debug.memory import Reference
from ptx_lsp.debug.request_error import RequestError


@command("backtrace", "bt", "where")
def backtrace(console: Console, text: str) -> None:
    """The calls of the thread in focus, the innermost first.
    Usage: backtrace [N]
    With N, the N innermost; with -N, the N outermost.
    """
    lines = [f"#{at:<3}{frame_text(console, one)}" for at, one in enumerate(console.frames)]
    count = console.number(text) if text else len(lines)
    console.say(*(lines[:count] if count >= 0 else lines[max(0, len(lines) + count) :]))
    if 0 <= count < len(lines):
        console.say("(More stack frames follow...)")


@command("info stack", "s")
def info_stack(console: Console, text: str) -> None:
    """The calls of the thread in focus."""
    backtrace.action(console, text)


@command("frame", "f")
def frame(console: Console, text: str) -> None:
    """Choose a frame, or print the one that is chosen.
    Usage: frame [N]
    """
    _choose(console, console.number(text) if text else console.level)


@command("up")
def up(console: Console, text: str) -> None:
    """Choose the frame that called this one.
    Usage: up [N]
    """
    if console.level == len(console.frames) - 1:
        raise RequestError("Initial frame selected; you cannot go up.")
    _choose(console, min(console.level + _count(console, text), len(console.frames) - 1))


@command("down", "dow")
def down(console: Console, text: str) -> None:
    """Choose the frame that this one called.
    Usage: down [N]
    """
    _ = console.frames
    if not console.level:
        raise RequestError("Bottom (innermost) frame selected; you cannot go down.")
    _choose(console, max(console.level - _count(console, text), 0))


def _count(console: Console, text: str) -> int:
    return max(0, console.number(text)) if text else 1


def _choose(console: Console, level: int) -> None:
    frames = console.frames
    if not 0 <= level < len(frames):
        raise RequestError(f"No frame at level {level}.")
    console.level = level
    console.listed = None
    console.say(f"#{level:<3}{frame_text(console, frames[level])}", numbered(spot_of(console, frames[level])))


@command("info frame", "f")
def info_frame(console: Console, text: str) -> None:
    """The frame that is chosen."""
    _choose(console, console.level)


@command("info args")
def info_args(console: Console, text: str) -> None:
    """The parameters of the kernel, with their values."""
    found = arguments(console)
    console.say(*(f"{name} = {value}" for name, value in found) if found else ["No arguments."])


@command("info locals", "lo")
def info_locals(console: Console, text: str) -> None:
    """The variables in local and shared memory, as the thread in focus sees them."""
    _variables(console, (".local", ".shared"), "No locals.")


@command("info variables")
def info_variables(console: Console, text: str) -> None:
    """The variables and buffers in global and constant memory."""
    view = console.debuggee.stopped
    if not view.launch.buffers:
        console.say("No variables.")
    for one in view.launch.buffers:
        console.say(f"{one.base:#x}  {one.name}  {one.data.size} bytes")


def _variables(console: Console, spaces: tuple[str, ...], none: str) -> None:
    view, focus = console.view, console.debuggee.focus
    found = [one for one in view.launch.placed if one.space in spaces]
    if not found:
        console.say(none)
    for one in found:
        place = Reference(one.space.removeprefix("."), one.start, focus)
        data = view.memory.read(place, one.size)
        type = ".u32" if one.size % 4 == 0 else ".u8"
        console.say(f"{one.name} = {listed(elements(data, type)) if data else '<no memory>'}")
