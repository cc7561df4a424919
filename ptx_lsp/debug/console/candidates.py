"""The words that arguments of commands can be."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ptx_lsp.debug import values
from ptx_lsp.debug.console.console import Console
from ptx_lsp.debug.request_error import RequestError


def places(console: Console) -> Iterable[str]:
    """The functions and files that a place can begin with."""
    program = console.debuggee.loaded
    return [*sorted(set(program.by_line.values())), *(f"{Path(one).name}:" for one in program.sources)]


def symbols(console: Console) -> list[str]:
    """The registers and variables at hand."""
    view = console.debuggee.stopped
    found = [one.name for one in view.launch.placed] + [one.name for one in view.launch.buffers]
    try:
        registers = [one.name for one in values.registers(console.frame)]
    except RequestError:
        return found
    return [*registers, *found, *values.SPECIAL]
