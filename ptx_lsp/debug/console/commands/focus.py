"""The thread in focus: print it, and choose another."""

from __future__ import annotations

from ptx_lsp.debug.console.command import command
from ptx_lsp.debug.console.console import Console
from ptx_lsp.debug.console.coordinates import INVALID, NAMES, coordinates, thread_at
from ptx_lsp.debug.console.report import coordinates as coordinates_text
from ptx_lsp.debug.console.report import show_divergence, switched
from ptx_lsp.debug.console.source import kernel_of, numbered, spot_of
from ptx_lsp.debug.console.tables import table
from ptx_lsp.debug.groups import Group
from ptx_lsp.debug.lanes import Lane
from ptx_lsp.debug.request_error import RequestError


@command("cuda", candidates=lambda console: NAMES)
def cuda(console: Console, text: str) -> None:
    """Choose the thread in focus by its coordinates, or print them.
    Usage: cuda [kernel|grid|block|thread|warp|lane [NUMBER | (X,Y,Z)]]...
    Coordinates that are left out stay. Names without numbers print the coordinates of the thread in focus:
    cuda block thread. Examples: cuda block 1 thread 3, cuda warp 2 lane 5, cuda thread (15,0,0)
    """
    given = coordinates(text)
    if not any(given.values()):
        _print(console, given)
        return
    _switch(console, thread_at(console, given))


def _print(console: Console, given: dict[str, tuple[int, ...]]) -> None:
    _ = console.view
    texts = dict(one.split(" ") for one in f"kernel 0, grid 1, {coordinates_text(console)}".split(", "))
    console.say(", ".join(f"{name} {texts[name]}" for name in given or ("kernel", "block", "thread")))


def _switch(console: Console, lane: Lane) -> None:
    if console.view.group_of(lane) is None:
        raise RequestError(INVALID)
    is_same = lane == console.debuggee.focus
    console.debuggee.focus = lane
    console.level, console.listed = 0, None
    console.shown_focus = None
    console.say(switched(console), numbered(spot_of(console, console.frames[0])))
    show_divergence(console)
    if not is_same:
        console.debuggee.focus_changed()


@command("thread", "t")
def thread(console: Console, text: str) -> None:
    """Choose a group of lanes that are together by its number in `info threads`, or print the one in focus.
    Usage: thread [NUMBER]
    """
    found = _groups(console)
    if not text:
        here = console.group
        number = next(at for at, one in enumerate(found, 1) if one.number == here.number)
        console.say(f"[Current thread is {number} ({coordinates_text(console)})]")
        return
    if not text.isdecimal():
        raise RequestError(f"Invalid thread ID: {text}")
    if not 0 < int(text[:9]) <= len(found):
        raise RequestError(f"Unknown thread {text}.")
    _switch(console, found[int(text[:9]) - 1].first)


@command("info threads")
def info_threads(console: Console, text: str) -> None:
    """The groups of lanes that are together, with where they stand and what they wait for."""
    rows: list[tuple[str, ...]] = [("", "Id", "Target Id", "Frame")]
    view = console.view
    focused = view.group_of(console.debuggee.focus)
    found = _groups(console)
    for at, one in enumerate(found[:_MOST], 1):
        here = "*" if focused is not None and one.number == focused.number else ""
        frame = view.frame(one)
        spot = spot_of(console, frame)
        place = f"{frame.function or kernel_of(console).name} at {spot.file}:{spot.line}"
        rows.append((here, str(at), one.name, place + (f", waits {one.waits}" if one.waits else "")))
    console.say(*(table(rows, "<<<<") if found else ["No threads."]))
    if len(found) > _MOST:
        console.say(f"and {len(found) - _MOST} more")


def _groups(console: Console) -> list[Group]:
    return sorted(console.view.groups.values(), key=lambda one: (one.block, one.warp, one.lanes))


_MOST = 200
