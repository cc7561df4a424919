"""Step the thread in focus, forwards and backwards."""

from __future__ import annotations

from collections.abc import Callable

from ptx_lsp.debug.console.command import command
from ptx_lsp.debug.console.console import Console
from ptx_lsp.debug.console.places import place_of
from ptx_lsp.debug.console.source import frame_text
from ptx_lsp.debug.console.until import Until
from ptx_lsp.debug.goals import Goal, Several, Stop
from ptx_lsp.debug.groups import call_of
from ptx_lsp.debug.recording import Recording
from ptx_lsp.debug.request_error import RequestError
from ptx_lsp.debug.stepping import Reached, StepKind, step_from
from ptx_lsp.debug.view import View


def _step(
    console: Console, text: str, kind: StepKind, *, is_instruction: bool = False, is_backward: bool = False
) -> None:
    count = console.number(text) if text else 1
    if count > _MOST_STEPS:
        raise RequestError(f"At most {_MOST_STEPS} steps at once.")
    _ = console.group if not is_backward else console.view
    if count > 0:
        console.go(_steps(console, kind, count, is_instruction, is_backward), is_backward=is_backward)


def _steps(
    console: Console, kind: StepKind, count: int, is_instruction: bool, is_backward: bool
) -> Callable[[Recording], Stop]:
    """Steps of the thread in focus, until one ends elsewhere."""
    debuggee = console.debuggee
    lane = debuggee.focus
    is_source = debuggee.shows_source and not is_instruction

    def goal_of(recording: Recording) -> Goal | None:
        view = View(recording.launch, recording.machine, recording.stop)
        group = view.group_of(lane)
        if group is None:
            return None
        starts = debuggee.breakpoints.starts
        return step_from(group, lane, kind, starts, is_source=is_source, is_back=is_backward)

    def go(recording: Recording) -> Stop:
        stop = recording.stop
        for _ in range(count):
            goal = goal_of(recording)
            if is_backward and goal is None:  # from the end
                stop = recording.go_back(Reached(lane, debuggee.breakpoints.starts))
            elif goal is None:
                return stop
            elif is_backward:
                stop = recording.go_back(goal if kind == "in" else Several((debuggee.breakpoints, goal)))
            else:
                stop = recording.go_on(Several((debuggee.breakpoints, goal)))
            if stop.reason != "step":
                break
        return stop

    return go


@command("step", "s")
def step(console: Console, text: str) -> None:
    """Step to the next instruction of the thread in focus, into functions.
    Usage: step [N]
    The lanes that are together with it step too, and the others go on as far as they must.
    With `set show source`, to the next line of the source.
    """
    _step(console, text, "in")


@command("stepi", "si")
def stepi(console: Console, text: str) -> None:
    """Step one instruction of the PTX.
    Usage: stepi [N]
    """
    _step(console, text, "in", is_instruction=True)


@command("next", "n")
def next_(console: Console, text: str) -> None:
    """Step to the next instruction, over calls.
    Usage: next [N]
    """
    _step(console, text, "over")


@command("nexti", "ni")
def nexti(console: Console, text: str) -> None:
    """Step one instruction of the PTX, over calls.
    Usage: nexti [N]
    """
    _step(console, text, "over", is_instruction=True)


@command("finish", "fin")
def finish(console: Console, text: str) -> None:
    """Run until the function of the thread in focus returns.
    Usage: finish
    """
    _finish(console, "Run till exit from")
    _step(console, "", "out")


def _finish(console: Console, what: str) -> None:
    frames = console.frames
    if len(frames) == 1:
        raise RequestError('"finish" not meaningful in the outermost frame.')
    console.say(f"{what} #0  {frame_text(console, frames[0])}")


@command("reverse-step", "rs")
def reverse_step(console: Console, text: str) -> None:
    """Step back to the previous instruction of the thread in focus, into functions.
    Usage: reverse-step [N]
    """
    _step(console, text, "in", is_backward=True)


@command("reverse-stepi", "rsi")
def reverse_stepi(console: Console, text: str) -> None:
    """Step back one instruction of the PTX.
    Usage: reverse-stepi [N]
    """
    _step(console, text, "in", is_instruction=True, is_backward=True)


@command("reverse-next", "rn")
def reverse_next(console: Console, text: str) -> None:
    """Step back over calls.
    Usage: reverse-next [N]
    """
    _step(console, text, "over", is_backward=True)


@command("reverse-nexti", "rni")
def reverse_nexti(console: Console, text: str) -> None:
    """Step back one instruction of the PTX, over calls.
    Usage: reverse-nexti [N]
    """
    _step(console, text, "over", is_instruction=True, is_backward=True)


@command("reverse-finish")
def reverse_finish(console: Console, text: str) -> None:
    """Go back to the call of the function of the thread in focus.
    Usage: reverse-finish
    """
    _finish(console, "Run back to call of")
    _step(console, "", "out", is_backward=True)


@command("until", "u")
def until(console: Console, text: str) -> None:
    """Run until a later line than this one, or until a place.
    Usage: until [PLACE]
    Without a place, loops run to their end. It also stops when the function returns.
    """
    _until(console, text)


@command("advance")
def advance(console: Console, text: str) -> None:
    """Run until the thread in focus reaches a place, or its function returns.
    Usage: advance PLACE
    """
    if not text:
        raise RequestError("Argument required (a location).")
    _until(console, text)


def _until(console: Console, text: str) -> None:
    debuggee = console.debuggee
    lines = frozenset(place_of(console, text).lines if text else ())
    depth, after = call_of(console.group).depth, None if text else console.frames[0].line
    goal = Until(debuggee.focus, lines, depth, debuggee.breakpoints.starts, after)
    console.go(lambda recording: recording.go_on(Several((debuggee.breakpoints, goal))))


_MOST_STEPS = 1_000_000
