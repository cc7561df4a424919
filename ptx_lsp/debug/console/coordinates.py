"""Coordinates of threads as cuda-gdb has them: `block (1,0,0) thread 3`, `warp 2 lane 5`."""

from __future__ import annotations

import re

from ptx_lsp.debug.console.console import Console
from ptx_lsp.debug.groups import number_at
from ptx_lsp.debug.lanes import Lane
from ptx_lsp.debug.request_error import RequestError
from ptx_lsp.executor.machine.launch_config import WARP_SIZE, Dimensions, index

NAMES = ("kernel", "grid", "block", "thread", "warp", "lane")
INVALID = "Invalid coordinates. CUDA focus unchanged."
_WORD = re.compile(r"\s*(?:([A-Za-z]+)|\(?\s*(-?\d{1,9}(?:\s*,\s*-?\d{1,9})*)\s*\)?)\s*")


def coordinates(text: str) -> dict[str, tuple[int, ...]]:
    """The coordinates of a text by their names; empty numbers for a name alone. Raises RequestError."""
    found: dict[str, tuple[int, ...]] = {}
    at, name = 0, ""
    while at < len(text):
        match = _WORD.match(text, at)
        if match is None or match.end() == at:
            raise RequestError(f"Unrecognized argument(s): {text[at:].strip()}.")
        if match[1]:
            name = _name(match[1])
            found[name] = ()
        elif not name or found[name]:
            raise RequestError(f"Unrecognized argument(s): {text[at:].strip()}.")
        else:
            found[name] = tuple(int(one) for one in match[2].split(","))
        at = match.end()
    return found


def _name(word: str) -> str:
    found = [one for one in NAMES if one.startswith(word)]
    if len(found) != 1:
        raise RequestError(f"Unrecognized argument(s): {word}. Expected {', '.join(NAMES)}.")
    return found[0]


def thread_at(console: Console, given: dict[str, tuple[int, ...]]) -> Lane:
    """The thread with coordinates; those that are left out are of the one in focus. Raises RequestError."""
    shape = console.view.launch.shape
    block, thread = console.debuggee.focus
    for name, only in (("kernel", 0), ("grid", 1)):
        if given.get(name, (only,)) != (only,):
            raise RequestError(INVALID)
    if given.get("block"):
        block = _flat(given["block"], shape.grid)
    if given.get("thread"):
        thread = _flat(given["thread"], shape.block)
    warp, lane = divmod(thread, WARP_SIZE)
    warp, lane = _one(given, "warp", warp), _one(given, "lane", lane)
    if not 0 <= lane < WARP_SIZE or not 0 <= warp * WARP_SIZE + lane < shape.threads:
        raise RequestError(INVALID)
    if given.get("thread") and thread != warp * WARP_SIZE + lane:
        raise RequestError(INVALID)
    return Lane(block, warp * WARP_SIZE + lane)


def _one(given: dict[str, tuple[int, ...]], name: str, otherwise: int) -> int:
    found = list(given.get(name, ()))
    if len(found) > 1:
        raise RequestError(INVALID)
    return found[0] if found else otherwise


def _flat(given: tuple[int, ...], sizes: Dimensions) -> int:
    x, y, z = (*given, 0, 0)[:3]
    if len(given) > 3 or not (0 <= x < sizes[0] and 0 <= y < sizes[1] and 0 <= z < sizes[2]):
        raise RequestError(INVALID)
    return number_at((x, y, z), sizes)


def matches(console: Console, lane: Lane, given: dict[str, tuple[int, ...]]) -> bool:
    """Whether a thread has these coordinates."""
    shape = console.view.launch.shape
    here: dict[str, tuple[int, ...]] = {
        "kernel": (0,), "grid": (1,), "block": index(lane.block, shape.grid),
        "thread": index(lane.thread, shape.block), "warp": (lane.thread // WARP_SIZE,),
        "lane": (lane.thread % WARP_SIZE,),
    }
    return all(
        not wanted or list(here[name]) == [*wanted, 0, 0][: len(here[name])] for name, wanted in given.items()
    )
