"""Instructions of the PTX as commands show them, with the lanes of the warp in focus that are there."""

from __future__ import annotations

from ptx_lsp.debug.console.console import Console
from ptx_lsp.debug.request_error import RequestError


def instructions_from(console: Console, line: int, count: int) -> list[str]:
    """So many instructions from a line on."""
    lines = [one for one in sorted(console.debuggee.loaded.by_line) if one >= line]
    return shown(console, lines[:count])


def instructions_of(console: Console, function: str) -> list[str]:
    """The instructions of a function."""
    found = console.debuggee.loaded.by_line
    return shown(console, sorted(one for one, name in found.items() if name == function))


def shown(console: Console, lines: list[int]) -> list[str]:
    """Instructions by lines: `=>` is where the thread in focus stands, `*` where other lanes of its warp do,
    and `*=>` marks the instruction of a problem. Masks are shown if the warp has diverged.
    """
    program = console.debuggee.loaded
    places: dict[int, str] = {}
    focused: int | None = None
    try:
        groups = console.masks
        focused = groups[0].step.line
        for one in reversed(groups):
            places[one.step.line] = one.mask if len(groups) > 1 else ""
    except RequestError:
        pass
    is_problem = console.debuggee.stopped.stop.reason == "exception"
    texts = {line: program.line_text(line) for line in lines}
    width = min(max((len(text) for text in texts.values()), default=0), _MOST_TEXT)
    found: list[str] = []
    for line, text in texts.items():
        mark = ("*=>" if is_problem else "=>") if line == focused else "*" if line in places else ""
        mask = places.get(line, "")
        found.append(f"{mark:>3} {line:>5}  {f'{text:{width}}  {mask}' if mask else text}".rstrip())
    return found


_MOST_TEXT = 36
