"""Let the kernel run: from the start, on, back; and the end of the session."""

from __future__ import annotations

from ptx_lsp.debug.console.command import command
from ptx_lsp.debug.console.console import Console
from ptx_lsp.debug.console.source import arguments, launch_text
from ptx_lsp.debug.goals import AtEvent
from ptx_lsp.debug.request_error import RequestError


@command("run", "r", repeats="")
def run(console: Console, text: str) -> None:
    """Run the kernel from its start.
    Usage: run
    It stops at breakpoints and problems, and a recording at its error. The launch is that of the command line
    or of the recording.
    """
    _start_again(console, text)
    console.go(console.debuggee.beginning(console.debuggee.breakpoints))


@command("start", "starti", repeats="")
def start(console: Console, text: str) -> None:
    """Run the kernel to its first instruction.
    Usage: start
    """
    _start_again(console, text)
    console.go(lambda recording: recording.go_on(AtEvent(1, "entry")))


def _start_again(console: Console, text: str) -> None:
    if text:
        raise RequestError("The launch cannot be changed: its arguments are those of the command line.")
    debuggee = console.debuggee
    if debuggee.stopped.stop.reason != "start":
        debuggee.end()
        debuggee.breakpoints.forget_after(0)
        debuggee.record()
    console.shown_focus = None
    console.shown_masks = frozenset()
    given = ", ".join(f"{name}={value}" for name, value in arguments(console))
    console.say(f"Starting program: {launch_text(console)} ({given})")


@command("kill", "k", repeats="")
def kill(console: Console, text: str) -> None:
    """End the run of the kernel.
    Usage: kill
    """
    _ = console.view
    console.debuggee.end()
    console.debuggee.record()
    console.say("[CUDA kernel 0 killed]")


@command("continue", "c", "cont", "fg")
def continue_(console: Console, text: str) -> None:
    """Go on to the next breakpoint or problem.
    Usage: continue [N]
    With N, the breakpoint that stopped the kernel is ignored N-1 times.
    """
    _check_running(console)
    if text and text != "1":
        _ignore(console, text)
    console.say("Continuing.")
    console.go(lambda recording: recording.go_on(console.debuggee.breakpoints))


def _ignore(console: Console, text: str) -> None:
    hits = [one for one in console.view.stop.hits if one in console.points.by_number]
    if not text.isdecimal() or not int(text[:12]):
        raise RequestError(f'Invalid number "{text}".')
    if not hits:
        raise RequestError("Not stopped at any breakpoint; argument ignored.")
    console.execute(f"ignore {hits[0]} {int(text[:12]) - 1}")


@command("reverse-continue", "rc")
def reverse_continue(console: Console, text: str) -> None:
    """Go back to the last breakpoint, watchpoint or access that was passed, or to the start.
    Usage: reverse-continue
    """
    _ = console.view
    console.say("Continuing.")
    console.go(lambda recording: recording.go_back(console.debuggee.breakpoints), is_backward=True)


def _check_running(console: Console) -> None:
    if console.view.stop.reason == "end":
        raise RequestError("The kernel has exited: run it again, or go back with reverse-step.")


@command("quit", "q", "exit", repeats="")
def quit_(console: Console, text: str) -> None:
    """End the debugger.
    Usage: quit
    """
    console.is_over = True
    console.debuggee.quit()
