"""Threads of a launch."""

from __future__ import annotations

from typing import NamedTuple


class Lane(NamedTuple):
    """A thread: the number of its block in the grid, and its own in the block."""

    block: int
    thread: int
