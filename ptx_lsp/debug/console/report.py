"""The report of a stop: why the kernel has stopped, where, and which lanes are there."""

from __future__ import annotations

from ptx_lsp.debug.console.console import Console
from ptx_lsp.debug.console.displays import show_display
from ptx_lsp.debug.console.points import Point
from ptx_lsp.debug.console.source import frame_text, index_text, kernel_of, numbered, spot_of
from ptx_lsp.debug.console.tables import wrapped
from ptx_lsp.debug.console.watched import NO_MEMORY, watched_text
from ptx_lsp.debug.goals import Stop
from ptx_lsp.debug.problems import finding_of, witness
from ptx_lsp.debug.request_error import RequestError
from ptx_lsp.executor.machine.launch_config import WARP_SIZE, index


def report(console: Console, stop: Stop) -> None:
    """Prints why and where the kernel has stopped, and the expressions that are displayed."""
    console.is_moving = False
    console.level = 0
    console.listed = None
    if stop.reason == "end":
        _ended(console, stop)
        return
    hits = [one for number in stop.hits if (one := console.points.by_number.get(number)) is not None]
    if stop.reason == "exception" and stop.problem is not None:
        finding = finding_of(stop.problem)
        message = finding.message[:1].upper() + finding.message[1:]
        console.say("", f"CUDA Exception: {finding.kind}")
        for line in (message, *witness(finding).splitlines()):
            console.say(*wrapped(line, console.width()))
    elif stop.reason == "entry" and console.is_backward:
        console.say("", "No more reverse-execution history.")
    elif stop.reason == "pause":
        console.say("", "Program received signal SIGINT, Interrupt.")
    heading = _hit(console, stop, hits)
    if console.view.group_of(console.debuggee.focus) is None:
        console.say(*heading, "The kernel stands where no thread is.")
        return
    focus_text = switched(console)
    if focus_text:
        console.say(focus_text)
    frames = console.frames
    call = frames[0].function, len(frames)
    is_step = stop.reason == "step" and call == console.shown_call
    console.shown_call = call
    place = frame_text(console, frames[0])
    if heading:
        console.say("", *heading[:-1], f"{heading[-1]}{place}")
    elif not is_step or focus_text:
        console.say(place)
    console.say(numbered(spot_of(console, frames[0])))
    show_divergence(console)
    for number in console.displays:
        show_display(console, number)


def _ended(console: Console, stop: Stop) -> None:
    recording = console.debuggee.recording
    findings = 0 if recording is None else len(recording.findings)
    name = kernel_of(console).name
    if stop.problem is not None:
        how = f"failed: {finding_of(stop.problem).kind}"
    else:
        how = f"exited with {findings} finding{'s' * (findings > 1)}" if findings else "exited normally"
    console.shown_focus = None
    console.shown_masks = frozenset()
    console.say(f"[CUDA kernel 0 ({name}) {how}]")


def _hit(console: Console, stop: Stop, hits: list[Point]) -> list[str]:
    """The lines that name the points that were hit; the last begins the line with the place."""
    for one in hits:
        one.hits += 1
    lines: list[str] = []
    for one in hits:
        if one.kind == "watchpoint":
            before, one.last = one.last, watched_text(console, one)
            lines += [f"CUDA thread hit {one.heading}: {one.text}", ""]
            if one.access != "write" or before in (one.last, NO_MEMORY):
                lines += wrapped(f"Value = {one.last}", console.width())
            else:
                lines += wrapped(f"Old value = {before}", console.width())
                lines += wrapped(f"New value = {one.last}", console.width())
            if one.place is not None:
                lines.append(f"Access at {stop.text}")
    plain = [one for one in hits if one.kind == "breakpoint"]
    if plain:
        lines.append("".join(f"CUDA thread hit {one.heading}, " for one in plain[:1]))
    elif lines:
        lines.append("")
    elif stop.hits:
        lines.append(f"CUDA thread hit Breakpoint {stop.hits[0]}, ")
    console.points.delete([one for one in plain if one.is_temporary])
    return lines


def switched(console: Console) -> str:
    """The line that names the thread in focus, if the user has not read it yet."""
    focus = console.debuggee.focus
    if focus == console.shown_focus:
        return ""
    console.shown_focus = focus
    return f"[Switching focus to CUDA kernel 0, grid 1, {coordinates(console)}]"


def coordinates(console: Console) -> str:
    """The thread in focus, as in `block (0,0,0), thread (3,0,0), warp 0, lane 3`."""
    block, thread = console.debuggee.focus
    shape = console.debuggee.stopped.launch.shape
    return (
        f"block {index_text(index(block, shape.grid))}, thread {index_text(index(thread, shape.block))}, "
        f"warp {thread // WARP_SIZE}, lane {thread % WARP_SIZE}"
    )


def show_divergence(console: Console) -> None:
    """Prints the groups of lanes of a warp that has diverged, or has come together, once."""
    groups = console.masks
    masks = frozenset(one.lanes for one in groups)
    if masks == console.shown_masks:
        return
    was_diverged = len(console.shown_masks) > 1
    console.shown_masks = masks
    if len(groups) == 1 and not was_diverged:
        return
    here, *others = groups
    console.say(f"\t{here.mask} in focus")
    met = {lane: one.frame.line for one in console.view.reconvergence(here) for lane in one.lanes}
    for one in others:
        waits = f", waits {one.waits}" if one.waits else ""
        joined = f", reconvergence at line {met[one.lanes[0]]}" if one.lanes[0] in met else ""
        console.say(f"\t{one.mask} at line {one.step.line}{waits}{joined}")


def stopped_text(console: Console) -> str:
    """The thread in focus and its lanes in one line; empty if the kernel does not stand at an instruction."""
    try:
        group = console.group
    except RequestError:
        return ""
    waits = f", waits {group.waits}" if group.waits else ""
    block, thread, *_ = coordinates(console).split(", ")
    return f"{block} {thread} {group.mask} line {group.step.line}{waits}"
