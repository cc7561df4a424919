"""Data that is watched: what an expression names, and the value that is there."""

from __future__ import annotations

import re

import numpy as np

from ptx_lsp.debug import values
from ptx_lsp.debug.console.console import Console
from ptx_lsp.debug.console.points import Point
from ptx_lsp.debug.console.values import listed
from ptx_lsp.debug.groups import row_of
from ptx_lsp.debug.memory import NAMES, Reference
from ptx_lsp.debug.request_error import RequestError
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.isa.types import TYPES

NO_MEMORY = "<no memory>"
"""The value of memory that does not exist yet."""
_MEMORY = re.compile(r"([A-Za-z]*)\s*\[(.*)\]\s*(?::\s*([usbf](?:8|16|32|64))(?:x(\d{1,4}))?)?$", re.DOTALL)


def watch(console: Console, text: str, point: Point) -> None:
    """Makes a point watch what an expression names: memory such as `[%rd1]:f32` or `shared[4]:u32x4`, a
    variable, or a register of the warp in focus. Raises RequestError.
    """
    found = _MEMORY.match(text)
    if found is not None:
        place = place_in(console, found[1], found[2])
        point.place, point.type = place, f".{found[3] or 'u32'}"
        point.size = TYPES[point.type].width // 8 * int(found[4] or 1)
        return
    variable = console.debuggee.stopped.variable(text)
    if variable is not None:
        space, address, point.size = variable
        point.place = Reference(space, address, console.debuggee.focus)
        point.type = ".u32" if point.size % 4 == 0 else ".u8"
        return
    register = console.register(text)
    if register is None or register.number is None:
        raise RequestError(f'No symbol "{text}" in current context.')
    if point.access != "write":
        raise RequestError("Expression cannot be implemented with read/access watchpoint.")
    point.register, point.type = (register.number, console.debuggee.focus), register.type


def place_in(console: Console, space: str, text: str) -> Reference:
    """The byte at an address: of a state space, or without one generic. Raises RequestError."""
    if space and space not in NAMES:
        raise RequestError(f"`{space}` is not a state space; expected one of {', '.join(NAMES)}.")
    variable = console.debuggee.stopped.variable(text.strip())
    if variable is not None:
        found, address, _ = variable
        return Reference(found, address, console.debuggee.focus)
    address = console.number(text) & (1 << 64) - 1
    if space:
        return Reference(space, address, console.debuggee.focus)
    return console.debuggee.stopped.memory.generic(address, console.debuggee.focus)


def watched_text(console: Console, point: Point) -> str:
    """The value of what a point watches: of a register, that of each lane of its warp."""
    view = console.debuggee.stopped
    if point.place is not None:
        data = view.memory.read(point.place, point.size)
        return listed(elements(data, point.type)) if data else NO_MEMORY
    assert point.register is not None
    number, lane = point.register
    for group in view.groups.values():
        row = row_of(group.wave, lane.block)
        if row is None:
            continue
        column = group.wave.broadcast(group.wave.registers[number])[row]
        first = lane.thread // WARP_SIZE * WARP_SIZE
        count = min(WARP_SIZE, group.wave.launch.threads - first)
        return listed([values.text((int(one),), point.type) for one in column[first : first + count]])
    return "<the block has ended>"


def elements(data: bytes, type: str) -> list[str]:
    """The elements of a type that bytes have."""
    size = TYPES[type].width // 8
    whole = np.frombuffer(data[: len(data) // size * size], np.uint8).reshape(-1, size)
    return [values.text((int.from_bytes(one.tobytes(), "little"),), type) for one in whole]


